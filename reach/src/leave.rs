//! Whether a server may leave its cluster right now.

use crate::found::{Found, comes_first};
use crate::look::Asked;
use crate::{Error, Reach};
use kafka::safety::Need;
use model::condition::{FirstFew, Objection, Place};
use model::{InstanceId, Server, ServerId};
use store::{servers, tickets};

impl Reach {
    /// Why the rest of the cluster can't do without the server, on a fresh look
    /// at every broker; none if it can. Nobody leaves while another is missing or behind.
    ///
    /// A broker that hangs gives nobody anything, so whoever waits for it loses
    /// nothing by its end, also where the others could not do without it, or have no
    /// quorum to tell of. That takes two who find it silent: its own agent, on the
    /// same host and for three looks (`silent`), and we. Either alone may be who can't
    /// be reached. One that would stay away is not ended on that ground: it may yet go
    /// on by itself.
    pub async fn objection(
        &self,
        instance: InstanceId,
        leaving: ServerId,
        silent: bool,
    ) -> Result<Option<String>, Error> {
        let mut reader = self.store.reader();
        let servers = servers::list_bare(&mut reader, instance).await?;
        let lately = tickets::claimed(&mut reader, instance, self.clock.now()).await?;
        let Some(server) = servers.iter().find(|server| server.id == leaving) else {
            return Ok(Some("the server is gone".into()));
        };
        let need = Need::of(server);
        let asked = self.ask_all(instance, &servers).await?;
        if silent && need == Need::Returns && hangs_alone(&asked, &servers, &lately, server) {
            return Ok(None);
        }
        let look = match self.look_on(asked).await {
            Ok(look) => look,
            Err(Error::Kafka(error)) => {
                return Ok(Some(format!("no broker tells how the cluster is: {error}")));
            }
            Err(error) => return Err(error),
        };
        let mut objections = look.objections(server.node_id, need);
        let is_away = |other: &&Server| {
            other.id != leaving && !other.stopped && look.silent.contains(&other.node_id)
        };
        let away = servers.iter().filter(is_away);
        objections.extend(
            away.map(|other| Objection::Unresponsive { server: other.number, remedy: None }),
        );
        // Whoever shall not run itself is not waited for.
        objections.extend(look.lagging().into_iter().filter_map(|lag| {
            let of = servers.iter().find(|other| other.node_id == lag.node)?;
            let stays = of.id != leaving && !of.stopped;
            stays.then(|| lag.objection(Place::Server(of.number)))
        }));
        Ok((!objections.is_empty()).then(|| FirstFew::few(objections).to_string()))
    }
}

/// Whether a broker gives us nothing either, and nobody else comes first.
fn hangs_alone(asked: &Asked, servers: &[Server], lately: &[ServerId], leaving: &Server) -> bool {
    let others = servers.iter().filter(|server| server.id != leaving.id);
    let (controllers, others): (Vec<&Server>, Vec<&Server>) =
        others.partition(|server| server.is_controller());
    let found = |all: Vec<&Server>| -> Vec<Found> {
        all.into_iter().map(|server| Found::of(server, asked, lately)).collect()
    };
    asked.stuck.contains(&leaving.node_id)
        && !comes_first(&found(controllers), &found(others), leaving.is_controller())
}
