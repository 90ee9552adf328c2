//! Certificates for a server's own keys. Names come from intent, never from
//! what the agent asks for.

use super::documents::nothing_to_tell;
use crate::desired::{self, INTERNAL, SERVER};
use crate::pass::{Done, Pass};
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use cloud::Remedy;
use model::{Server, SignedDuration};
use pki::{Leaf, Request, Usage};
use store::{AuthorityKind, servers};
use wire::agent::DesiredCertificate;

impl Engine {
    /// The next document asks the agent for keys of the next generation. Those in use stay
    /// in place until the new certificates have come.
    pub(super) async fn renew_certificates(
        &self,
        pass: &Pass,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        let Server { id, certificate_generation: present, .. } = view.server;
        let mut work = self.guarded(pass).await?;
        servers::raise_certificate_generation(&mut work, id, present).await?;
        work.commit().await?;
        tracing::info!(server = %id, generation = present + 1, "renewing certificates");
        Ok(Done::Progress)
    }

    pub(super) async fn issue_certificates(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        let mut certificates = view.certificates();
        for request in view.unanswered() {
            let Some((kind, leaf)) = self.leaf(world, view, &request.name) else { continue };
            let Ok(csr) = Request::parse(&request.csr) else {
                let reason = format!("{} sent a certificate request that is none", view.title());
                return Ok(Done::Failed { reason, remedy: Remedy::Retry });
            };
            let authority = self.reach.authority(world.instance.id, kind).await?;
            let issued = authority.issue(csr, &leaf, self.clock.now(), &*self.entropy)?;
            certificates.retain(|certificate| certificate.name != request.name);
            certificates.push(DesiredCertificate {
                name: request.name.clone(),
                generation: request.generation,
                // Clients have the root alone, and need the intermediate to get there.
                certificate: Some(issued + &authority.certificate),
            });
        }
        // The same order every time: the document is compared as a whole.
        certificates.sort_by(|a, b| a.name.cmp(&b.name));
        match desired::document(world, view, certificates) {
            Some(document) => self.save_desired(pass, &document).await,
            None => Ok(nothing_to_tell(view)),
        }
    }

    /// Which authority signs what for the key pair of this name. An agent of
    /// another release may want one that we don't know.
    fn leaf(&self, world: &World, view: &ServerView, name: &str) -> Option<(AuthorityKind, Leaf)> {
        let life = self.settings.certificate_life.duration();
        match name {
            INTERNAL => Some((AuthorityKind::Internal, internal_leaf(&view.server, life))),
            SERVER => Some((AuthorityKind::Server, server_leaf(world, &view.server, life))),
            _ => None,
        }
    }
}

/// Brokers and controllers are servers and clients of each other.
fn internal_leaf(server: &Server, valid_for: SignedDuration) -> Leaf {
    let listeners = &server.listeners;
    Leaf {
        common_name: format!("broker-{}", server.node_id),
        hosts: hosts([
            &listeners.internal.advertised_host,
            &listeners.controller.advertised_host,
            &server.private_ip,
        ]),
        usage: Usage::Both,
        valid_for,
    }
}

/// Good for every name and address that customers are told.
fn server_leaf(world: &World, server: &Server, valid_for: SignedDuration) -> Leaf {
    let listeners = &server.listeners;
    Leaf {
        common_name: server.name.clone(),
        hosts: hosts([
            &listeners.ssl.advertised_host,
            &listeners.sasl_scram.advertised_host,
            &listeners.public_sasl_scram().advertised_host,
            &world.instance.hostname,
            &server.private_ip,
        ]),
        usage: Usage::Server,
        valid_for,
    }
}

fn hosts<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for name in names {
        if !hosts.contains(name) {
            hosts.push(name.clone());
        }
    }
    hosts
}
