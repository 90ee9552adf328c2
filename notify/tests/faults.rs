//! Destinations that misbehave. None of them holds a call for longer than it may
//! take, and nothing that they answer is repeated.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;

use fixture::{NoMail, notification, notifier, recipient, send, settings};
use model::{NotificationState, RecipientType};
use notify::{NotifyError, Settings};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use test_support::receiver::Receiver;

const SECRET_PATH: &str = "s3cret-path";

async fn call(settings: Settings, origin: &str) -> Result<(), NotifyError> {
    let url = format!("{origin}/{SECRET_PATH}?token={SECRET_PATH}");
    let notifier = notifier(settings, Arc::new(NoMail));
    let told = notification(NotificationState::Triggered, false);
    send(&notifier, &recipient(RecipientType::Webhook, &url), &told).await
}

/// What is said of a receiver with a fault.
async fn refused(settings: Settings, fault: &str) -> (NotifyError, Receiver) {
    let mut receiver = Receiver::of_calls(&[("fault", fault)]);
    let origin = format!("http://127.0.0.1:{}", receiver.port);
    let error = call(settings, &origin).await.unwrap_err();
    let said = format!("{error} {error:?}");
    for secret in [SECRET_PATH, "nobody may repeat", "elsewhere", "banana"] {
        assert!(!said.contains(secret), "{said}");
    }
    assert!(!error.to_string().ends_with('.'), "{error}");
    assert_eq!(receiver.next()["problems"], serde_json::json!([]), "it was called well");
    (error, receiver)
}

#[tokio::test]
async fn what_was_answered_is_told_by_its_number() {
    for (fault, expected, wait) in [
        ("500", "127.0.0.1 answered 500", None),
        ("404", "127.0.0.1 answered 404", None),
        ("busy", "127.0.0.1 answered 429", Some(7)),
        ("away", "127.0.0.1 answered 503", Some(60)),
    ] {
        let (error, receiver) = refused(settings(), fault).await;
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.retry_after(), wait.map(Duration::from_secs), "{fault}");
        assert!(receiver.rest().is_empty(), "nothing is tried twice");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (error, receiver) = refused(settings(), "redirect").await;
    assert_eq!(error.to_string(), "127.0.0.1 answered 302, and redirects are not followed");
    assert!(receiver.rest().is_empty());
}

#[tokio::test]
async fn broken_connections_and_answers() {
    for fault in ["reset", "hang up", "no http", "endless head"] {
        let (error, _) = refused(settings(), fault).await;
        assert_eq!(error.to_string(), "127.0.0.1 broke off, or gave no answer in HTTP", "{fault}");
    }
}

#[tokio::test]
async fn whoever_takes_too_long_is_left() {
    for fault in ["hang", "drip", "endless patience"] {
        let begun = Instant::now();
        let hasty = Settings { timeout: Duration::from_secs(3), ..settings() };
        let (error, _) = refused(hasty, fault).await;
        assert_eq!(error.to_string(), "127.0.0.1 did not answer within 3 s", "{fault}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{fault}: {:?}", begun.elapsed());
    }
    // One that takes the connection and says nothing, also not of TLS.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let hasty = Settings { timeout: Duration::from_secs(2), ..settings() };
    let origin = format!("https://{}", silent.local_addr().unwrap());
    let error = call(hasty, &origin).await.unwrap_err();
    assert_eq!(error.to_string(), "127.0.0.1 did not answer within 2 s");
}

// Connections are closed beside the test, which waits for that.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_an_end_is_not_read() {
    for (fault, expected) in
        [("endless body", None), ("endless refusal", Some("127.0.0.1 answered 500"))]
    {
        let mut receiver = Receiver::of_calls(&[("fault", fault)]);
        let outcome = call(settings(), &format!("http://127.0.0.1:{}", receiver.port)).await;
        assert_eq!(outcome.err().map(|error| error.to_string()).as_deref(), expected);
        receiver.next();
        // It writes until the connection is gone: what the kernels hold between
        // the two, and hardly more.
        let written = receiver.next()["written"].as_u64().unwrap();
        assert!(written < 64 << 20, "{written} bytes were taken");
    }
}

#[tokio::test]
async fn nobody_there_and_no_such_name() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", taken.local_addr().unwrap());
    drop(taken);
    let error = call(settings(), &nobody).await.unwrap_err();
    assert_eq!(error.to_string(), "127.0.0.1 can't be reached");
    let error = call(settings(), "https://nobody.invalid").await.unwrap_err();
    assert_eq!(error.to_string(), "nobody.invalid can't be found by its name");
}

fn write(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn certificates_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    for (name, trusted, expected) in [
        ("localhost", true, None),
        ("localhost", false, Some("localhost can't be called: its certificate is not trusted")),
        // The right authority, for somebody else.
        ("example.com", true, Some("localhost can't be called: its certificate is not trusted")),
    ] {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([name.to_owned()]).unwrap();
        let cert_file = write(directory.path(), "cert", &cert.pem());
        let key_file = write(directory.path(), "key", &signing_key.serialize_pem());
        let receiver = Receiver::of_calls(&[("cert", &cert_file), ("tls-key", &key_file)]);
        let authority_pem = trusted.then(|| cert.pem());
        let settings = Settings { authority_pem, ..settings() };
        let outcome = call(settings, &format!("https://localhost:{}", receiver.port)).await;
        let said = outcome.err().map(|error| error.to_string());
        assert_eq!(said.as_deref(), expected, "{name}");
        assert_eq!(receiver.rest().len(), usize::from(said.is_none()), "{name}");
    }
    let plain = Receiver::of_calls(&[]);
    let error = call(settings(), &format!("https://localhost:{}", plain.port)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "localhost can't be called: no secure connection can be made to it"
    );
}

#[tokio::test]
async fn this_machine_is_not_called_without_leave() {
    let receiver = Receiver::of_calls(&[]);
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1", "[::1]"] {
        let origin = format!("http://{host}:{}", receiver.port);
        let careful = Settings { allow_private_addresses: false, ..settings() };
        let notifier = notifier(careful.clone(), Arc::new(NoMail));
        let reason = notifier.may_call(&origin.parse().unwrap()).await.unwrap_err();
        let expected = "its address is private, and those are called only where the operator has \
                        set [outbound] allow_private_addresses = true";
        assert_eq!(reason, expected);
        let error = call(careful, &origin).await.unwrap_err().to_string();
        assert!(error.ends_with(&reason), "{error} / {reason}");
    }
    assert!(receiver.rest().is_empty(), "nothing came");
    let notifier = notifier(Settings::default(), Arc::new(NoMail));
    notifier.may_call(&"https://nobody.invalid/x".parse().unwrap()).await.unwrap();
}
