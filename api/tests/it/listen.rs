//! Real sockets and real TLS.

use crate::agents::{enrolment, give_token, server_of};
use crate::world::World;
use model::SignedDuration;
use pki::{Authority, KeyPair, Leaf, Usage};
use reqwest::{Certificate, Client, Identity};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use web::{ConnectionLimits, Connections, Options};

pub struct Served {
    pub url: String,
    pub at: SocketAddr,
    pub ca: Certificate,
    pub stop: CancellationToken,
    task: tokio::task::JoinHandle<std::io::Result<()>>,
}

pub fn fleet(world: &World) -> Authority {
    let installation = world.app.installation();
    Authority { certificate: installation.fleet_ca.clone(), key: installation.fleet_ca_key.clone() }
}

/// Certificates are checked against the machine's clock here.
#[expect(clippy::disallowed_methods, reason = "TLS looks at the wall clock")]
pub fn now() -> model::Timestamp {
    jiff::Timestamp::now()
}

fn serve(world: &World) -> Served {
    serve_with(world, Connections::of_agents(ConnectionLimits::default()))
}

pub fn serve_with(world: &World, connections: Connections) -> Served {
    let leaf = Leaf {
        common_name: "castellan".into(),
        hosts: vec!["127.0.0.1".into()],
        usage: Usage::Server,
        valid_for: SignedDuration::from_hours(1),
    };
    let fleet = fleet(world);
    let (certificate, key) = fleet.issue_with_key(&leaf, now(), world.app.entropy()).unwrap();
    let tls = web::tls::agents(&certificate, &key, &fleet.certificate).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let url = format!("https://{at}/agent/v1");
    let stop = CancellationToken::new();
    let options = Options { stopping: stop.clone(), connections, ..Options::default() };
    let router = api::agent_router(world.app.clone(), options.clone());
    let served = watch::channel(tls).1;
    let task = tokio::spawn(web::listen::serve_agents(listener, router, served, options));
    let ca = Certificate::from_pem(fleet.certificate.as_bytes()).unwrap();
    Served { url, at, ca, stop, task }
}

pub fn http(ca: &Certificate, identity: Option<(&str, &KeyPair)>) -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder().tls_certs_only([ca.clone()]);
    let builder = match identity {
        Some((certificate, key)) => {
            let pem = format!("{certificate}{}", key.private_key_pem().expose());
            builder.identity(Identity::from_pem(pem.as_bytes()).unwrap())
        }
        None => builder,
    };
    builder.build().unwrap()
}

#[tokio::test]
async fn an_agent_enrols_and_polls_over_tls_until_the_stop() {
    let world = World::new().await;
    // The test's clock stands before the machine's; certificates must fit both.
    world.clock.advance(now().duration_since(world.app.now()));
    let instance = world.create("orders", &[]).await;
    let server = server_of(&world, &instance).await;
    let listening = serve(&world);
    let key = KeyPair::generate();
    let token = give_token(&world, &server).await;

    let nobody = http(&listening.ca, None);
    let desired = format!("{}/desired?after=0", listening.url);
    assert_eq!(nobody.get(&desired).send().await.unwrap().status(), 401);
    let enrolled = nobody
        .post(format!("{}/enrol", listening.url))
        .json(&enrolment(&server, &token, &key))
        .send()
        .await
        .unwrap();
    assert_eq!(enrolled.status(), 200);
    let enrolled: wire::agent::Enrolled = enrolled.json().await.unwrap();

    // A certificate of another authority does not even get a connection.
    let stranger = Authority::create("Stranger", now(), world.app.entropy()).unwrap();
    let request = pki::Request::parse(&pki::request(&key, "x").unwrap()).unwrap();
    let leaf = Leaf {
        common_name: format!("server-{}.1", server.id),
        hosts: Vec::new(),
        usage: Usage::Client,
        valid_for: SignedDuration::from_hours(1),
    };
    let forged = stranger.issue(request, &leaf, now(), world.app.entropy()).unwrap();
    assert!(http(&listening.ca, Some((&forged, &key))).get(&desired).send().await.is_err());

    // A held call ends at the stop, and so does the listener.
    let agent = http(&listening.ca, Some((&enrolled.certificate, &key)));
    let held = tokio::spawn(agent.get(&desired).send());
    let seen = async {
        while store::servers::find(&mut world.app.store().reader(), server.id)
            .await
            .unwrap()
            .unwrap()
            .server
            .last_seen
            .is_none()
        {
            app::agents::flush_last_seen(&world.app).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), seen).await.expect("the call is held");
    listening.stop.cancel();
    let answer = tokio::time::timeout(Duration::from_secs(10), held).await.unwrap().unwrap();
    assert_eq!(answer.unwrap().status(), 503);
    tokio::time::timeout(Duration::from_secs(10), listening.task).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_plain_listener_tells_the_audit_log_the_peers_address() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/api/instances", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    let options = Options { stopping: stop.clone(), ..Options::default() };
    let router = api::customer_router(world.app.clone(), options.clone());
    let task = tokio::spawn(web::listen::serve(listener, router, None, options));
    let _ = rustls::crypto::ring::default_provider().install_default();
    let new = serde_json::json!({
        "name": "orders", "plan": "mouse-1", "region": "local::this-machine",
    });
    let request = Client::new().post(&url).json(&new);
    let answer = request.basic_auth("", Some(world.key.expose())).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(10), task).await.unwrap().unwrap().unwrap();
    let lines = store::audit::list(&mut world.app.store().reader(), world.account).await.unwrap();
    assert_eq!(lines.last().unwrap().source, "customer-api 127.0.0.1");
}

