use super::*;
use crate::client::fake::{Asked, FakeCa, Reply, accept, answer, serve, speaks};
use crate::client::{BrokerKey, Endpoint, Identity, Stream, tls};
use async_trait::async_trait;
use kafka_protocol::messages::{ApiKey, DescribeClusterRequest, DescribeClusterResponse};
use kafka_protocol::protocol::StrBytes;
use std::io;
use std::sync::Mutex;

const CALLS: &[(ApiKey, i16, i16)] = &[(ApiKey::DescribeCluster, 0, 1)];

/// What a broker says to DescribeCluster: an error code.
struct FakeCluster {
    ca: Arc<FakeCa>,
    codes: Vec<(&'static str, i16)>,
    dialled: Mutex<Vec<String>>,
}

impl FakeCluster {
    fn replying(codes: &[(&'static str, i16)]) -> Self {
        let ca = Arc::new(FakeCa::new("internal"));
        Self { ca, codes: codes.to_vec(), dialled: Mutex::default() }
    }

    /// Asks these hosts; the answer, and who was dialled.
    async fn ask(&self, hosts: &[&str]) -> (Result<String, Error>, String) {
        let us: Identity = self.ca.issue(&[]);
        let endpoints = hosts.iter().map(|host| Endpoint::new(*host, 9091));
        let brokers: Vec<_> = (1..).zip(endpoints).map(|(id, it)| Broker::new(id, it)).collect();
        let brokers = Brokers {
            dial: self,
            instance: InstanceId(1),
            all: &brokers,
            tls: tls::client_config(&self.ca.pem(), Some(&us)).unwrap(),
            limits: Limits { call: Duration::from_millis(500), ..Limits::default() },
            pool: None,
        };
        let answer = brokers.ask(&WhoAreYou).await;
        (answer, self.dialled.lock().unwrap().join(" "))
    }
}

#[async_trait]
impl Dial for FakeCluster {
    async fn dial(&self, _: BrokerKey, endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
        self.dialled.lock().unwrap().push(endpoint.host.clone());
        let Some((host, code)) =
            self.codes.iter().find(|(host, _)| *host == endpoint.host).copied()
        else {
            return Err(io::ErrorKind::ConnectionRefused.into());
        };
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let ca = Arc::clone(&self.ca);
        tokio::spawn(async move {
            let identity = ca.issue(&[host]);
            let stream = accept(theirs, &ca, &identity).await.unwrap();
            serve(stream, |asked| reply(asked, host, code)).await;
        });
        Ok(Box::new(ours))
    }
}

fn reply(asked: &Asked, host: &'static str, code: i16) -> Reply {
    if asked.key == ApiKey::ApiVersions as i16 {
        return speaks(asked, CALLS);
    }
    let response = DescribeClusterResponse::default()
        .with_error_code(code)
        .with_cluster_id(StrBytes::from_static_str(host));
    answer::<DescribeClusterRequest>(asked, &response)
}

struct WhoAreYou;

impl Call for WhoAreYou {
    type Answer = String;

    async fn run(&self, connection: &mut Connection) -> Result<String, Error> {
        let answer = connection.call(&DescribeClusterRequest::default()).await?;
        crate::client::error::check("DescribeCluster", "it", answer.error_code, None)?;
        Ok(answer.cluster_id.to_string())
    }
}

#[tokio::test]
async fn the_first_live_broker_answers() {
    let cluster = FakeCluster::replying(&[("b2", 0), ("b3", 0)]);
    let (answer, dialled) = cluster.ask(&["b1", "b2", "b3"]).await;
    assert_eq!(answer.unwrap(), "b2");
    assert_eq!(dialled, "b1 b2");
}

#[tokio::test]
async fn a_passing_error_is_asked_of_the_next() {
    const NOT_CONTROLLER: i16 = 41;
    let cluster = FakeCluster::replying(&[("b1", NOT_CONTROLLER), ("b2", 0)]);
    assert_eq!(cluster.ask(&["b1", "b2"]).await.0.unwrap(), "b2");
}

#[tokio::test]
async fn a_definite_no_is_not_asked_again() {
    const CLUSTER_AUTHORIZATION_FAILED: i16 = 31;
    let cluster = FakeCluster::replying(&[("b1", CLUSTER_AUTHORIZATION_FAILED), ("b2", 0)]);
    let (answer, dialled) = cluster.ask(&["b1", "b2"]).await;
    assert_eq!(
        answer.unwrap_err().to_string(),
        "Kafka refused DescribeCluster for it: ClusterAuthorizationFailed"
    );
    assert_eq!(dialled, "b1");
}

#[tokio::test]
async fn when_all_fail_the_last_error_is_told() {
    let cluster = FakeCluster::replying(&[]);
    let error = cluster.ask(&["b1", "b2"]).await.0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "none of 2 brokers answered; the last error: b2:9091 refused the connection"
    );
    let error = cluster.ask(&["b1"]).await.0.unwrap_err();
    assert_eq!(error.to_string(), "b1:9091 refused the connection");
    assert_eq!(cluster.ask(&[]).await.0, Err(Error::NoBrokers));
}

/// Says no until it has been asked so many times.
struct After(Mutex<u32>);

impl Call for After {
    type Answer = bool;

    async fn run(&self, _: &mut Connection) -> Result<bool, Error> {
        let mut left = self.0.lock().unwrap();
        *left = left.saturating_sub(1);
        Ok(*left == 0)
    }
}

#[tokio::test]
async fn a_write_is_waited_for_and_not_for_ever() {
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(serve(theirs, |asked| speaks(asked, CALLS)));
    let limits = Limits { readable: Duration::from_millis(100), ..Limits::default() };
    let mut connection =
        Connection::negotiate(Box::new(ours), Endpoint::new("b1", 9091), limits).await.unwrap();
    let wait = async |connection: &mut Connection, times| {
        until_readable(connection, "user ada", &After(Mutex::new(times)), |is_shown| is_shown).await
    };
    assert_eq!(wait(&mut connection, 3).await, Ok(()));
    assert_eq!(
        wait(&mut connection, u32::MAX).await.unwrap_err().to_string(),
        "b1:9091 does not show user ada yet, 100ms after it was written"
    );
}
