//! The points of an instance that are to be sent next.

use crate::minutes::{self, Batch};
use crate::schedule::MINUTE;
use crate::settled::{AgentState, Moment, is_settled};
use model::{InstanceId, ServerId, Timestamp};
use series::{Tier, align};
use ship::{Instance, Server};
use std::ops::Range;
use std::sync::Arc;
use store::{Reader, instances, servers};
use watch::metrics::{Sampled, first_sampled, heard};

/// An instance and its servers, as they are now.
pub struct View {
    pub instance: Instance,
    servers: Vec<(ServerId, Arc<Server>)>,
    /// In the same order.
    last_seen: Vec<Option<Timestamp>>,
}

/// What there is to send.
pub enum Gathered {
    Points(Batch),
    /// What was sampled up to then has no point that any system could take.
    Empty {
        through: i64,
    },
    /// Samples are on their way that would be missed.
    Unsettled,
    Nothing,
}

impl View {
    /// None if the instance is gone.
    pub async fn read(reader: &mut Reader, id: InstanceId) -> store::Result<Option<Self>> {
        let Some(instance) = instances::find(reader, id).await? else { return Ok(None) };
        let servers = servers::list_bare(reader, id).await?;
        Ok(Some(Self {
            instance: Instance::from(&instance),
            last_seen: servers.iter().map(|server| server.last_seen).collect(),
            servers: servers.iter().map(named).collect(),
        }))
    }

    /// The points of at most `most` minutes within a time, the first that have any. They are
    /// all of one window, so at most of ten minutes.
    pub async fn gather(
        &self,
        context: &watch::Context,
        range: Range<i64>,
        most: usize,
        at: Moment,
    ) -> store::Result<Gathered> {
        let ids: Vec<_> = self.servers.iter().map(|(id, _)| *id).collect();
        let sampled = first_sampled(context, &ids, range.start, range.end).await?;
        let Some(sampled) = sampled else { return Ok(Gathered::Nothing) };
        let agents = self.agent_states(context, &sampled);
        let first = agents.iter().flat_map(|agent| &agent.times);
        let first = first.filter(|it| range.contains(*it)).min().map(|it| align(*it, MINUTE));
        let Some(first) = first else { return Ok(Gathered::Nothing) };
        let end = range.end.min(sampled.start + Tier::Sampled.span());
        let mut settled = range.start;
        while settled < end && is_settled(settled, at, &agents) {
            settled += MINUTE;
        }
        if settled <= first {
            return Ok(Gathered::Unsettled);
        }
        let batch = minutes::batch(&sampled, &self.servers, &(first..settled), most);
        let is_empty = batch.points.is_empty();
        Ok(if is_empty { Gathered::Empty { through: settled } } else { Gathered::Points(batch) })
    }

    fn agent_states(&self, context: &watch::Context, sampled: &Sampled) -> Vec<AgentState> {
        let states =
            self.servers.iter().zip(&self.last_seen).map(|((id, _), last_seen)| AgentState {
                heard: heard(context, *id),
                last_seen: *last_seen,
                times: sampled.times(*id),
            });
        states.collect()
    }
}

fn named(server: &model::Server) -> (ServerId, Arc<Server>) {
    (server.id, Arc::new(Server::from(server)))
}
