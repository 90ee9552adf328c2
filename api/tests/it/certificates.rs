//! Certificates that clients log in with: signed, listed, revoked, refused.

use crate::call::{Answer, Call};
use crate::world::World;
use kafka::client::Admin as _;
use model::{Instance, Secret};
use serde_json::{Value, json};
use std::path::Path;
use x509_parser::pem::{Pem, parse_x509_pem};

/// One of those that openssl and keytool made for the tests of `pki`.
fn made(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pki/tests/requests");
    std::fs::read_to_string(directory.join(format!("{name}.csr"))).unwrap()
}

/// A request for a new key.
fn request(cn: &str) -> String {
    pki::request(&pki::KeyPair::generate(), cn).unwrap()
}

async fn ready(world: &World) -> Instance {
    let instance = world.create("orders", &[]).await;
    world.make_ready(instance.id).await;
    world.run_kafka(&instance, &[]).await;
    world.load(instance.id.0).await
}

async fn sign(world: &World, instance: &Instance, csr: &str) -> Answer {
    let path = format!("/api/instances/{}/ca/sign", instance.id);
    Call::post(&path).key(&world.key).json(&json!({"csr": csr})).send(&world.customer).await
}

async fn list(world: &World, instance: &Instance) -> Value {
    let path = format!("/api/instances/{}/ca/certificates", instance.id);
    let answer = Call::get(&path).key(&world.key).send(&world.customer).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

async fn revoke(world: &World, instance: &Instance, serial: &str) -> Answer {
    let path = format!("/api/instances/{}/ca/certificates/{serial}", instance.id);
    Call::delete(&path).key(&world.key).send(&world.customer).await
}

/// Subject and serial of the first certificate in an answer.
fn read(answer: &Answer) -> (String, String) {
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    let pem = parse_x509_pem(answer.text.as_bytes()).unwrap().1;
    let certificate = pem.parse_x509().unwrap();
    let serial = certificate.raw_serial_as_string().replace(':', "");
    (certificate.subject().to_string(), serial)
}

#[tokio::test]
async fn a_certificate_is_signed_listed_and_revoked_by_either_key() {
    let world = World::new().await;
    let instance = ready(&world).await;
    assert_eq!(list(&world, &instance).await, json!([]));
    // As `curl -d csr="$(cat …)"` sends it, as a careful form, and in parts.
    let careless = format!("csr={}", made("keytool-rsa"));
    let careful = careless.replace('+', "%2B");
    let parts = format!(
        "--x\r\nContent-Disposition: form-data; name=\"csr\"\r\n\r\n{}\r\n--x--\r\n",
        made("p384")
    );
    let own = || Call::post("/api/ca/sign").key(&instance.apikey);
    let mut serials = Vec::new();
    for call in [
        own().form(&careless),
        own().form(&careful),
        own().body("multipart/form-data; boundary=x", parts),
    ] {
        let (subject, serial) = read(&call.send(&world.instance).await);
        assert_eq!(subject, "CN=orders");
        serials.push(serial);
    }
    let (subject, serial) = read(&sign(&world, &instance, &request("payments")).await);
    assert_eq!(subject, "CN=payments");
    serials.push(serial);

    let listed = list(&world, &instance).await;
    let mut found: Vec<&str> =
        listed.as_array().unwrap().iter().map(|it| it["serial"].as_str().unwrap()).collect();
    found.sort_unstable();
    let mut expected: Vec<&str> = serials.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let own_list = Call::get("/api/ca/certificates").key(&instance.apikey);
    assert_eq!(own_list.send(&world.instance).await.json(), listed);

    let serial = &serials[3];
    let before = world.load(instance.id.0).await;
    let woken = async || {
        store::instances::wakes(&mut world.app.store().reader(), instance.id).await.unwrap()
    };
    let wakes = woken().await;
    // As openssl prints it.
    let printed = serial.to_uppercase();
    assert_eq!(revoke(&world, &instance, &printed).await.status, 204);
    assert_eq!(woken().await, wakes + 1, "the engine tells the brokers");
    assert_eq!(world.load(instance.id.0).await, before, "and nothing is to be restarted");
    let listed = list(&world, &instance).await;
    let revoked: Vec<&Value> =
        listed.as_array().unwrap().iter().filter(|it| !it["revoked_at"].is_null()).collect();
    assert_eq!(revoked.len(), 1);
    assert_eq!((&revoked[0]["serial"], &revoked[0]["cn"]), (&json!(serial), &json!("payments")));

    let lines = world.audit().await;
    let line = |verb: &str, who: &str| {
        format!("certificate.{verb} {who} id=1; name=orders; serial={serial}; cn=payments")
    };
    let who = "customer-api 192.0.2.7 owner@example.test";
    assert_eq!(lines[lines.len() - 2..], [line("sign", who), line("revoke", who)]);
    assert!(lines.iter().filter(|line| line.contains("instance-api")).count() == 3, "{lines:?}");

    // Again it changes nothing, and nobody has to be told.
    assert_eq!(revoke(&world, &instance, serial).await.status, 204);
    assert_eq!((woken().await, world.audit().await.len()), (wakes + 1, lines.len()));
    assert_eq!(list(&world, &instance).await, listed);
    let call = Call::delete(&format!("/api/ca/certificates/{}", serials[0])).key(&instance.apikey);
    assert_eq!(call.send(&world.instance).await.status, 204);
}

#[tokio::test]
async fn a_serial_is_of_one_instance_alone() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let (_, serial) = read(&sign(&world, &instance, &request("orders")).await);
    let neighbour = world.create("payments", &[]).await;
    revoke(&world, &neighbour, &serial).await.expect_error(404, "Not Found");
    for unknown in ["0", "x", "%00", &"0".repeat(32), &serial[1..]] {
        revoke(&world, &instance, unknown).await.expect_error(404, "Not Found");
    }
    assert_eq!(list(&world, &neighbour).await, json!([]));
    assert_eq!(list(&world, &instance).await[0]["revoked_at"], Value::Null);
}

