//! Simulated brokers, which answer real connections. Those of many clusters only say what they
//! speak and that they have no topics: in a process of their own, so that what they take is not
//! counted.
//!
//! That process is this program again. It says on its output how the clusters are
//! reached, and ends with its input.

use anyhow::{Context, Result, anyhow, bail};
use host::Piped;
use kafka::Endpoint;
use kafka::client::{Broker, Cluster, Identity};
use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::{
    ApiKey, ApiVersionsResponse, MetadataRequest, MetadataResponse, ResponseHeader,
};
use kafka_protocol::protocol::{Encodable, Message, decode_request_header_from_buffer};
use model::{InstanceId, Secret};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// What the first argument is in the process of the brokers.
pub const ARGUMENT: &str = "simulated-brokers";
const HOST: &str = "127.0.0.1";
const BROKERS: i32 = 3;

/// What a broker is asked.
pub struct Asked {
    /// The node id of the broker.
    pub node: i32,
    pub key: i16,
    pub version: i16,
    pub body: Vec<u8>,
}

/// The answer, without its header.
pub type Reply = Arc<dyn Fn(&Asked) -> Result<Vec<u8>> + Send + Sync>;

/// Clusters of three whose brokers run elsewhere.
pub struct Clusters {
    pub all: Vec<Cluster>,
    piped: Piped,
    _errors: tempfile::TempDir,
}

impl Clusters {
    pub async fn start(count: usize) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let program = std::env::current_exe()?;
        let arguments = [ARGUMENT.to_owned(), count.to_string()];
        let mut piped = Piped::start(&program, &arguments, &directory.path().join("errors"))?;
        let line = piped.hear().await?.context("the simulated brokers say how they are reached")?;
        let told: Vec<Value> = serde_json::from_str(&line)?;
        let all = (1..).zip(&told).map(cluster).collect::<Result<_>>()?;
        Ok(Self { all, piped, _errors: directory })
    }

    pub async fn end(self) -> Result<()> {
        let status = self.piped.end().await?;
        if !status.success() {
            bail!("the simulated brokers ended with {status}");
        }
        Ok(())
    }
}

/// The way into a cluster that [`serve_one`] told of.
pub fn cluster((number, told): (i64, &Value)) -> Result<Cluster> {
    let text = |field: &str| told[field].as_str().map(str::to_owned).context("it is told");
    let ports = told["ports"].as_array().context("there are ports")?;
    let broker = |(node_id, port): (i32, &Value)| {
        let port = port.as_u64().and_then(|port| port.try_into().ok()).context("it is a port")?;
        Ok(Broker::new(node_id, Endpoint::new(HOST, port)))
    };
    Ok(Cluster {
        instance: InstanceId(number),
        brokers: (1..).zip(ports).map(broker).collect::<Result<_>>()?,
        trust_pem: text("trust")?,
        identity: Identity {
            certificate_chain_pem: text("certificate")?,
            key_pem: Secret::new(text("key")?),
        },
    })
}

/// Runs so many clusters until its input ends.
pub async fn serve(count: usize) -> Result<()> {
    let mut told = Vec::new();
    for _ in 0..count {
        told.push(serve_one(BROKERS, Arc::new(without_topics)).await?);
    }
    println!("{}", Value::from(told));
    tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await?;
    Ok(())
}

/// Runs a cluster of so many brokers, for as long as this process runs.
pub async fn serve_one(brokers: i32, reply: Reply) -> Result<Value> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "simulated");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let issue = || {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new([HOST.to_owned()])?;
        anyhow::Ok((params.signed_by(&key, &authority)?, key))
    };
    let (certificate, key) = issue()?;
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone())?;
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build()?;
    let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
    let config = ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate.der().clone()], key)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let mut ports = Vec::new();
    for node in 1..=brokers {
        let listener = TcpListener::bind((HOST, 0)).await?;
        ports.push(listener.local_addr()?.port());
        tokio::spawn(accept(listener, acceptor.clone(), node, Arc::clone(&reply)));
    }
    let (certificate, key) = issue()?;
    Ok(json!({
        "trust": authority.pem(), "certificate": certificate.pem(), "key": key.serialize_pem(),
        "ports": ports,
    }))
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, node: i32, reply: Reply) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, reply) = (acceptor.clone(), Arc::clone(&reply));
        tokio::spawn(async move {
            // Whoever connects sees that it ends.
            let _ = answer(stream, acceptor, node, &reply).await;
        });
    }
}

async fn answer(stream: TcpStream, acceptor: TlsAcceptor, node: i32, reply: &Reply) -> Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    loop {
        let length = stream.read_i32().await?;
        let mut request = vec![0; usize::try_from(length)?];
        stream.read_exact(&mut request).await?;
        let mut rest = request.as_slice();
        let header = decode_request_header_from_buffer(&mut rest)?;
        let (key, version) = (header.request_api_key, header.request_api_version);
        let body = reply(&Asked { node, key, version, body: rest.into() })?;
        let mut answer = Vec::new();
        let response = ResponseHeader::default().with_correlation_id(header.correlation_id);
        let api_key = ApiKey::try_from(key).map_err(|()| anyhow!("there is no call {key}"))?;
        response.encode(&mut answer, api_key.response_header_version(version))?;
        answer.extend(body);
        stream.write_i32(i32::try_from(answer.len())?).await?;
        stream.write_all(&answer).await?;
        stream.flush().await?;
    }
}

/// A broker that has nothing.
fn without_topics(asked: &Asked) -> Result<Vec<u8>> {
    if asked.key == ApiKey::ApiVersions as i16 {
        let metadata = (ApiKey::Metadata, MetadataRequest::VERSIONS.max);
        return encode(asked, &speaks(&[metadata]));
    }
    encode(asked, &MetadataResponse::default())
}

/// The answer of a broker that knows these calls, up to these versions.
pub fn speaks(calls: &[(ApiKey, i16)]) -> ApiVersionsResponse {
    let call = |(key, most): &(ApiKey, i16)| {
        ApiVersion::default().with_api_key(*key as i16).with_max_version(*most)
    };
    ApiVersionsResponse::default().with_api_keys(calls.iter().map(call).collect())
}

pub fn encode(asked: &Asked, answer: &impl Encodable) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    answer.encode(&mut bytes, asked.version)?;
    Ok(bytes)
}
