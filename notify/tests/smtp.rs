//! Mail through a real mail server, and through servers that misbehave.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use model::{Email, Mail, MessageId, Secret};
use notify::{MailFiles, Mailer, Outgoing, SendError, Sender, Sent, Smtp, SmtpSettings};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;
use test_support::receiver::Receiver;

const PATIENCE: Duration = Duration::from_secs(30);

fn mail() -> Mail {
    Mail {
        to: Email::parse("o'brien+kafka@example.com").unwrap(),
        subject: "You are invited to the team Ünïcode & Söhne\r\nBcc: eve@example.com".into(),
        text: "A line\n.\nafter a dot alone\nhttps://example.com/invitations/x\n".into(),
        html: None,
    }
}

fn settings(url: &str) -> SmtpSettings {
    SmtpSettings {
        url: Secret::new(url),
        from: Sender::parse("Castellan <castellan@example.com>").unwrap(),
        authority_pem: None,
        timeout: PATIENCE,
    }
}

async fn send(settings: SmtpSettings) -> Result<Sent, SendError> {
    let outgoing =
        Outgoing { id: MessageId(7), at: "2026-11-15T12:00:00Z".parse().unwrap(), mail: &mail() };
    Smtp::new(settings).unwrap().send(outgoing).await
}

#[tokio::test]
async fn a_mail_arrives_as_it_was_written() {
    let mut server = Receiver::of_mail(&[]);
    let sent = send(settings(&format!("smtp://127.0.0.1:{}", server.port))).await;
    assert_eq!(sent.unwrap(), Sent::Taken);
    let got = server.next();
    assert_eq!(got["from"], "castellan@example.com");
    assert_eq!(got["to"], serde_json::json!(["o'brien+kafka@example.com"]));
    let data = got["data"].as_str().unwrap();
    let (head, text) = data.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Subject: You are invited to the team =?utf-8?"), "{head}");
    assert!(!head.to_lowercase().contains("\nbcc"), "{head}");
    assert_eq!(text.replace("\r\n", "\n").trim_end(), mail().text.trim_end());
}

#[tokio::test]
async fn starttls_with_a_private_authority_and_a_login() {
    let directory = tempfile::tempdir().unwrap();
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let file = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (cert_file, key_file) =
        (file("cert", cert.pem()), file("key", signing_key.serialize_pem()));
    let mut server = Receiver::of_mail(&[
        ("cert", &cert_file),
        ("key", &key_file),
        ("user", "me"),
        ("password", "p%ss word"),
    ]);
    let url = format!("smtp://me:p%25ss%20word@localhost:{}?tls=required", server.port);
    let trusting = SmtpSettings { authority_pem: Some(cert.pem()), ..settings(&url) };
    assert_eq!(send(trusting.clone()).await.unwrap(), Sent::Taken);
    let got = server.next();
    assert_eq!((&got["tls"], &got["login"]), (&true.into(), &true.into()));

    let unknown = send(settings(&url)).await.unwrap_err().to_string();
    assert!(unknown.to_lowercase().contains("certificate"), "{unknown}");
    let wrong = Secret::new(url.replace("p%25ss", "wrong"));
    let refused = send(SmtpSettings { url: wrong, ..trusting }).await.unwrap_err().to_string();
    assert!(refused.contains("535"), "{refused}");
    assert!(!refused.contains("wrong"), "{refused}");
}

#[tokio::test]
async fn what_a_server_says_against_it_is_told() {
    for answer in ["451 busy, try later", "550 nobody here of that name"] {
        let server = Receiver::of_mail(&[("answer", answer)]);
        let url = format!("smtp://127.0.0.1:{}", server.port);
        let refused = send(settings(&url)).await.unwrap_err().to_string();
        let (_, words) = answer.split_once(' ').unwrap();
        assert!(refused.contains(words), "{refused}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("smtp://{}", taken.local_addr().unwrap());
    drop(taken);
    let refused = send(settings(&nobody)).await.unwrap_err();
    assert!(matches!(refused, SendError::Smtp(_)), "{refused}");
}

#[tokio::test]
async fn a_server_that_hangs_is_left_after_a_time() {
    // One that takes the connection and says nothing, and one that takes the
    // mail and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let slow = Receiver::of_mail(&[("hang", "yes")]);
    for port in [silent.local_addr().unwrap().port(), slow.port] {
        let timeout = Duration::from_secs(2);
        let settings = SmtpSettings { timeout, ..settings(&format!("smtp://127.0.0.1:{port}")) };
        let left = tokio::time::timeout(PATIENCE, send(settings)).await.expect("it is left");
        let error = left.unwrap_err();
        let timed_out = match &error {
            SendError::Silent(seconds) => *seconds == 2,
            SendError::Smtp(error) => error.is_timeout(),
            _ => false,
        };
        assert!(timed_out, "{error}");
    }
}

#[tokio::test]
async fn without_a_server_mail_is_a_private_file() {
    let directory = tempfile::tempdir().unwrap();
    let files =
        MailFiles::new(&directory.path().join("mail"), Sender::parse("c@localhost").unwrap());
    let link = format!("https://example.com/invitations/{}", "x".repeat(100));
    let mail = Mail { text: format!("To Söhne:\n{link}\n"), ..mail() };
    let at = "2026-11-15T12:00:00Z".parse().unwrap();
    let outgoing = Outgoing { id: MessageId(7), at, mail: &mail };
    let Sent::Written(path) = files.send(outgoing).await.unwrap() else { panic!("a file") };
    assert_eq!(path, directory.path().join("mail/20261115T120000Z-7.eml"));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(&link), "a person can copy it: {text}");
    files.send(outgoing).await.unwrap();
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}
