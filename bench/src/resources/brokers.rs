//! Brokers of many clusters that only say what they speak and that they have no
//! topics: in a process of their own, so that what they take is not counted.
//!
//! That process is this program again. It says on its output how the clusters are
//! reached, and ends with its input.

use anyhow::{Context, Result, bail};
use host::Piped;
use kafka::Endpoint;
use kafka::client::{Broker, Cluster, Identity};
use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::{
    ApiKey, ApiVersionsResponse, MetadataRequest, MetadataResponse, ResponseHeader,
};
use kafka_protocol::protocol::{
    Encodable, HeaderVersion, Message, decode_request_header_from_buffer,
};
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
const BROKERS: usize = 3;

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

fn cluster((number, told): (i64, &Value)) -> Result<Cluster> {
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
        told.push(serve_one().await?);
    }
    println!("{}", Value::from(told));
    tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await?;
    Ok(())
}

async fn serve_one() -> Result<Value> {
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
    for _ in 0..BROKERS {
        let listener = TcpListener::bind((HOST, 0)).await?;
        ports.push(listener.local_addr()?.port());
        tokio::spawn(accept(listener, acceptor.clone()));
    }
    let (certificate, key) = issue()?;
    Ok(json!({
        "trust": authority.pem(), "certificate": certificate.pem(), "key": key.serialize_pem(),
        "ports": ports,
    }))
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor) {
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // Whoever connects sees that it ends.
            let _ = answer(stream, acceptor).await;
        });
    }
}

async fn answer(stream: TcpStream, acceptor: TlsAcceptor) -> Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    loop {
        let length = stream.read_i32().await?;
        let mut request = vec![0; usize::try_from(length)?];
        stream.read_exact(&mut request).await?;
        let header = decode_request_header_from_buffer(&mut request.as_slice())?;
        let (key, version) = (header.request_api_key, header.request_api_version);
        let correlation = header.correlation_id;
        let body = if key == ApiKey::ApiVersions as i16 {
            let metadata = ApiVersion::default()
                .with_api_key(ApiKey::Metadata as i16)
                .with_max_version(MetadataRequest::VERSIONS.max);
            let spoken = ApiVersionsResponse::default().with_api_keys(vec![metadata]);
            encode(correlation, version, &spoken)?
        } else {
            encode(correlation, version, &MetadataResponse::default())?
        };
        stream.write_i32(i32::try_from(body.len())?).await?;
        stream.write_all(&body).await?;
        stream.flush().await?;
    }
}

fn encode<T: Encodable + HeaderVersion>(
    correlation: i32,
    version: i16,
    answer: &T,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let header = ResponseHeader::default().with_correlation_id(correlation);
    header.encode(&mut bytes, T::header_version(version))?;
    answer.encode(&mut bytes, version)?;
    Ok(bytes)
}