#[tokio::test]
async fn a_request_to_be_an_authority_is_refused() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let before = world.audit().await;
    sign(&world, &instance, &made("much-asked")).await.expect_error(
        400,
        "csr: asks to be an authority (basicConstraints CA:TRUE), which no client is; make it \
         anew without that",
    );
    assert_eq!((list(&world, &instance).await, world.audit().await), (json!([]), before));
}

/// Whoever had the certificate would be the user. Each of the two calls looks
/// whether the other was there before.
#[tokio::test]
async fn of_a_password_and_a_certificate_asked_for_at_once_a_name_gets_one() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let path = format!("/api/instances/{}/users", instance.id);
    for name in ["a", "b", "c", "d", "e", "f"] {
        let csr = request(name);
        let call = Call::post(&path).key(&world.key).json(&json!({"name": name}));
        let (made, signed) =
            tokio::join!(call.send(&world.customer), sign(&world, &instance, &csr));
        let both = format!("{}\n{}", made.text, signed.text);
        let told = (made.status.as_u16(), signed.status.as_u16());
        assert!([(201, 400), (400, 200)].contains(&told), "{name}: {told:?} {both}");
    }
}

#[tokio::test]
async fn certificates_of_one_name_may_be_signed_at_once() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let (one, other) = (request("orders"), request("orders"));
    let (one, other) = tokio::join!(sign(&world, &instance, &one), sign(&world, &instance, &other));
    assert_ne!(read(&one).1, read(&other).1);
}

