use super::*;
use crate::client::Remedy;
use crate::client::fake::{Asked, Reply, answer, answer_to, serve, speaks};
use kafka_protocol::messages::{
    ApiKey, DescribeClusterRequest, DescribeClusterResponse, MetadataRequest,
};

const CALLS: &[(ApiKey, i16, i16)] =
    &[(ApiKey::ApiVersions, 0, 4), (ApiKey::DescribeCluster, 0, 1)];

fn limits() -> Limits {
    Limits { call: Duration::from_millis(200), frame_bytes: 4096, ..Limits::default() }
}

/// A connection to a broker that negotiates and then replies like this.
async fn connect(
    mut reply: impl FnMut(&Asked) -> Reply + Send + 'static,
) -> Result<Connection, Error> {
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(serve(theirs, move |asked| {
        if asked.key == ApiKey::ApiVersions as i16 { speaks(asked, CALLS) } else { reply(asked) }
    }));
    Connection::negotiate(Box::new(ours), Endpoint::new("b1", 9091), limits()).await
}

fn cluster(id: &str) -> DescribeClusterResponse {
    DescribeClusterResponse::default().with_cluster_id(StrBytes::from_string(id.to_owned()))
}

async fn ask(connection: &mut Connection) -> Result<String, Error> {
    let answer = connection.call(&DescribeClusterRequest::default()).await?;
    Ok(answer.cluster_id.to_string())
}

/// Asks once, expects that error, and that the connection is then given up.
async fn check(reply: impl FnMut(&Asked) -> Reply + Send + 'static, expected: &str) -> Error {
    let mut connection = connect(reply).await.unwrap();
    let error = ask(&mut connection).await.unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(
        ask(&mut connection).await.unwrap_err().to_string(),
        "b1:9091 was given up after an earlier error during DescribeCluster"
    );
    error
}

#[tokio::test]
async fn calls_run_one_after_another_in_the_negotiated_version() {
    let mut connection = connect(|asked| {
        let seen = format!("v{} #{}", asked.version, asked.correlation);
        answer::<DescribeClusterRequest>(asked, &cluster(&seen))
    })
    .await
    .unwrap();
    assert_eq!(ask(&mut connection).await.unwrap(), "v1 #2");
    assert_eq!(ask(&mut connection).await.unwrap(), "v1 #3");
}

#[tokio::test]
async fn what_the_broker_does_not_speak_is_not_sent() {
    let mut connection =
        connect(|asked| answer::<DescribeClusterRequest>(asked, &cluster("still usable")))
            .await
            .unwrap();
    let error = connection.call(&MetadataRequest::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "b1:9091 speaks Metadata in versions none, we speak 9..13");
    assert_eq!(ask(&mut connection).await.unwrap(), "still usable");
}

#[tokio::test]
async fn a_field_the_version_lacks_is_our_own_error() {
    let reply = |asked: &Asked| answer::<DescribeClusterRequest>(asked, &cluster("still usable"));
    let mut connection = connect(reply).await.unwrap();
    let request = DescribeClusterRequest::default().with_include_fenced_brokers(true);
    let error = connection.call(&request).await.unwrap_err();
    assert!(matches!(error, Error::Unencodable { version: 1, .. }), "{error}");
    assert_eq!(ask(&mut connection).await.unwrap(), "still usable");
}

#[tokio::test]
async fn a_broker_too_old_for_us_says_so_in_version_0() {
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(serve(theirs, |asked| {
        let response = kafka_protocol::messages::ApiVersionsResponse::default().with_error_code(35);
        answer_to::<ApiVersionsRequest>(asked.correlation, 0, &response)
    }));
    let opened = Connection::negotiate(Box::new(ours), Endpoint::new("b1", 9091), limits()).await;
    assert!(matches!(opened.err().unwrap(), Error::Unsupported { .. }));
}

#[tokio::test]
async fn a_hang_up_breaks_the_connection() {
    let error =
        check(|_| Reply::HangUp, "b1:9091 closed the connection during DescribeCluster").await;
    assert_eq!(error.remedy(), Remedy::Retry);
}

#[tokio::test]
async fn silence_ends_at_the_deadline() {
    let expected = "b1:9091 did not answer DescribeCluster within 200ms";
    let error = check(|_| Reply::Silence, expected).await;
    assert_eq!(error.remedy(), Remedy::Retry);
}

#[tokio::test]
async fn an_answer_to_another_request_is_not_taken() {
    let expected = "b1:9091 sent an answer to DescribeCluster that can't be read: \
                    it answers request 1, not 2";
    check(|asked| answer_to::<DescribeClusterRequest>(1, asked.version, &cluster("old")), expected)
        .await;
}

#[tokio::test]
async fn a_frame_over_the_limit_is_not_read() {
    let expected =
        "b1:9091 announced an answer to DescribeCluster of 4097 bytes; the limit is 4096";
    check(|_| Reply::Frame(4097_i32.to_be_bytes().to_vec()), expected).await;
}

#[tokio::test]
async fn half_an_answer_is_malformed() {
    let reply = |asked: &Asked| {
        let Reply::Frame(whole) = answer::<DescribeClusterRequest>(asked, &cluster("half")) else {
            return Reply::HangUp;
        };
        let half = &whole[4..whole.len() - 6];
        let mut frame = i32::try_from(half.len()).unwrap().to_be_bytes().to_vec();
        frame.extend_from_slice(half);
        Reply::Frame(frame)
    };
    let mut connection = connect(reply).await.unwrap();
    assert!(matches!(ask(&mut connection).await, Err(Error::Malformed { .. })));
    assert!(matches!(ask(&mut connection).await, Err(Error::Broken { .. })));
}

#[tokio::test]
async fn a_cancelled_call_gives_the_connection_up() {
    let mut connection = connect(|_| Reply::Silence).await.unwrap();
    assert!(timeout(Duration::from_millis(20), ask(&mut connection)).await.is_err());
    assert!(matches!(ask(&mut connection).await, Err(Error::Broken { .. })));
}
