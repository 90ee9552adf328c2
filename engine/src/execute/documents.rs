//! Steps that decide what a broker is started with and tell its agent.

use crate::desired;
use crate::pass::{Done, Pass};
use crate::plan::sizing;
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use cloud::Remedy;
use kafka::Endpoint;
use kafka::render::{self, BrokerSpec};
use kafka::settings;
use model::{Instance, Membership, Server};
use store::{Work, resizes, servers};
use wire::agent::{Desired, DesiredBroker};

impl Engine {
    /// Renders once and keeps the text: a newer Castellan that renders
    /// otherwise does not restart a running broker.
    pub(super) async fn render(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        let plan = self.plan_of(world)?;
        let server = &view.server;
        let release = kafka::versions::release(server.kafka_version)
            .ok_or(PassError::NoRelease(server.kafka_version))?;
        let mut listeners = server.listeners.clone();
        // A network of its own has a firewall before it, and it is open to that network alone.
        if !self.settings.plaintext && listeners.reached_at.is_none() {
            listeners.plaintext = None;
        }
        let rendered = render::render(&BrokerSpec {
            release,
            node_id: server.node_id,
            roles: server.roles.clone(),
            listeners: listeners.clone(),
            private_ip: server.private_ip.clone(),
            controllers: controllers(world),
            servers: world.instance.nodes,
            zone: server.zone.clone(),
            cores: plan.family.cores,
            memory_mb: plan.family.memory_gb * 1024,
            max_heap_mb: self.settings.max_heap_mb,
            shared: plan.shared(),
            settings: settings::at_start(&world.instance.settings),
        });
        let broker = DesiredBroker {
            kafka_version: server.kafka_version,
            properties: rendered.properties,
            logging_file: rendered.logging_file,
            logging: rendered.logging,
            jvm_flags: rendered.jvm_flags,
            config_hash: rendered.config_hash,
        };
        let text = serde_json::to_string(&broker).expect("plain data serialises");
        let mut work = self.guarded(pass).await?;
        if listeners != server.listeners {
            servers::set_listeners(&mut work, server, &listeners).await?;
        }
        servers::set_broker(&mut work, server.id, &text, render::RENDER_VERSION.into()).await?;
        note_rendered(&mut work, &world.instance, server).await?;
        work.commit().await?;
        Ok(Done::Progress)
    }

    pub(super) async fn publish(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        match desired::document(world, view, view.certificates()) {
            Some(document) => self.save_desired(pass, &document).await,
            None => Ok(nothing_to_tell(view)),
        }
    }

    pub(super) async fn save_desired(
        &self,
        pass: &Pass,
        document: &Desired,
    ) -> Result<Done, PassError> {
        let text = serde_json::to_string(document).expect("plain data serialises");
        let mut work = self.guarded(pass).await?;
        // A restart that was taken back since the look must not be told: the next
        // one would have the same number.
        if servers::launch(&mut work, document.server_id).await? < Some(document.launch) {
            return Ok(Done::Progress);
        }
        servers::set_desired(&mut work, document.server_id, document.revision, &text).await?;
        work.commit().await?;
        Ok(Done::Progress)
    }
}

/// A plan asks to tell only what is known; this ends a bug in it without a spin.
pub(super) fn nothing_to_tell(view: &ServerView) -> Done {
    let reason = format!("{} has no disk or no configuration on record", view.title());
    Done::Failed { reason, remedy: Remedy::GiveUp }
}

fn controllers(world: &World) -> Vec<Endpoint> {
    let stays = |view: &&ServerView| !view.server.is_leaving();
    let controllers = world.servers.iter().filter(|view| view.server.is_controller()).filter(stays);
    controllers.map(|view| Endpoint::from(&view.server.listeners.controller)).collect()
}

/// While the number of servers changes, one that was there before is rendered for the new number
/// whenever it starts for another reason, and has to be restarted if the change is undone.
async fn note_rendered(
    work: &mut Work,
    instance: &Instance,
    server: &Server,
) -> Result<(), PassError> {
    let resize = resizes::find(work, instance.id).await?;
    let Some(mut resize) = resize.filter(|_| server.membership != Membership::Joining) else {
        return Ok(());
    };
    let known = resize.memory.rendered_for.unwrap_or(resize.from);
    if !sizing::is_rendered_alike(known, instance.nodes) {
        resize.memory.rendered_for = Some(0);
        resizes::set_memory(work, instance.id, &resize.memory).await?;
    }
    Ok(())
}