/// Whatever a request asks for beside its name, the answer is the same.
#[tokio::test]
async fn a_request_that_asks_for_much_gets_a_plain_certificate() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let answer = sign(&world, &instance, &made("all-but-authority")).await;
    assert_eq!(read(&answer).0, "CN=orders");
    let pem = parse_x509_pem(answer.text.as_bytes()).unwrap().1;
    let certificate = pem.parse_x509().unwrap();
    assert!(!certificate.is_ca() && certificate.subject_alternative_name().unwrap().is_none());
    let usage = certificate.extended_key_usage().unwrap().unwrap().value;
    assert!(usage.client_auth && !usage.server_auth && !usage.any);
    // Of the authority that brokers trust on 9093, and not of the one that
    // clients trust.
    let mut reader = world.app.store().reader();
    let kind = store::AuthorityKind::Client;
    let ca = store::authorities::certificate(&mut reader, instance.id, kind).await.unwrap();
    assert!(answer.text.ends_with(&ca.unwrap()), "{}", answer.text);
}

/// By one root clients verify brokers, and anybody verifies clients' certificates.
#[tokio::test]
async fn a_signed_certificate_leads_to_the_root_that_customers_have() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let path = format!("/api/instances/{}/ca/ca_cert.pem", instance.id);
    let root = Call::get(&path).key(&world.key).send(&world.customer).await.text;
    let signed = sign(&world, &instance, &request("orders")).await.text;
    let mut reader = world.app.store().reader();
    let of = store::authorities::certificates(&mut reader, instance.id).await.unwrap();
    let server = &of[&store::AuthorityKind::Server];
    let blocks = |pem: &str| -> Vec<Pem> {
        Pem::iter_from_buffer(pem.as_bytes()).map(Result::unwrap).collect()
    };
    let (signed, root, server) = (blocks(&signed), blocks(&root), blocks(server));
    assert_eq!((signed.len(), root.len(), server.len()), (2, 1, 1));
    let chain = [&signed[0], &signed[1], &root[0], &root[0]].map(|it| it.parse_x509().unwrap());
    for pair in chain.windows(2) {
        pair[0].verify_signature(Some(pair[1].public_key())).unwrap();
        assert_eq!(pair[0].issuer(), pair[1].subject());
    }
    let server = server[0].parse_x509().unwrap();
    server.verify_signature(Some(chain[2].public_key())).unwrap();
    assert_ne!(server.subject(), chain[1].subject(), "each has an intermediate of its own");
}

#[tokio::test]
async fn what_is_refused_changes_nothing() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let servers = world.servers(instance.id).await;
    let cluster = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    world.kafka.set_scram_user(&cluster, "reports", &Secret::new("a password")).await.unwrap();
    let before = (world.audit().await, world.load(instance.id.0).await);

    let mut refused = Vec::new();
    let mut note = |what: &str, answer: &Answer| {
        assert_eq!(answer.status, 400, "{what}: {}", answer.text);
        let text = answer.text.replace(&instance.username, "[username]");
        refused.push(format!("{what}\n{text}"));
    };
    for name in
        ["rsa-1024", "sha1", "p521", "no-name", "two-names", "bad-name", "unicode", "reserved"]
    {
        note(name, &sign(&world, &instance, &made(name)).await);
    }
    for cn in ["broker-1", "Admin", "anonymous", "reports", instance.username.as_str()] {
        let answer = sign(&world, &instance, &request(cn)).await;
        note(&cn.replace(&instance.username, "[username]"), &answer);
    }
    let good = made("p256");
    for (what, csr) in [
        ("nothing", String::new()),
        ("no PEM", "<script>alert(1)</script>".into()),
        ("two of them", format!("{good}{good}")),
        ("more behind", format!("{good}more")),
        ("a certificate", good.replace(" REQUEST", "")),
        ("a private key", good.replace("CERTIFICATE REQUEST", "PRIVATE KEY")),
        ("much", "x".repeat(1_000_000)),
        ("a NUL", format!("{good}\0")),
    ] {
        note(what, &sign(&world, &instance, &csr).await);
    }
    let path = format!("/api/instances/{}/ca/sign", instance.id);
    let call = Call::post(&path).key(&world.key);
    note("a number", &call.clone().json(&json!({"csr": 7})).send(&world.customer).await);
    note("twice", &call.form("csr=a&csr=b").send(&world.customer).await);
    insta::assert_snapshot!("refused_requests", refused.join("\n\n"));

    assert_eq!((world.audit().await, world.load(instance.id.0).await), before);
    assert_eq!(list(&world, &instance).await, json!([]));
}

