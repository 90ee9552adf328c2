//! `castellan up`: from nothing to a cluster, and back to it the next time.

use crate::config::{Config, Network};
use crate::control_plane::{ControlPlane, Running};
use crate::data_dir::DataDir;
use crate::settings::SettingsArgs;
use crate::stage::Stage;
use crate::{first_account, host_audit, kcat, prepare, signals};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use client::Client;
use kafka::{java, versions};
use model::{ConditionKind, KafkaVersion, Secret};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use wire::customer::{Condition, CreateInstance, Instance};

const REGION: &str = "local::this-machine";
const LOOK: Duration = Duration::from_millis(50);
/// Looks at a cluster at rest, until that is no word of the last run: two seconds.
const SETTLED: u32 = 40;

#[derive(Args)]
pub struct UpArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Plan of the first cluster; mouse-1 is one server, for small machines
    #[arg(long, default_value = "mouse-3")]
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
    /// Stop the control plane once everything is ready; clusters go on running
    #[arg(long)]
    detach: bool,
}

pub async fn run(args: UpArgs) -> Result<()> {
    let mut config = args.settings.config()?;
    if args.java.is_some() {
        config.local.java.clone_from(&args.java);
    }
    config.local.network.get_or_insert(Network::Best);
    let data = args.settings.data()?;
    let version = check_order(&args, &config).await?;

    eprintln!("Castellan {}", env!("CARGO_PKG_VERSION"));
    let stage = Stage::begin("control plane");
    let down = host_audit::at_rest(&data.host());
    let mut running = ControlPlane::start(&data, config.clone()).await?;
    running.remarks.extend(host_audit::note_up(running.app.store(), down).await);
    let key = first_account::key(&running.app, &data, &args.email).await?;
    stage.done(&running.endpoints.customer);
    for remark in &running.remarks {
        eprintln!("  ! {remark}");
    }

    let outcome = tokio::select! {
        outcome = cluster(&args, &config, &running, &data, &key, version) => outcome,
        // What is under way, such as a download, ends with this.
        () = signals::stop_asked() => {
            Err(anyhow!("stopped before the cluster was ready; `castellan up` goes on"))
        }
    };
    match outcome {
        Ok(instance) => summary(&running, &data, &key, instance.as_ref())?,
        Err(error) => {
            running.stop().await;
            return Err(error);
        }
    }
    if !args.detach {
        eprintln!("\nCtrl-C stops the control plane; clusters go on running.");
        tokio::select! {
            () = signals::stop_asked() => eprintln!(),
            () = running.broken() => eprintln!("A part of the control plane ended by itself."),
        }
    }
    running.stop().await;
    eprintln!(
        "The control plane has stopped. Clusters go on running; `castellan down{}` stops them.",
        data_flag(&data)
    );
    Ok(())
}

/// What can be known to be wrong is said before anything is made.
async fn check_order(args: &UpArgs, config: &Config) -> Result<KafkaVersion> {
    let catalogue = config.catalogue()?;
    let version = args.kafka_version.unwrap_or(catalogue.newest_kafka());
    if args.no_cluster {
        return Ok(version);
    }
    let Some(release) =
        versions::release(version).filter(|_| catalogue.kafka_versions().contains(&version))
    else {
        let known: Vec<String> =
            catalogue.kafka_versions().iter().map(ToString::to_string).collect();
        bail!("Kafka {version} is not on offer; choose one of {}", known.join(", "));
    };
    if catalogue.plan(&args.plan).is_none() {
        let known: Vec<&str> = catalogue.plans().iter().map(|plan| plan.name.0.as_str()).collect();
        bail!("there is no plan {}; choose one of {}", args.plan, known.join(", "));
    }
    java::find(release.java(), config.local.java.as_deref()).await?;
    Ok(version)
}

