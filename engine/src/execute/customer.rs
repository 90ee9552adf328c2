//! Letting the customer in: credentials, rights, and a login as proof.
//!
//! Kafka keeps no fence: a worker that stood still after its look at the lease writes
//! late, and is not refused. What protects is that a late write is the write that was
//! made before: rights are added, and password and settings are read from the
//! row that all workers read. Only a worker that stood still while they were changed,
//! and its lease was taken, writes what was before. It finds its lease lost right
//! after that, and has the worker that owns the instance by then write once more. One
//! that dies between the two leaves what was before, until the password or a setting
//! is changed again. Nor can it reach another cluster that has the addresses of a
//! deleted one by now: it trusts and is trusted by the authority of its own instance
//! alone.

use crate::pass::{Done, Pass};
use crate::plan::sizing;
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use cloud::Remedy;
use futures::future::try_join_all;
use kafka::client::Remedy::Retry;
use kafka::client::settings::differing;
use kafka::client::{Broker, Changes, Cluster, Login, Mechanism, made};
use kafka::{PLACEHOLDER_USER, rights, settings};
use model::Reason;
use model::condition::since_when;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use store::{authorities, instances, leases};

const PAUSE: Duration = Duration::from_millis(10);

impl Engine {
    pub(super) async fn set_credentials(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Done, PassError> {
        let instance = &world.instance;
        let cluster = self.reach.cluster(instance.id, &world.running_first()).await?;
        self.look_at_lease(pass).await?;
        let nobody = self.entropy.password();
        let users = [(PLACEHOLDER_USER, &nobody), (&*instance.username, &instance.password)];
        let chosen = chosen(world);
        pass.kafka_written.store(true, Ordering::Relaxed);
        let (users, acls, settings) = tokio::join!(
            self.reach.admin().set_scram_users(&cluster, &users),
            self.set_rights(&cluster, world),
            self.set(&cluster, &chosen),
        );
        if let Err(error) = made(users).and(made(acls)).and(made(settings)) {
            return Ok(Done::Failed { reason: error.to_string(), remedy: Remedy::Retry });
        }
        if let Err(error) = self.slow_or_let_go(pass, world, &cluster).await? {
            return Ok(Done::Failed { reason: error.to_string(), remedy: Remedy::Retry });
        }
        let noted = self.note(pass, world, |progress| {
            progress.credentials_set = true;
            progress.anonymous_let_in = world.lets_anonymous_in();
            progress.kafka_observed = instance.kafka_generation;
        });
        let done = noted.await?;
        // Written under the lease, so no other worker has written since.
        pass.kafka_written.store(false, Ordering::Relaxed);
        Ok(done)
    }

    async fn set_rights(
        &self,
        cluster: &Cluster,
        world: &World,
    ) -> Result<(), kafka::client::Error> {
        let admin = self.reach.admin();
        let mut given = rights::of_default_user(&world.instance.username);
        if world.lets_anonymous_in() {
            given.extend(rights::of_anonymous());
        } else if world.instance.progress.anonymous_let_in {
            admin.remove_acls(cluster, rights::ANONYMOUS).await?;
        }
        admin.add_acls(cluster, &given).await
    }

    /// What was written into Kafka after another worker took the instance may be older
    /// than what that one has written: it is to write once more. The lease is not ours,
    /// so this is not guarded by it.
    pub(crate) async fn see_to_late_write(&self, pass: &Pass) -> Result<(), PassError> {
        if !pass.kafka_written.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let now = self.clock.now();
        if leases::holds(&mut self.store.reader(), &pass.lease, now).await? {
            return Ok(());
        }
        let mut work = self.store.begin().await?;
        instances::raise_kafka_generation(&mut work, pass.lease.instance_id, now).await?;
        work.commit().await?;
        Ok(())
    }

    /// What the customer chose for all brokers, if anything, and only what they don't
    /// have: told of `min.insync.replicas`, be it the same, Kafka forgets who may lead
    /// the partitions that have no leader, and these stay without one.
    async fn set(&self, cluster: &Cluster, chosen: &Changes) -> Result<(), kafka::client::Error> {
        if chosen.is_empty() {
            return Ok(());
        }
        let settings = self.reach.admin().settings();
        let changes = differing(&settings.describe_settings(cluster).await?, chosen);
        if changes.is_empty() {
            return Ok(());
        }
        settings.change_settings(cluster, &changes).await
    }

    /// Ready means that a customer can log in: so we do, as the customer would, by every
    /// mechanism on the first server and by the last one on each of the others, side by side.
    /// Brokers read what was written in the order it was written in: one that knows a user
    /// by the last mechanism knows all of the rest.
    pub(super) async fn check_login(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let deadline = Instant::now() + self.settings.login_patience;
        let logins = self.logins(world).await?;
        let tries = logins.iter().map(|login| self.log_in(login, deadline));
        if let Err(error) = try_join_all(tries).await {
            return Ok(Done::Failed { reason: error.to_string(), remedy: Remedy::Retry });
        }
        let now = self.clock.now();
        self.note(pass, world, |progress| {
            progress.ready_at = Some(now);
            progress.observed_generation = world.reachable();
            let running = vec![Reason::Running.into()];
            progress.conditions = since_when(running, &progress.conditions, now);
        })
        .await
    }

    /// Tries for as long as it may succeed within moments.
    async fn log_in(&self, login: &Login, deadline: Instant) -> Result<(), kafka::client::Error> {
        while let Err(error) = self.reach.admin().check_login(login).await {
            if Instant::now() >= deadline || !may_pass(&error) {
                return Err(error);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn logins(&self, world: &World) -> Result<Vec<Login>, PassError> {
        let instance = &world.instance;
        let mut reader = self.store.reader();
        let trust = authorities::customers_root(&mut reader, instance.id).await?;
        let trust_pem = trust.unwrap_or_default();
        // A broker that hangs while its cluster starts keeps customers from none of the
        // others; the first login of all needs every server.
        let was_in = world.was_ready();
        let answers = |view: &&ServerView| !(was_in && world.is_unresponsive(view));
        let running = world.servers.iter().filter(|view| view.is_up()).filter(answers);
        let mut logins = Vec::new();
        for (at, view) in running.enumerate() {
            let passed_over = if at == 0 { 0 } else { Mechanism::ALL.len() - 1 };
            logins.extend(Mechanism::ALL.into_iter().skip(passed_over).map(|mechanism| Login {
                instance: instance.id,
                brokers: vec![Broker::sasl_scram(&view.server)],
                trust_pem: trust_pem.clone(),
                username: instance.username.clone(),
                password: instance.password.clone(),
                mechanism,
            }));
        }
        Ok(logins)
    }
}

/// What Kafka is to hold of the customer's settings. While servers join and leave, min ISR is
/// what suits those that are there by now.
fn chosen(world: &World) -> Changes {
    let mut chosen = settings::in_kafka(&world.instance.settings);
    if let Some(demand) = chosen.get_mut(settings::MIN_IN_SYNC) {
        let present = sizing::present_min_isr(&world.instance, world.resize.as_ref());
        *demand = Some(present.to_string());
    }
    chosen
}

/// Whether the login may succeed within moments: the broker opens its listener,
/// or has not heard of the user yet.
fn may_pass(error: &kafka::client::Error) -> bool {
    error.remedy() == Retry || matches!(error, kafka::client::Error::WrongPassword { .. })
}
