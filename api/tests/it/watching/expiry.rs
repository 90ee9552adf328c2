//! Certificates that near their end: notice alarms tell of them by default, and again
//! once they are renewed.

use super::Post;
use crate::call::Call;
use crate::world::{World, tellings};
use model::{Expiring, Instance, NotificationState, SignedDuration, Timestamp};
use serde_json::{Value, json};
use store::servers;
use watch::alarms::Watch;

const TRIGGERED: NotificationState = NotificationState::Triggered;
const RESOLVED: NotificationState = NotificationState::Resolved;

fn days(number: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * number)
}

/// An instance as it is created, with the alarms that it has by default.
struct Watched {
    world: World,
    instance: Instance,
    watch: Watch,
}

impl Watched {
    async fn new() -> Self {
        let world = World::new().await;
        let instance = world.create("orders", &[]).await;
        world.make_ready(instance.id).await;
        world.run_kafka(&instance, &[]).await;
        let (instance, watch) =
            (world.load(instance.id.0).await, Watch::new(world.app.watch().clone()));
        Self { world, instance, watch }
    }

    /// What people are told, so many days later: by the notice alarm, which is the fourth.
    async fn after(&mut self, number: i64) -> Vec<(NotificationState, Expiring, String)> {
        self.world.clock.advance(days(number));
        self.watch.expiry().await.unwrap();
        // Another control plane has nothing to add.
        Watch::new(self.world.app.watch().clone()).expiry().await.unwrap();
        let told = tellings(&self.world.app).await.into_iter().map(|it| it.notification);
        let read = told.map(|it| {
            assert_eq!((it.alarm_id.unwrap().0, &it.server), (4, &None), "{it:?}");
            (it.state, it.expiring.unwrap(), it.message)
        });
        read.collect()
    }

    /// The one server's agent reports a certificate of these days.
    async fn reports(&self, from: Timestamp, until: Timestamp) {
        let server = self.world.servers(self.instance.id).await.remove(0);
        let report = json!({
            "incarnation": server.incarnation, "agent_version": "t", "revision": 1,
            "phase": "running", "detail": "",
            "certificates": [{"name": "internal", "not_before": from, "not_after": until}],
        });
        let mut work = self.world.app.store().begin().await.unwrap();
        let now = self.world.app.now();
        servers::set_report(&mut work, server.id, &report.to_string(), now).await.unwrap();
        work.commit().await.unwrap();
    }

    async fn sign(&self, cn: &str) -> String {
        let csr = pki::request(&pki::KeyPair::generate(), cn).unwrap();
        let path = format!("/api/instances/{}/ca/sign", self.instance.id);
        let call = Call::post(&path).key(&self.world.key).json(&json!({"csr": csr}));
        let answer = call.send(&self.world.customer).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.text
    }

    async fn call(&self, method: &str, path: &str) -> Value {
        let path = format!("/api/instances/{}/{path}", self.instance.id);
        let answer = Call::new(method, &path).key(&self.world.key).send(&self.world.customer).await;
        assert!(answer.status.is_success(), "{}", answer.text);
        if answer.text.is_empty() { Value::Null } else { answer.json() }
    }
}

#[tokio::test]
async fn a_server_whose_certificate_is_not_renewed_is_told_of_until_it_is() {
    let mut watched = Watched::new().await;
    let now = watched.world.app.now();
    watched.reports(now - days(1), now + days(59)).await;
    assert_eq!(watched.after(45).await, [], "a quarter is left, it should be renewed soon");
    let told = watched.after(5).await;
    let [(TRIGGERED, Expiring::ServerCertificates, message)] = &told[..] else {
        panic!("{told:?}")
    };
    let name = watched.world.servers(watched.instance.id).await.remove(0).name;
    assert!(message.contains(&format!("{name} on ")), "{message}");
    assert!(message.contains("should have been renewed"), "{message}");
    assert_eq!(watched.after(1).await, [], "that is known");
    let told = watched.after(4).await;
    assert!(matches!(&told[..], [(TRIGGERED, ..)]), "half of that time is gone: {told:?}");
    let history = watched.call("GET", "alarms/4/history").await;
    assert_eq!(history[0]["server"], Value::Null, "{history}");
    assert_eq!(history.as_array().unwrap().len(), 1, "it is one incident: {history}");

    let now = watched.world.app.now();
    watched.reports(now, now + days(60)).await;
    let told = watched.after(0).await;
    assert!(matches!(&told[..], [(RESOLVED, Expiring::ServerCertificates, _)]), "{told:?}");
    assert_eq!(watched.after(0).await, []);
}

#[tokio::test]
async fn a_customer_hears_in_time_that_a_signed_certificate_ends() {
    let mut watched = Watched::new().await;
    watched.sign("orders").await;
    watched.sign("replaced").await;
    let revoked = watched.sign("revoked").await;
    assert_eq!(watched.after(366).await, []);
    watched.sign("replaced").await;
    let serial = {
        let pem = x509_parser::pem::parse_x509_pem(revoked.as_bytes()).unwrap().1;
        pem.parse_x509().unwrap().raw_serial_as_string().replace(':', "")
    };
    watched.call("DELETE", &format!("ca/certificates/{serial}")).await;
    let told = watched.after(1).await;
    let [(TRIGGERED, Expiring::ClientCertificates, message)] = &told[..] else {
        panic!("{told:?}")
    };
    assert!(message.contains("end: orders on ") && message.contains("ca/sign"), "{message}");
    assert!(!message.contains("replaced") && !message.contains("revoked on"), "{message}");
    assert_eq!(watched.after(10).await, [], "nothing is new");
    let told = watched.after(14).await;
    assert!(matches!(&told[..], [(TRIGGERED, ..)]), "a week before: {told:?}");
    watched.sign("orders").await;
    let told = watched.after(0).await;
    assert!(matches!(&told[..], [(RESOLVED, Expiring::ClientCertificates, _)]), "{told:?}");
}

#[tokio::test]
async fn an_authority_is_told_of_half_a_year_before_its_end() {
    let mut watched = Watched::new().await;
    assert_eq!(watched.after(3653 - 181).await, []);
    let told = watched.after(2).await;
    let [(TRIGGERED, Expiring::Authorities, message)] = &told[..] else { panic!("{told:?}") };
    for name in ["internal on ", "server on ", "client on "] {
        assert!(message.contains(name), "{message}");
    }
    assert!(!message.contains("root on "), "{message}");
}

#[tokio::test]
async fn a_disk_and_certificates_are_incidents_of_their_own() {
    let post = Post::with(json!({"type": "notice"})).await;
    let mut watch = post.watch();
    post.sees(&mut watch, model::Series::DiskFull, 96.0).await;
    post.world.clock.advance(days(3653));
    watch.expiry().await.unwrap();
    let told = post.tellings().await;
    let names: Vec<String> = told.iter().map(|it| it.notification.incident()).collect();
    assert_eq!(names.len(), 2, "{told:?}");
    assert_ne!(names[0], names[1]);
    // A stopped cluster concerns nobody.
    assert_eq!(post.call("POST", "actions/cluster-stop", None).await, 200);
    assert_eq!(post.told().await.len(), 2, "both are over");
    watch.expiry().await.unwrap();
    assert_eq!(post.told().await, []);
}
