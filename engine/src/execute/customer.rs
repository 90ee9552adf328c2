//! Letting the customer in: credentials, rights, and a login as proof.

use crate::pass::{Done, Pass};
use crate::rights;
use crate::world::World;
use crate::{Engine, PassError};
use cloud::Remedy;
use kafka::client::{Cluster, Endpoint, Login, Mechanism};
use model::Listener;
use std::time::Duration;
use store::{AuthorityKind, authorities};

/// A new user is known to every broker within moments.
const SPREADING: Duration = Duration::from_millis(100);

impl Engine {
    pub(super) async fn set_credentials(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Done, PassError> {
        let instance = &world.instance;
        let cluster = Cluster {
            brokers: endpoints(world, |listeners| &listeners.internal),
            trust_pem: world.trust.internal.clone(),
            identity: self.identity(instance.id).await?,
        };
        let rights = rights::of_default_user(&instance.username);
        let (user, acls) = tokio::join!(
            self.admin.set_scram_user(&cluster, &instance.username, &instance.password),
            self.admin.add_acls(&cluster, &rights),
        );
        if let Err(error) = user.and(acls) {
            return Ok(Done::Failed { reason: error.to_string(), remedy: Remedy::Retry });
        }
        self.note(pass, world, |progress| progress.credentials_set = true).await
    }

    /// Ready means that a customer can log in: so we do, as the customer would.
    pub(super) async fn check_login(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let instance = &world.instance;
        let mut reader = self.store.reader();
        let trust =
            authorities::certificate(&mut reader, instance.id, AuthorityKind::Server).await?;
        let login = Login {
            brokers: endpoints(world, |listeners| &listeners.sasl_scram),
            trust_pem: trust.unwrap_or_default(),
            username: instance.username.clone(),
            password: instance.password.clone(),
            mechanism: Mechanism::ScramSha256,
        };
        match self.admin.check_login(&login).await {
            Ok(()) => {
                let now = self.clock.now();
                self.note(pass, world, |progress| {
                    progress.ready_at = Some(now);
                    progress.observed_generation = world.instance.generation;
                    progress.status = "running".into();
                })
                .await
            }
            Err(error) => Ok(Done::Wait {
                reason: format!("waiting: the default user can't log in yet: {error}"),
                after: SPREADING,
            }),
        }
    }
}

fn endpoints(world: &World, listener: fn(&model::Listeners) -> &Listener) -> Vec<Endpoint> {
    world.servers.iter().map(|view| listener(&view.server.listeners).into()).collect()
}
