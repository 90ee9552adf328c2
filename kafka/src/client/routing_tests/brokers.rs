//! Three brokers that live as long as a test, and the real client before them.
//!
//! Handshakes take most of the time of a test, so most clients begin with a kept
//! connection to each broker, and whoever dials is refused.

use crate::client::fake::{Asked, FakeCa, Reply, accept, serve, speaks};
use crate::client::{
    Broker, BrokerKey, Cluster, Connection, Dial, Endpoint, Identity, Limits, ProtocolAdmin, Stream,
};
use async_trait::async_trait;
use kafka_protocol::messages::ApiKey;
use model::{InstanceId, SeededEntropy};
use std::io;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

pub const IDS: [i32; 3] = [1, 2, 3];
pub const PORT: u16 = 9091;
/// For what answers at once, however busy the machine is.
pub const LONG: Duration = Duration::from_secs(20);

static CA: LazyLock<FakeCa> = LazyLock::new(|| FakeCa::new("internal"));
static US: LazyLock<Identity> = LazyLock::new(|| CA.issue(&[]));

/// As Kafka 4 speaks, but for what nobody asks here.
pub const SPEAKS: &[(ApiKey, i16, i16)] = &[
    (ApiKey::ConsumerGroupDescribe, 0, 1),
    (ApiKey::DeleteGroups, 0, 2),
    (ApiKey::DescribeGroups, 0, 6),
    (ApiKey::DescribeLogDirs, 1, 4),
    (ApiKey::Fetch, 4, 17),
    (ApiKey::FindCoordinator, 0, 6),
    (ApiKey::ListGroups, 0, 5),
    (ApiKey::ListOffsets, 1, 10),
    (ApiKey::Metadata, 0, 13),
    (ApiKey::OffsetCommit, 2, 9),
    (ApiKey::OffsetFetch, 1, 9),
    (ApiKey::Produce, 3, 12),
];

/// One request to a broker.
pub struct Hop {
    pub instance: InstanceId,
    pub broker: i32,
    pub key: ApiKey,
}

/// What happens to who dials a broker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Door {
    Open,
    Shut,
    /// The connection is made, and nothing is ever said.
    Unresponsive,
}

type Script = Box<dyn Fn(&Hop, &Asked) -> Reply + Send + Sync>;

struct Far {
    script: Script,
    door: fn(i32) -> Door,
    asked: Mutex<Vec<(i32, ApiKey)>>,
    dialled: Mutex<Vec<String>>,
}

impl Far {
    fn reply(&self, instance: InstanceId, broker: i32, asked: &Asked) -> Reply {
        let key = ApiKey::try_from(asked.key).unwrap();
        self.asked.lock().unwrap().push((broker, key));
        (self.script)(&Hop { instance, broker, key }, asked)
    }
}

struct Dialler(Arc<Far>);

#[async_trait]
impl Dial for Dialler {
    async fn dial(&self, key: BrokerKey, endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
        let far = Arc::clone(&self.0);
        far.dialled.lock().unwrap().push(endpoint.to_string());
        let id =
            IDS.into_iter().find(|id| broker(*id) == Broker::new(key.node_id, endpoint.clone()));
        let id = id.filter(|id| (far.door)(*id) != Door::Shut);
        let id = id.ok_or(io::ErrorKind::ConnectionRefused)?;
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            if (far.door)(id) == Door::Unresponsive {
                std::future::pending::<()>().await;
            }
            let identity = CA.issue(&[&host(id)]);
            if let Ok(stream) = accept(theirs, &CA, &identity).await {
                serve(stream, |asked| far.reply(key.instance, id, asked)).await;
            }
        });
        Ok(Box::new(ours))
    }
}

pub fn host(id: i32) -> String {
    format!("b{id}")
}

pub fn broker(id: i32) -> Broker {
    Broker::new(id, Endpoint::new(host(id), PORT))
}

/// The client, and what is known of whom it asked.
pub struct Fake {
    pub admin: ProtocolAdmin,
    pub cluster: Cluster,
    limits: Limits,
    far: Arc<Far>,
}

impl Fake {
    /// A client that has to dial. The brokers are asked what they speak, too.
    pub fn unconnected(
        patience: Duration,
        door: fn(i32) -> Door,
        script: impl Fn(&Hop, &Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let far = Far {
            script: Box::new(script),
            door,
            asked: Mutex::default(),
            dialled: Mutex::default(),
        };
        let far = Arc::new(far);
        let limits =
            Limits { connect: patience, call: patience, readable: patience, frame_bytes: 1 << 20 };
        let dial = Arc::new(Dialler(Arc::clone(&far)));
        let admin = ProtocolAdmin::new(dial, Arc::new(SeededEntropy::new(1))).with_limits(limits);
        let cluster = Cluster {
            instance: InstanceId(1),
            brokers: IDS.map(broker).to_vec(),
            trust_pem: CA.pem(),
            identity: US.clone(),
        };
        Self { admin, cluster, limits, far }
    }

    /// A client that has a connection to each broker, and gets no other.
    pub async fn connected(
        patience: Duration,
        script: impl Fn(&Hop, &Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let fake = Self::unconnected(patience, |_| Door::Shut, script);
        let brokers = fake.admin.brokers(&fake.cluster).unwrap();
        let (pool, who) = brokers.pool.as_ref().unwrap();
        for id in IDS {
            pool.put(who, broker(id).key(fake.cluster.instance), fake.connect(id).await);
        }
        drop(brokers);
        fake
    }

    async fn connect(&self, id: i32) -> Connection {
        let mut last = None;
        // A machine that is busy may take longer than this client's patience.
        for _ in 0..9 {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let (far, instance) = (Arc::clone(&self.far), self.cluster.instance);
            tokio::spawn(serve(theirs, move |asked| {
                let first = asked.key == ApiKey::ApiVersions as i16;
                if first { speaks(asked, SPEAKS) } else { far.reply(instance, id, asked) }
            }));
            let made =
                Connection::negotiate(Box::new(ours), broker(id).endpoint, self.limits).await;
            match made {
                Ok(connection) => return connection,
                Err(error) => last = Some(error),
            }
        }
        panic!("{last:?}");
    }

    /// Who was asked what, in order.
    pub fn asked(&self) -> Vec<String> {
        let asked = self.far.asked.lock().unwrap();
        asked.iter().map(|(broker, key)| format!("{} {key:?}", host(*broker))).collect()
    }

    pub fn dialled(&self) -> Vec<String> {
        self.far.dialled.lock().unwrap().clone()
    }
}
