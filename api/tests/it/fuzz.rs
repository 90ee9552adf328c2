//! The calls about what is in a cluster, tried by schemathesis on one that is ready,
//! with a simulated Kafka behind it. What a control plane answers whose clusters never
//! become ready is tried by the binary's own test.
//!
//! The document is the API's own, but for the names of things: with those that are
//! there, calls come further than to a 404.

use crate::call::Call;
use crate::world::World;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use kafka::client::{Admin as _, Groups as _, NewTopic, TopicPartition, Topics as _};
use model::{Instance, SignedDuration};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const EXAMPLES: u32 = 15;
/// Of the long run.
const MANY_EXAMPLES: u32 = 120;

/// What is tried, under an instance. Actions are left out: they end what is ready.
const TRIED: [&str; 8] =
    ["acls", "ca/certificates", "config", "groups", "nodes", "quotas", "topics", "users"];
/// Which of it must have been done at least once, or nothing was tried.
const DONE: [&str; 13] = [
    "DELETE /topics/{name}",
    "GET /acls",
    "GET /config/kafka",
    "GET /groups",
    "GET /groups/{name}",
    "GET /nodes",
    "GET /quotas",
    "GET /topics",
    "GET /topics/{name}",
    "GET /topics/{name}/messages",
    "GET /users",
    "POST /topics",
    "PUT /topics/{name}",
];

/// What was called and answered with success.
type Done = Arc<Mutex<BTreeSet<String>>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schemathesis_finds_nothing_in_a_cluster_that_is_ready() {
    let world = Arc::new(World::with(unlimited()).await);
    let instance = world.create_of("mouse-3", "orders", &[]).await;
    world.make_ready(instance.id).await;
    let instance = world.load(instance.id.0).await;
    world.run_kafka(&instance, &[orders()]).await;
    world.admit(&instance, "ada").await;
    world.use_cluster(&instance).await;
    let life = tokio::spawn(live(Arc::clone(&world), instance.clone()));

    let directory = tempfile::tempdir().unwrap();
    let document = directory.path().join("openapi.json");
    std::fs::write(&document, tried(&world, &instance).await.to_string()).unwrap();
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/tests/fuzz");
    for file in ["schemathesis.toml", "hooks.py"] {
        std::fs::copy(fuzz.join(file), directory.path().join(file)).unwrap();
    }
    let done = Done::default();
    let url = serve(&world, &instance, &done).await;
    let thorough = std::env::var_os("CASTELLAN_TEST_ALL").is_some();
    let (seed, examples) = (seed(), if thorough { MANY_EXAMPLES } else { EXAMPLES });
    let arguments = [
        "run".into(),
        document.to_str().unwrap().to_owned(),
        format!("--url={url}"),
        format!("--auth={}:", world.key.expose()),
        "--checks=all".into(),
        // Things come and go here, so that no call leads to another.
        "--phases=examples,coverage,fuzzing".into(),
        format!("--seed={seed}"),
        format!("--max-examples={examples}"),
        "--continue-on-failure".into(),
        "--no-color".into(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ran = host::run_output(&program(), &arguments, Some(directory.path())).await.unwrap();
    life.abort();
    let said = String::from_utf8_lossy(&ran.stdout);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "CASTELLAN_SEED={seed}\n{said}\n{errors}");
    let done = done.lock().unwrap();
    let missing: Vec<&str> = DONE.into_iter().filter(|call| !done.contains(*call)).collect();
    assert!(missing.is_empty(), "never done: {missing:?}; done: {done:?}\n{said}");
}

fn orders() -> NewTopic {
    NewTopic { name: "orders".into(), partitions: 2, replicas: 3, settings: vec![] }
}

/// Time goes by, what the calls delete comes back, and what they make goes again:
/// thousands of partitions would slow all of them down.
async fn live(world: Arc<World>, instance: Instance) {
    let servers = world.servers(instance.id).await;
    let cluster = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    loop {
        for _ in 0..10 {
            world.clock.advance(SignedDuration::from_millis(20));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // The calls may do the very same at this moment.
        for topic in world.kafka.list_topics(&cluster).await.unwrap_or_default() {
            if topic.name != "orders" || topic.partitions.len() > 100 {
                let _ = world.kafka.delete_topic(&cluster, &topic.name).await;
            }
        }
        let _ = world.kafka.create_topic(&cluster, &orders()).await;
        let read = [(TopicPartition::new("orders", 0), 1)].into();
        let _ = world.kafka.commit_offsets(&cluster, "billing", &read).await;
    }
}

/// The part of the document that is tried, with the names of what is there.
async fn tried(world: &World, instance: &Instance) -> Value {
    let answer = Call::get("/openapi.json").send(&world.customer).await;
    let mut document = answer.json();
    let paths = document["paths"].as_object_mut().unwrap();
    paths.retain(|path, _| {
        let rest = path.strip_prefix("/api/instances/{id}/").unwrap_or_default();
        TRIED.iter().any(|tried| rest.starts_with(tried))
    });
    for (path, operations) in paths {
        let names = [("/topics/", "orders"), ("/groups/", "billing"), ("/users/", "ada")];
        let name = names.into_iter().find(|(part, _)| path.contains(part));
        let name = name.map(|(_, name)| name);
        for operation in operations.as_object_mut().unwrap().values_mut() {
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            for parameter in parameters.into_iter().flatten() {
                match parameter["name"].as_str() {
                    Some("id") => parameter["schema"] = json!({"enum": [instance.id.0]}),
                    Some("name") => parameter["schema"] = json!({"enum": [name]}),
                    _ => {}
                }
            }
            // They lead to calls that are not tried.
            for response in operation["responses"].as_object_mut().unwrap().values_mut() {
                response.as_object_mut().unwrap().remove("links");
            }
        }
    }
    document
}

/// The Customer API on an address of its own; it notes what was done.
async fn serve(world: &World, instance: &Instance, done: &Done) -> String {
    let under = format!("/api/instances/{}", instance.id);
    let noted = (under, Arc::clone(done));
    let router = world.customer.clone().layer(from_fn_with_state(noted, note));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async { axum::serve(listener, service).await.unwrap() });
    url
}

async fn note(
    State((under, done)): State<(String, Done)>,
    request: Request,
    next: Next,
) -> Response {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let answer = next.run(request).await;
    if let Some(rest) = path.strip_prefix(&under)
        && answer.status().is_success()
    {
        let rest = ["orders", "billing", "ada"]
            .iter()
            .fold(rest.to_owned(), |rest, name| rest.replace(&format!("/{name}"), "/{name}"));
        done.lock().unwrap().insert(format!("{method} {rest}"));
    }
    answer
}

/// Where `scripts/setup.sh test` puts it: beside what is built.
fn program() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let program = here.ancestors().nth(3).unwrap().join("schemathesis/bin/schemathesis");
    assert!(program.exists(), "{} is not there; `make setup-test` installs it", program.display());
    program
}

/// The same every time, so that a failure can be looked at again, but for those whom
/// `CASTELLAN_SEED` sends further.
fn seed() -> u32 {
    let given = std::env::var("CASTELLAN_SEED").ok();
    given.map_or(1, |seed| seed.parse().expect("CASTELLAN_SEED is a number below 2³²"))
}

/// Messages are not sent here, so none is too many.
fn unlimited() -> app::Settings {
    let messages = model::MessageLimits::OFF;
    app::Settings { messages, invitations_per_hour: 0, ..app::Settings::default() }
}
