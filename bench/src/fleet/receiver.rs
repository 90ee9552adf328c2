//! Where alarms are told: a webhook that notes when each instance's first one came.

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use model::{Clock as _, InstanceId, SystemClock, Timestamp};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const LOOK: Duration = Duration::from_millis(100);
/// What has not come by then counts as not told.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<BTreeMap<InstanceId, Timestamp>>>);

impl Heard {
    fn note(&self, instance: InstanceId) {
        let mut heard = self.0.lock().expect("no holder of this lock panics");
        heard.entry(instance).or_insert_with(|| SystemClock.now());
    }

    fn all(&self) -> BTreeMap<InstanceId, Timestamp> {
        self.0.lock().expect("no holder of this lock panics").clone()
    }
}

pub struct Receiver {
    address: SocketAddr,
    heard: Heard,
    serving: JoinHandle<()>,
}

impl Receiver {
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let heard = Heard::default();
        let hear = |State(heard): State<Heard>, Path(instance): Path<i64>, _: Bytes| async move {
            heard.note(InstanceId(instance));
            StatusCode::OK
        };
        let router = Router::new().route("/{instance}", post(hear)).with_state(heard.clone());
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("the receiver of alarms failed: {error}");
            }
        });
        Ok(Self { address, heard, serving })
    }

    /// Where the alarms of an instance go.
    pub fn url(&self, instance: InstanceId) -> String {
        format!("http://{}/{instance}", self.address)
    }

    /// When the first came of each instance, once so many have told something.
    pub async fn heard_of(&self, instances: usize) -> BTreeMap<InstanceId, Timestamp> {
        let began = Instant::now();
        loop {
            let heard = self.heard.all();
            if heard.len() >= instances || began.elapsed() > PATIENCE {
                return heard;
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
