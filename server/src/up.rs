//! `castellan up`: from nothing to a cluster, and back to it the next time.

use crate::config::{Config, DatabaseArgs};
use crate::control_plane::{ControlPlane, Running};
use crate::data_dir::DataDir;
use crate::listen::ListenArgs;
use crate::stage::Stage;
use crate::{account, prepare, signals};
use anyhow::{Result, bail};
use clap::Args;
use client::Client;
use model::{KafkaVersion, Secret};
use std::path::PathBuf;
use std::time::Duration;
use wire::customer::{CreateInstance, Instance};

const REGION: &str = "local::this-machine";
const LOOK: Duration = Duration::from_millis(50);

#[derive(Args)]
pub struct UpArgs {
    /// The data directory; made if it is not there
    #[arg(long, default_value_os_t = DataDir::default_path())]
    data: PathBuf,
    /// Plan of the first cluster
    #[arg(long, default_value = "mouse-1")]
    plan: String,
    /// Kafka version of the first cluster [default: the newest]
    #[arg(long)]
    kafka_version: Option<KafkaVersion>,
    /// Only start the control plane
    #[arg(long)]
    no_cluster: bool,
    /// E-mail of the first account
    #[arg(long, default_value = "you@localhost")]
    email: String,
    /// A Java home to use instead of the newest that fits
    #[arg(long)]
    java: Option<PathBuf>,
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    listen: ListenArgs,
    /// Stop the control plane once everything is ready; clusters go on running
    #[arg(long)]
    detach: bool,
}

pub async fn run(args: UpArgs) -> Result<()> {
    let mut config = Config::load(args.config.as_deref())?;
    args.database.apply(&mut config);
    args.listen.apply(&mut config);
    if args.java.is_some() {
        config.local.java.clone_from(&args.java);
    }
    let version = args.kafka_version.unwrap_or(config.catalogue()?.newest_kafka());
    let data = DataDir::new(&args.data)?;

    eprintln!("Castellan {}", env!("CARGO_PKG_VERSION"));
    let stage = Stage::begin("control plane");
    let running = ControlPlane::start(&data, config.clone()).await?;
    let key = first_account(&running, &data, &args.email).await?;
    stage.done(&running.endpoints.customer);

    let outcome = cluster(&args, &config, &running, &key, version).await;
    match outcome {
        Ok(instance) => summary(&running, &data, &key, instance.as_ref()),
        Err(error) => {
            running.stop().await;
            return Err(error);
        }
    }
    if !args.detach {
        eprintln!("\nCtrl-C stops the control plane; clusters go on running.");
        signals::stop_asked().await;
        eprintln!();
    }
    running.stop().await;
    eprintln!(
        "The control plane has stopped. Clusters go on running; `castellan down{}` stops them.",
        data_flag(&data)
    );
    Ok(())
}

/// The key of the person who runs this. It is saved before an account has it,
/// so that no crash can lose it.
async fn first_account(running: &Running, data: &DataDir, email: &str) -> Result<Secret> {
    let key = data.load_customer_key()?;
    let mut reader = running.app.store().reader();
    if store::apikeys::find(&mut reader, &key).await?.is_some() {
        return Ok(key);
    }
    if !store::accounts::list(&mut reader).await?.is_empty() {
        bail!(
            "the key in {} is no longer valid; put a valid customer key there, or remove the \
             file and make a key with `castellan account create`",
            data.customer_key().display()
        );
    }
    account::create(&running.app, "Castellan", email, key.clone()).await?;
    Ok(key)
}

async fn cluster(
    args: &UpArgs,
    config: &Config,
    running: &Running,
    key: &Secret,
    version: KafkaVersion,
) -> Result<Option<Instance>> {
    let client = Client::new(&running.endpoints.customer.parse()?, key.clone())?;
    let present = client.instances().await?;
    if args.no_cluster && present.is_empty() {
        return Ok(None);
    }
    let id = if let Some(first) = present.first() {
        first.id
    } else {
        prepare::kafka(config, version).await?;
        let create = CreateInstance {
            name: "first".into(),
            plan: args.plan.clone(),
            region: REGION.into(),
            kafka_version: Some(version.to_string()),
            ..CreateInstance::default()
        };
        client.create_instance(&create).await?.id
    };
    wait_until_ready(&client, id).await.map(Some)
}

async fn wait_until_ready(client: &Client, id: i64) -> Result<Instance> {
    let stage = Stage::begin("cluster");
    loop {
        let instance = client.instance(id).await?;
        if instance.ready && instance.status == "running" {
            let name = &instance.entry.name;
            stage.done(&format!("{name} (id {id}, Kafka {})", instance.kafka_version));
            return Ok(instance);
        }
        stage.say(instance.status);
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = signals::stop_asked() => bail!("stopped before the cluster was ready; `castellan up` goes on"),
        }
    }
}

fn summary(running: &Running, data: &DataDir, key: &Secret, instance: Option<&Instance>) {
    let key = key.expose();
    let customer = &running.endpoints.customer;
    println!("\nCustomer API   {customer}");
    println!("Instance API   {}", running.endpoints.instance);
    println!("Customer key   {key}   (also in {})", data.customer_key().display());
    println!("\nTry it:");
    println!("  curl -u :{key} {customer}/api/instances");
    let Some(instance) = instance else { return };
    let id = instance.entry.id;
    let ca = format!("curl -fsS -u :{key} {customer}/api/instances/{id}/ca/ca_cert.pem");
    let kcat = format!(
        "kcat -b {} -X security.protocol=SASL_SSL -X sasl.mechanisms=SCRAM-SHA-256 \
         -X sasl.username={} -X sasl.password={} -X ssl.ca.pem=\"$({ca})\" -t hello",
        instance.brokers,
        instance.username,
        instance.password.expose()
    );
    println!("  echo hello | {kcat} -P");
    println!("  {kcat} -C -e");
}

fn data_flag(data: &DataDir) -> String {
    if data.path() == DataDir::default_path() {
        return String::new();
    }
    format!(" --data {}", data.path().display())
}
