//! A bundle of an instance whose every corner holds a secret.

use super::*;
use crate::testing::TestInstallation;
use model::{InstanceId, IntegrationKind, IntegrationSystem, Secret};
use std::fs;
use std::path::Path;

const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----";
const TOKEN: &str = "0ne-t1me-t0ken";

struct Planted {
    here: TestInstallation,
    id: InstanceId,
    secrets: Vec<Secret>,
}

/// Secrets where a mistake could have put them: a log, a report, a document.
async fn plant() -> Planted {
    let here = TestInstallation::make(None).await;
    let id = here.create("mouse-1").await.unwrap();
    let mut reader = here.store().reader();
    let instance = store::instances::find(&mut reader, id).await.unwrap().unwrap();
    let server = store::servers::list(&mut reader, id).await.unwrap().remove(0).server;
    let customer_key = here.data.load_customer_key().unwrap();
    let master_key = fs::read_to_string(here.data.path().join("master.key")).unwrap();

    let keys = give_integrations(&here, id).await;
    let words = format!(
        "the broker said hello\nuser {} password {} apikey {} customer {} master {}\n{KEY}\n\
         sent with {}\nssl.key.password={TOKEN}\nthe end\n",
        instance.username,
        instance.password.expose(),
        instance.apikey.expose(),
        customer_key.expose(),
        master_key.trim(),
        keys.iter().map(Secret::expose).collect::<Vec<_>>().join(" "),
    );
    write_logs(&here.data.path().join("servers").join(server.id.to_string()), &words);
    let report = json!({ "phase": "failed", "log_tail": [words], "token": TOKEN });
    let desired =
        json!({ "revision": 7, "broker": { "properties": words }, "trust": { "a": KEY } });
    let broker = json!({
        "kafka_version": "4.3.1", "properties": words, "logging_file": "log4j2.properties",
        "logging": words, "jvm_flags": ["-Xmx1024m"], "config_hash": "h",
    });
    let mut work = here.store().begin().await.unwrap();
    let at = SystemClock.now();
    store::servers::set_report(&mut work, server.id, &report.to_string(), at).await.unwrap();
    store::servers::set_desired(&mut work, server.id, 7, &desired.to_string()).await.unwrap();
    store::servers::set_broker(&mut work, server.id, &broker.to_string(), 1).await.unwrap();
    let create = store::actions::list(&mut work, id, 1).await.unwrap().remove(0);
    let note = model::condition::Note::CancelledBy { email: words.clone() };
    store::actions::note_on(&mut work, create.id, &note, at).await.unwrap();
    work.commit().await.unwrap();

    let mut secrets = keys;
    secrets.extend([
        instance.password,
        instance.apikey,
        customer_key,
        Secret::new(master_key.trim()),
        Secret::new(TOKEN),
        Secret::new("MIGHAgEAMBMGByqGSM49"),
        Secret::new("PRIVATE KEY"),
    ]);
    Planted { here, id, secrets }
}

/// One of each system and kind. Returns their keys.
async fn give_integrations(here: &TestInstallation, id: InstanceId) -> Vec<Secret> {
    let mut keys = Vec::new();
    let mut work = here.store().begin().await.unwrap();
    for (kind, system) in
        IntegrationKind::ALL.into_iter().flat_map(|it| IntegrationSystem::ALL.map(|to| (it, to)))
    {
        let mut config = model::IntegrationConfig::new();
        for field in system.fields() {
            let key = Secret::new(format!("key-{system}-{kind}-{}", field.name));
            let value = match field.name {
                "headers" => Secret::new(format!("api-key={},x=y", key.expose())),
                _ => key.clone(),
            };
            config.insert(field.name.to_owned(), value);
            keys.extend(field.secret.then_some(key));
        }
        let new = store::NewIntegration { kind, system, config };
        let at = SystemClock.now();
        store::integrations::insert(&mut work, id, &new, at).await.unwrap().unwrap();
    }
    work.commit().await.unwrap();
    keys
}

fn write_logs(server: &Path, words: &str) {
    fs::create_dir_all(server.join("logs")).unwrap();
    fs::write(server.join("logs/server.log"), words).unwrap();
    fs::write(server.join("agent.log"), words).unwrap();
    fs::write(server.join("start.json"), format!("{{\"token\":\"{TOKEN}\"}}")).unwrap();
}

#[tokio::test]
async fn a_bundle_tells_everything_but_secrets() {
    let Planted { here, id, secrets } = plant().await;
    let opened =
        BrokenGlass::read(here.data.clone(), here.store().clone(), here.host_id, id).await.unwrap();
    opened.audit("instance.shell-config", &[("until", "tomorrow".into())]).await.unwrap();
    let pieces = gather(&opened, SystemClock.now()).await.unwrap();

    for piece in &pieces {
        for secret in &secrets {
            assert!(!piece.text.contains(secret.expose()), "{} holds a secret", piece.path);
        }
    }
    let text = |path: &str| {
        let found = pieces.iter().find(|piece| piece.path == path);
        &found.unwrap_or_else(|| panic!("{path} is missing: {pieces:?}")).text
    };
    // What is no secret is there, so that the check above looks at something.
    for path in ["logs/server.log", "logs/agent.log", "server.properties", "log4j2.properties"] {
        let log = text(&format!("servers/1/{path}"));
        assert!(log.starts_with("the broker said hello\n") && log.ends_with("the end\n"), "{log}");
    }
    assert!(text("servers/1/report.json").contains("the broker said hello"));
    assert!(text("servers/1/desired.json").contains("\"revision\": 7"));
    assert!(text("instance.json").contains(&opened.instance.username));
    assert!(text("disks.json").contains("planned"));
    assert!(text("firewall.json").contains("0.0.0.0/0"));
    let audit = text("audit.json");
    assert!(audit.contains("instance.create") && audit.contains("shell-config"), "{audit}");
    let actions = text("actions.json");
    assert!(actions.contains("\"kind\": \"create\""), "{actions}");
    assert!(actions.contains("the broker said hello"), "{actions}");
    // Nothing runs, and the bundle says so.
    assert!(text("quorum.json").contains("no_answer"));
    assert!(text("about.json").contains("control_plane_runs"));
}

#[tokio::test]
async fn the_logs_of_a_stopped_cluster_are_in_it() {
    let here = TestInstallation::make(None).await;
    let id = here.create("mouse-1").await.unwrap();
    let disk = store::disks::list(&mut here.store().reader(), id).await.unwrap().remove(0);
    write_logs(&here.data.path().join("logs").join(disk.id.to_string()), "stopped since\n");
    let opened =
        BrokenGlass::read(here.data.clone(), here.store().clone(), here.host_id, id).await.unwrap();
    let pieces = gather(&opened, SystemClock.now()).await.unwrap();
    for path in ["servers/1/logs/server.log", "servers/1/logs/agent.log"] {
        let found = pieces.iter().find(|piece| piece.path == path);
        assert_eq!(found.map(|piece| piece.text.as_str()), Some("stopped since\n"), "{path}");
    }
}