#[tokio::test]
async fn the_typed_client_speaks_the_same_language() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let stop = CancellationToken::new();
    let options = Options { stopping: stop.clone(), ..Options::default() };
    let router = api::customer_router(world.app.clone(), options.clone());
    let task = tokio::spawn(web::listen::serve(listener, router, None, options));
    let client = client::Client::new(&url, world.key.clone()).unwrap();

    let new = wire::customer::CreateInstance {
        name: "orders".into(),
        plan: "mouse-1".into(),
        region: "local::this-machine".into(),
        ..Default::default()
    };
    let created = client.create_instance(&new).await.unwrap();
    assert_eq!(client.instances().await.unwrap().len(), 1);
    let read = client.instance(created.id).await.unwrap();
    assert_eq!((read.apikey, read.url), (created.apikey, created.url));
    assert_eq!(client.details(created.id).await.unwrap().name, "orders");
    assert!(!client.cluster_status(created.id).await.unwrap().ready);
    let changes =
        wire::customer::UpdateInstance { name: Some("bills".into()), ..Default::default() };
    client.update_instance(created.id, &changes).await.unwrap();
    actions_by(&client, &world, created.id).await;
    assert_eq!(client.plans().await.unwrap().len(), 21);
    assert_eq!(client.regions().await.unwrap().len(), 4);
    client.delete_instance(created.id).await.unwrap();
    assert!(client.instance(created.id).await.unwrap_err().is_not_found());

    let wrong = wire::customer::CreateInstance { plan: "x".into(), ..Default::default() };
    let error = client.create_instance(&wrong).await.unwrap_err().to_string();
    let summary = "3 fields are missing or wrong: name, plan, region";
    assert!(error.starts_with(&format!("{summary}; name: Field is required; ")), "{error}");
    let nobody = client::Client::new(&url, model::Secret::new("x")).unwrap();
    assert_eq!(nobody.plans().await.unwrap_err().to_string(), "Not authorized");
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(10), task).await.unwrap().unwrap().unwrap();
    let error = client.plans().await.unwrap_err();
    assert!(error.is_away() && error.to_string().contains("can't be reached"), "{error}");
}

async fn actions_by(client: &client::Client, world: &World, id: i64) {
    let all = [client.details(id).await.unwrap().servers[0].name.clone()];
    world.make_ready(model::InstanceId(id)).await;
    let asked = client.restart_cluster(id).await.unwrap().action.unwrap();
    let error = client.restart_servers(id, &all).await.unwrap_err();
    assert!(!error.is_away() && error.to_string().contains("follows another change"), "{error}");
    client.cancel_action(id, asked).await.unwrap();
    let read = client.action(id, asked).await.unwrap();
    assert_eq!((read.action.state.as_str(), read.steps.len()), ("cancelled", 1));
    world.make_ready(model::InstanceId(id)).await;
    assert!(client.restart_servers(id, &all).await.unwrap().action.is_some());
    assert!(client.start_servers(id, &all).await.unwrap().action.is_none());
    let error = client.stop_servers(id, &all).await.unwrap_err().to_string();
    assert!(error.contains("cluster-stop"), "{error}");
    assert!(client.start_cluster(id).await.unwrap().action.is_none());
    assert!(client.stop_cluster(id).await.unwrap().action.is_some());
    let kinds: Vec<String> =
        client.actions(id).await.unwrap().into_iter().map(|action| action.kind).collect();
    assert_eq!(kinds, ["cluster-stop", "restart", "cluster-restart", "create"]);
}