#[tokio::test]
async fn a_cluster_that_is_not_there_yet_signs_nothing_but_can_revoke() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let (_, serial) = read(&sign(&world, &instance, &request("orders")).await);
    let mut work = world.app.store().begin().await.unwrap();
    store::instances::set_stopped(&mut work, instance.id, true, world.app.now()).await.unwrap();
    work.commit().await.unwrap();
    let sentence = "The cluster is stopped; start it with actions/cluster-start first";
    sign(&world, &instance, &request("orders")).await.expect_error(400, sentence);
    assert_eq!(revoke(&world, &instance, &serial).await.status, 204);

    let young = world.create("payments", &[]).await;
    let answer = sign(&world, &young, &request("orders")).await;
    assert_eq!(answer.status, 400);
    assert!(answer.text.contains("is being created"), "{}", answer.text);
    // What is wrong with the request is said first.
    let answer = sign(&world, &young, "x").await;
    assert!(answer.text.contains("csr: must be"), "{}", answer.text);
}

#[tokio::test]
async fn on_a_shared_plan_a_name_begins_with_the_customer_s() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let shared = world.share(&instance).await;
    let sentence = format!(
        "csr: has the common name orders; on shared plans it must begin with {}-",
        shared.username
    );
    sign(&world, &shared, &request("orders")).await.expect_error(400, &sentence);
}

/// A list that is full of revoked certificates does not keep new ones away for a year.
#[tokio::test]
async fn a_full_list_has_room_again_once_some_are_revoked_or_expired() {
    let world = World::new().await;
    let instance = ready(&world).await;
    let issued_at = world.app.now();
    let numbered = |number: u32| model::Certificate {
        serial: format!("{number:032x}").parse().unwrap(),
        cn: model::UserName::parse("orders").unwrap(),
        issued_at,
        expires_at: issued_at + model::SignedDuration::from_hours(24 * 397),
        revoked_at: None,
    };
    let mut work = world.app.store().begin().await.unwrap();
    for number in 1..=10_000 {
        store::certificates::insert(&mut work, instance.id, &numbered(number)).await.unwrap();
    }
    // Revoked, and expired two days ago.
    let gone = model::Certificate {
        expires_at: issued_at - model::SignedDuration::from_hours(48),
        revoked_at: Some(issued_at),
        ..numbered(10_001)
    };
    store::certificates::insert(&mut work, instance.id, &gone).await.unwrap();
    work.commit().await.unwrap();
    let full = sign(&world, &instance, &request("payments")).await;
    full.expect_error(
        400,
        "This instance has 10000 certificates that are good, and can't have more; revoke some \
         that are not used any more, and sign again",
    );
    let one = numbered(1).serial;
    assert_eq!(revoke(&world, &instance, one.as_str()).await.status, 204);
    assert_eq!(sign(&world, &instance, &request("payments")).await.status, 200);
    assert_eq!(sign(&world, &instance, &request("payments")).await.status, 400);
    let refused = async |at: model::Timestamp| {
        let mut reader = world.app.store().reader();
        store::certificates::revoked(&mut reader, instance.id, at).await.unwrap()
    };
    assert_eq!(refused(world.app.now()).await, [one.as_str()], "brokers still refuse it");
    let listed = list(&world, &instance).await;
    assert_eq!(listed.as_array().unwrap().len(), 10_001, "the expired one is forgotten");
}
