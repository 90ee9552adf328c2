//! Whether a server may leave its cluster right now, on a fresh look at every broker.

use crate::look::Asked;
use crate::{Error, Reach};
use kafka::safety::{Leaving, Member, Need, Standing, Verdict, may_stop};
use model::agent::Phase;
use model::condition::Objection;
use model::{InstanceId, Server, ServerId};
use store::{ServerRecord, servers, tickets};

impl Reach {
    /// Whether a server's broker may stop. `agent_finds_unresponsive`: it has not answered
    /// its own agent, on the same host, for three looks.
    pub async fn may_stop(
        &self,
        instance: InstanceId,
        leaving: ServerId,
        agent_finds_unresponsive: bool,
    ) -> Result<Verdict, Error> {
        let mut reader = self.store.reader();
        let records = servers::list(&mut reader, instance).await?;
        let released = tickets::claimed(&mut reader, instance, self.clock.now()).await?;
        let servers: Vec<Server> = records.iter().map(|record| record.server.clone()).collect();
        let Some(server) = servers.iter().find(|server| server.id == leaving) else {
            return Ok(Verdict::Wait(vec![Objection::Gone]));
        };
        let asked = self.ask_all(instance, &servers).await?;
        let others = records.iter().filter(|other| other.server.id != leaving);
        let member = |it: &ServerRecord| Member::new(&it.server, standing(it, &asked, &released));
        let others: Vec<Member> = others.map(member).collect();
        let both_agree = agent_finds_unresponsive && asked.timed_out.contains(&server.node_id);
        let leaving = Leaving {
            nodes: &[server.node_id],
            need: Need::for_stop(server),
            unresponsive: both_agree.then_some(server),
            others: &others,
        };
        // There may be no quorum to tell of while that broker is unresponsive.
        if both_agree && may_stop(None, &leaving).is_go() {
            return Ok(Verdict::Go);
        }
        match self.look_on(asked).await {
            Ok(look) => Ok(may_stop(Some(&look), &leaving)),
            Err(Error::Kafka(error)) => {
                Ok(Verdict::Wait(vec![Objection::LookFailed { error: error.to_string() }]))
            }
            Err(error) => Err(error),
        }
    }
}

/// By what we just saw. Of a broker that gives no answer its agent says more: for one that does
/// not stay up the planner does not wait either.
fn standing(record: &ServerRecord, asked: &Asked, released: &[ServerId]) -> Standing {
    let (server, node) = (&record.server, &record.server.node_id);
    let has_failed = || record.current_report().is_some_and(|it| it.phase == Phase::Failed);
    if asked.views.contains_key(node) {
        Standing::Works
    } else if server.wanted.is_stopped() || !asked.no_reply.contains(node) {
        Standing::Out
    } else if released.contains(&server.id) {
        Standing::Released
    } else if has_failed() {
        Standing::Failed
    } else if asked.timed_out.contains(node) {
        Standing::Unresponsive
    } else {
        Standing::Absent
    }
}