async fn cluster(
    args: &UpArgs,
    config: &Config,
    running: &Running,
    data: &DataDir,
    key: &Secret,
    version: KafkaVersion,
) -> Result<Option<Instance>> {
    let url = running.endpoints.customer.parse()?;
    let client = match &config.listen.tls_cert {
        // The chain may end in an authority that only its owner knows.
        Some(chain) => Client::with_authority(&url, key.clone(), &fs::read_to_string(chain)?)?,
        None => Client::new(&url, key.clone())?,
    };
    let present = client.instances().await?;
    if args.no_cluster && present.is_empty() {
        return Ok(None);
    }
    let id = if let Some(first) = present.first() {
        first.id
    } else {
        prepare::kafka(config, version, running.trainer).await?;
        let create = CreateInstance {
            name: "first".into(),
            plan: args.plan.clone(),
            region: REGION.into(),
            kafka_version: Some(version.to_string()),
            ..CreateInstance::default()
        };
        client.create_instance(&create).await?.id
    };
    wait_until_ready(&client, id, data).await.map(Some)
}

/// Until the cluster is ready, or rests in a way that no waiting ends.
async fn wait_until_ready(client: &Client, id: i64, data: &DataDir) -> Result<Instance> {
    let stage = Stage::begin("cluster");
    let mut resting = 0;
    loop {
        let instance = client.instance(id).await?;
        if instance.ready && all_run(&instance.conditions) {
            let name = &instance.entry.name;
            stage.done(&format!("{name} (id {id}, Kafka {})", instance.kafka_version));
            if !instance.conditions.iter().any(|it| it.kind == ConditionKind::Running) {
                eprintln!("  ! {}", instance.status);
            }
            return Ok(instance);
        }
        let rest = at_rest(&instance.conditions);
        resting = rest.map_or(0, |_| resting + 1);
        if let Some(rest) = rest.filter(|_| resting >= SETTLED) {
            drop(stage);
            let (name, status) = (&instance.entry.name, &instance.status);
            let goes_on = goes_on(rest, id, &data_flag(data));
            eprintln!("  ! {name} (id {id}): {status}; {goes_on}");
            return Ok(instance);
        }
        stage.say(instance.status);
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether all servers run as they should, as far as anybody knows: brokers run on without
/// their agents.
fn all_run(conditions: &[Condition]) -> bool {
    let is_fine = |it: &Condition| match it.kind {
        ConditionKind::Running | ConditionKind::DiskNearlyFull | ConditionKind::Unreachable => true,
        ConditionKind::Stopped => it.server.is_some(),
        _ => false,
    };
    !conditions.is_empty() && conditions.iter().all(is_fine)
}

/// Why a cluster stays as it is until a person does something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AtRest {
    Stopped,
    Paused,
    /// Servers are, and nothing else is under way.
    Held,
}

fn at_rest(conditions: &[Condition]) -> Option<AtRest> {
    let has = |kind| conditions.iter().any(|it| it.kind == kind);
    let goes_on = conditions.iter().any(|it| it.kind.goes_on());
    match conditions {
        [one] if one.kind == ConditionKind::Stopped => Some(AtRest::Stopped),
        [one] if one.kind == ConditionKind::Paused => Some(AtRest::Paused),
        _ if has(ConditionKind::Held) && !goes_on => Some(AtRest::Held),
        _ => None,
    }
}

/// How a cluster at rest goes on.
fn goes_on(rest: AtRest, id: i64, data_flag: &str) -> String {
    match rest {
        AtRest::Stopped => format!("start it with: castellan instance start {id}{data_flag}"),
        AtRest::Paused => format!(
            "go on with: castellan engine resume{data_flag} (or, if it is paused alone, \
             castellan engine resume {id}{data_flag})"
        ),
        AtRest::Held => format!(
            "it goes on by itself once that is mended; look with: castellan instance watch \
             {id}{data_flag}"
        ),
    }
}

fn summary(
    running: &Running,
    data: &DataDir,
    key: &Secret,
    instance: Option<&Instance>,
) -> Result<()> {
    let key = key.expose();
    let customer = &running.endpoints.customer;
    println!("\nCustomer API   {customer}");
    println!("Instance API   {}", running.endpoints.instance);
    println!("Customer key   {key}   (also in {})", data.customer_key().display());
    println!("\nTry it:");
    println!("  curl -u :{key} {customer}/api/instances");
    let Some(instance) = instance else { return Ok(()) };
    let settings = kcat::write_settings(data, instance)?;
    let kcat = format!("kcat -F {} -t hello", settings.display());
    println!("  echo hello | {kcat} -P");
    println!("  {kcat} -C -e");
    Ok(())
}

fn data_flag(data: &DataDir) -> String {
    if data.path() == DataDir::default_path() {
        return String::new();
    }
    format!(" --data {}", data.path().display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Reason;

    fn wire_conditions(conditions: &[model::Condition]) -> Vec<Condition> {
        let document = |it: &model::Condition| Condition {
            kind: it.reason.kind(),
            server: it.server.map(|number| format!("a-0{number}")),
            since: None,
            message: String::new(),
        };
        conditions.iter().map(document).collect()
    }

    fn held(number: u32) -> model::Condition {
        Reason::Held { fault: "the disk is lost: it is not there".into() }.of(number)
    }

    fn starting() -> model::Condition {
        Reason::Starting { start: None, log: vec![] }.of(3)
    }

    #[test]
    fn whoever_comes_back_to_a_cluster_at_rest_is_told_what_goes_on() {
        let check = |condition: model::Condition, expected: &str| {
            let sentence =
                goes_on(at_rest(&wire_conditions(&[condition])).unwrap(), 1, " --data /d");
            assert!(sentence.contains(expected), "{sentence}");
        };
        check(Reason::Stopped.into(), "castellan instance start 1 --data /d");
        check(Reason::Paused.into(), "castellan engine resume --data /d");
        check(Reason::Paused.into(), "castellan engine resume 1 --data /d");
        check(held(1), "castellan instance watch 1");
    }

    #[test]
    fn a_cluster_rests_where_only_a_person_can_go_on() {
        let check = |conditions: &[model::Condition], expected: Option<AtRest>| {
            assert_eq!(at_rest(&wire_conditions(conditions)), expected, "{conditions:?}");
        };
        check(&[Reason::Stopped.into()], Some(AtRest::Stopped));
        check(&[Reason::Paused.into()], Some(AtRest::Paused));
        check(&[held(1)], Some(AtRest::Held));
        check(&[held(1), held(2)], Some(AtRest::Held));
        check(&[held(1), starting()], None);
        check(&[starting()], None);
        check(&[Reason::ClusterStopping { refused: None }.into()], None);
        check(&[Reason::ClusterStopping { refused: None }.of(1)], None);
        check(&[Reason::Created.into()], None);
        let step = "make the network".into();
        let failed = Reason::StepFailed { step, error: "no".into(), retry_after: Some(1) };
        check(&[failed.into()], None);
        check(&[Reason::Running.into()], None);
        check(&[Reason::Running.into(), Reason::Stopped.of(3)], None);
    }

    #[test]
    fn a_cluster_runs_though_an_agent_is_lost_and_not_while_something_is_waited_for() {
        let check = |conditions: &[model::Condition], expected: bool| {
            assert_eq!(all_run(&wire_conditions(conditions)), expected, "{conditions:?}");
        };
        let slowed = Reason::DiskNearlyFull.of(1);
        let lost = Reason::Unreachable.of(2);
        check(&[Reason::Running.into()], true);
        check(&[Reason::Running.into(), Reason::Stopped.of(3)], true);
        check(&[Reason::Running.into(), slowed.clone()], true);
        check(std::slice::from_ref(&lost), true);
        check(&[lost.clone(), slowed], true);
        check(&[lost, starting()], false);
        check(&[Reason::NotReportedYet.of(1)], false);
        check(&[Reason::ControlPlaneStarted.into()], false);
        check(&[held(1)], false);
        check(&[Reason::Paused.into()], false);
        check(&[Reason::Stopped.into()], false);
        check(&[], false);
    }
}
