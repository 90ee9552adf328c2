//! People of an account, with the real binary and a real mail server: invited by
//! mail, in the team, with keys from the operator, and out again.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use test_support::binary;
use test_support::installation::Installation;
use test_support::receiver::Receiver;

const PUBLIC: &str = "https://castellan.example.com/base";

fn mail_config(port: u16) -> String {
    format!(
        "[api]\npublic_url = \"{PUBLIC}/\"\n[mail]\nurl = \"smtp://127.0.0.1:{port}\"\n\
         from = \"Castellan <castellan@example.com>\"\ntimeout_seconds = 60\n"
    )
}

/// The token of the next mail, which must be to that address.
fn next_token(server: &mut Receiver, to: &str) -> String {
    let mail = tokio::task::block_in_place(|| server.next());
    assert_eq!(mail["to"], json!([to]));
    assert_eq!(mail["from"], "castellan@example.com");
    let text = mail["data"].as_str().unwrap();
    let rest = text.split(&format!("{PUBLIC}/invitations/")).nth(1).unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

/// Runs the binary on the installation's data directory.
async fn run(castellan: &Installation, arguments: &[&str]) -> Result<String, String> {
    let data = castellan.data();
    let data = ["--data", data.to_str().unwrap()];
    let arguments = [arguments, data.as_slice()].concat();
    let output = host::run_output(&binary(), &arguments, None).await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

async fn run_json(castellan: &Installation, arguments: &[&str]) -> Value {
    let said = run(castellan, &[arguments, &["--json"]].concat()).await.unwrap();
    serde_json::from_str(&said).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_an_invitation_to_a_key_and_out_again() {
    let mut server = Receiver::of_mail(&[]);
    let mut castellan = Installation::start_with(&mail_config(server.port)).await;
    let invitation = json!({"email": "Grace@example.com", "role": "member", "tags": "prod"});
    let invited = castellan.post("/api/team/invite", &invitation).await;
    assert_eq!(invited.0, 200, "{}", invited.1);
    let token = next_token(&mut server, "Grace@example.com");
    let joining = json!({"name": "Grace Hopper", "password": "correct horse battery"});
    let joined = castellan.post(&format!("/invitations/{token}"), &joining).await;
    assert_eq!(joined.0, 200, "{}", joined.1);

    // The customer's own commands go through the API.
    let url = castellan.customer_url("");
    let own = castellan.key.clone();
    let api = ["--url", url.as_str(), "--apikey", own.as_str()];
    let team = async |arguments: &[&str]| {
        run(&castellan, &[["team"].as_slice(), arguments, &api].concat()).await
    };
    let listed = team(&["list"]).await.unwrap();
    assert!(listed.contains("Grace@example.com") && listed.contains("Grace Hopper"), "{listed}");
    team(&["update", "grace@EXAMPLE.com", "--role", "devops"]).await.unwrap();
    let refused = team(&["remove", "t@x.test"]).await.unwrap_err();
    assert!(refused.contains("last admin"), "{refused}");

    // The operator's go to the store.
    let made = run_json(&castellan, &["key", "create", "grace@example.com", "--role", "monitor"]);
    let made = made.await;
    let admins = std::mem::replace(&mut castellan.key, made["apikey"].as_str().unwrap().into());
    assert_eq!(castellan.get("/api/instances").await.0, 200);
    assert_eq!(castellan.get("/api/team").await.0, 403);
    let too_much =
        run(&castellan, &["key", "create", "grace@example.com", "--role", "admin"]).await;
    assert!(too_much.unwrap_err().contains("more than the user's own"));
    let id = made["id"].as_str().unwrap();
    run(&castellan, &["key", "revoke", id]).await.unwrap();
    assert_eq!(castellan.get("/api/instances").await.0, 401);
    castellan.key = admins;

    let new = ["user", "create", "--email", "bob@x.test", "--role", "billing manager"];
    let bob = run_json(&castellan, &new).await;
    run(&castellan, &["user", "update", "bob@x.test", "--role", "member", "--tags", "a,b"])
        .await
        .unwrap();
    run(&castellan, &["user", "remove", bob["id"].as_str().unwrap()]).await.unwrap();
    let users = run_json(&castellan, &["user", "list"]).await;
    let emails: Vec<&str> =
        users.as_array().unwrap().iter().map(|user| user["email"].as_str().unwrap()).collect();
    assert_eq!(emails, ["Grace@example.com", "t@x.test"]);
    let refused = run(&castellan, &["user", "remove", "t@x.test"]).await.unwrap_err();
    assert!(refused.contains("last admin"), "{refused}");
    castellan.purge().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_waits_for_no_mail_server_and_a_crash_loses_no_mail() {
    // It takes connections and never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let mut castellan = Installation::start_with(&mail_config(port)).await;
    let began = Instant::now();
    let body = json!({"email": "grace@example.com"});
    assert_eq!(castellan.post("/api/team/invite", &body).await.0, 200);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(castellan.get("/api/team").await.0, 200);
    // Once it is under way, the control plane dies and the server refuses.
    let (connection, _) = tokio::task::block_in_place(|| silent.accept()).unwrap();
    castellan.kill_control_plane().await;
    drop((connection, silent));

    // Another server; the control plane knows that nobody sends it any more.
    let mut server = Receiver::of_mail(&[]);
    castellan.configure(&mail_config(server.port));
    castellan.serve().await;
    let token = next_token(&mut server, "grace@example.com");
    let joining = json!({"name": "Grace", "password": "correct horse battery"});
    assert_eq!(castellan.post(&format!("/invitations/{token}"), &joining).await.0, 200);
    castellan.purge().await;
}
