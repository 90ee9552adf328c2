//! Clusters of three servers that run, written straight into the store together with
//! what their agents hold. Reports are on record already, so that nobody is woken by
//! the first one, and the servers are on a host of nobody, so no engine looks at them.

use super::agent::Agent;
use super::documents::Documents;
use super::identity::Authority;
use super::receiver::Receiver;
use super::samples::Meter;
use super::{ALARM_SECONDS, SERVERS, Scale};
use crate::api::plane::Plane;
use crate::api::rows::{disk, instance, open, owner, server, vpc};
use anyhow::{Context, Result};
use model::{
    AccountId, AlarmSpec, AlarmType, Clock as _, Entropy as _, HostId, Instance, InstanceId,
    InstanceProgress, OsEntropy, PlanName, Reason, RecipientOptions, RecipientType, Secret, Server,
    ServerId, SystemClock, Timestamp, VpcId,
};
use store::{
    NewRecipient, Store, Work, alarms, disks, installation, instances, recipients, servers, vpcs,
};

/// Of servers with one core, 2 GiB and 25 GB.
const PLAN: &str = "mouse-3";
/// Instances of one account, in one transaction.
const BATCH: usize = 100;

struct Rows<'a> {
    host: HostId,
    authority: Authority,
    documents: Documents,
    receiver: &'a Receiver,
}

/// Writes them all, and gives the agents of their servers.
pub async fn write(plane: &Plane, receiver: &Receiver, scale: &Scale) -> Result<Vec<Agent>> {
    let store = open(plane).await?;
    let written = write_all(&store, receiver, scale).await;
    store.close().await;
    written
}

async fn write_all(store: &Store, receiver: &Receiver, scale: &Scale) -> Result<Vec<Agent>> {
    let found = installation::find(&mut store.reader()).await?;
    let installation = found.context("a control plane that serves has set up its store")?;
    let rows = Rows {
        host: HostId(OsEntropy.uuid()),
        authority: Authority::of(&installation)?,
        documents: Documents::of(&installation)?,
        receiver,
    };
    let every = (scale.instances / scale.alarms).max(1);
    let mut agents = Vec::new();
    for first in (0..scale.instances).step_by(BATCH) {
        let mut work = store.begin().await?;
        let account = owner(&mut work, first).await?.account;
        for number in first..scale.instances.min(first + BATCH) {
            let is_alarmed = number.is_multiple_of(every);
            agents.extend(rows.instance(&mut work, account, is_alarmed).await?);
        }
        work.commit().await?;
    }
    Ok(agents)
}

impl Rows<'_> {
    async fn instance(
        &self,
        work: &mut Work,
        account: AccountId,
        is_alarmed: bool,
    ) -> Result<Vec<Agent>> {
        let now = SystemClock.now();
        let id = InstanceId(work.next("instances").await?);
        let vpc_id = VpcId(work.next("vpcs").await?);
        vpcs::insert(work, &vpc(vpc_id, account, id, now)).await?;
        let plan = PlanName(PLAN.into());
        let new = Instance { plan, nodes: SERVERS, ..instance(id, account, vpc_id, now) };
        instances::insert(work, &new).await?;
        instances::set_progress(work, id, &progress()).await?;
        instances::rest(work, id, 0, Timestamp::MAX).await?;
        self.alarms(work, id, is_alarmed).await?;
        let mut all = Vec::new();
        for number in 1..=SERVERS {
            let server_id = ServerId(work.next("servers").await?);
            all.push(Server {
                number,
                node_id: i32::try_from(number)?,
                name: format!("{}-0{number}", new.username),
                state: model::ServerState::Made,
                membership: model::Membership::Member,
                ..server(server_id, id, self.host, &new.username)
            });
        }
        let mut agents = Vec::new();
        for one in &all {
            let mut agent = self.server(work, &new, &all, one).await?;
            agent.sets_off = Some(id).filter(|_| is_alarmed && one.number == 1);
            agents.push(agent);
        }
        Ok(agents)
    }

    /// Those that every instance begins with, and of some one that is set off.
    async fn alarms(&self, work: &mut Work, id: InstanceId, is_alarmed: bool) -> Result<()> {
        for what in [
            AlarmSpec::first(AlarmType::Cpu, Some(90), Some(600)),
            AlarmSpec::first(AlarmType::Memory, Some(90), Some(600)),
            AlarmSpec::first(AlarmType::Disk, Some(5), Some(600)),
            AlarmSpec::first(AlarmType::Notice, None, None),
        ] {
            alarms::insert(work, id, what).await?;
        }
        if is_alarmed {
            let webhook = NewRecipient {
                kind: RecipientType::Webhook,
                value: Secret::new(self.receiver.url(id)),
                name: "bench".into(),
                options: RecipientOptions::default(),
            };
            recipients::insert(work, id, &webhook).await?;
            let what = AlarmSpec::first(AlarmType::Cpu, Some(90), Some(ALARM_SECONDS));
            alarms::insert(work, id, what).await?;
        }
        Ok(())
    }

    async fn server(
        &self,
        work: &mut Work,
        instance: &Instance,
        all: &[Server],
        one: &Server,
    ) -> Result<Agent> {
        servers::insert(work, one).await?;
        let disk = disk(instance.id, one.id);
        disks::insert(work, &disk).await?;
        let desired = self.documents.desired(instance, all, one, &disk)?;
        let text = serde_json::to_string(&desired)?;
        servers::set_desired(work, one.id, desired.revision, &text).await?;
        let report = serde_json::to_string(&self.documents.report(&desired))?;
        servers::set_report(work, one.id, &report, SystemClock.now()).await?;
        let (tls, key) = self.authority.tls(one.id, one.incarnation)?;
        servers::set_enrolled(work, one.id, &key, SystemClock.now()).await?;
        let (after, epoch) = (desired.revision, desired.store_epoch);
        Ok(Agent {
            server: one.id,
            incarnation: one.incarnation,
            meter: Meter { server: one.id.0, leads: one.number == 1 },
            report,
            desired: format!("/agent/v1/desired?after={after}&epoch={epoch}"),
            sets_off: None,
            tls,
        })
    }
}

/// It runs; but it is not ready, because no broker could be asked for consumer groups.
fn progress() -> InstanceProgress {
    InstanceProgress {
        observed_generation: 1,
        network_made: true,
        credentials_set: true,
        conditions: vec![Reason::Running.into()],
        ..InstanceProgress::default()
    }
}
