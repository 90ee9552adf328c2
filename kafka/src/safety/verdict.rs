//! May this broker stop now? Planner, claim and API ask here.
//!
//! A broker may stop only if every server that shall run does, no replica lags, and the
//! others keep quorum and minimum in sync. Exception: a broker that answers neither its own
//! agent nor the control plane may be restarted, because clients wait for it in vain and
//! lose nothing. Both must find so, since one alone may be cut off from it. The exception
//! does not hold for a broker that would stay down, nor while another server is on its way
//! back to a quorum.

use super::{Look, Need};
use model::condition::{Objection, Place};
use model::{Server, ServerRole};

/// Whether a broker may stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Go,
    Wait(Vec<Objection>),
}

impl Verdict {
    pub fn is_go(&self) -> bool {
        *self == Self::Go
    }

    /// Nothing: it may stop.
    pub fn objections(self) -> Vec<Objection> {
        match self {
            Self::Go => vec![],
            Self::Wait(objections) => objections,
        }
    }
}

impl From<Vec<Objection>> for Verdict {
    fn from(objections: Vec<Objection>) -> Self {
        if objections.is_empty() { Self::Go } else { Self::Wait(objections) }
    }
}

/// Who is to stop, beside whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaving<'a> {
    pub nodes: &'a [i32],
    pub need: Need,
    /// The server that is to stop, if its own agent and we find its broker unresponsive.
    pub unresponsive: Option<&'a Server>,
    /// Every other server that the stop may have to wait for.
    pub others: &'a [Member],
}

/// Another server of the cluster, as far as is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub node: i32,
    /// Its number.
    pub server: u32,
    pub roles: Vec<ServerRole>,
    pub shall_run: bool,
    pub standing: Standing,
}

impl Member {
    pub fn new(server: &Server, standing: Standing) -> Self {
        let is_mute = matches!(standing, Standing::Unresponsive | Standing::Absent);
        let is_out = is_mute && server.is_leaving();
        Self {
            node: server.node_id,
            server: server.number,
            roles: server.roles.clone(),
            // One that leaves may be gone for good, and is emptied without its help.
            shall_run: !server.wanted.is_stopped() && !server.is_leaving(),
            standing: if is_out { Standing::Out } else { standing },
        }
    }

    fn has(&self, role: ServerRole) -> bool {
        self.roles.contains(&role)
    }

    /// Whether its broker was asked, and is to answer.
    fn is_asked(&self) -> bool {
        use Standing::{Absent, Released, Unresponsive, Works};
        matches!(self.standing, Works | Unresponsive | Released | Absent)
    }
}

/// How a server is. An agent's report tells some of it, a look at the brokers the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    Works,
    /// Its broker runs and gives no answer.
    Unresponsive,
    /// Its broker was let stop a moment ago, and is back soon.
    Released,
    /// Its agent says that the broker stops.
    Stopping,
    /// Its agent says that the broker is on its way back.
    Returning,
    /// It shall run, and its agent says that it does not stay up.
    Failed,
    /// It shall run, can't be connected to, and nobody knows whether it comes back.
    Absent,
    /// It is not waited for: it was stopped, is no broker, or leaves and gives no answer.
    Out,
}

/// Without a look only a broker that is unresponsive may stop.
pub fn may_stop(look: Option<&Look>, leaving: &Leaving<'_>) -> Verdict {
    let Leaving { nodes, need, unresponsive, others } = *leaving;
    let is_to_wait = |server: &Server| must_wait_for_another(others, server.is_controller());
    if need == Need::ComeBack && unresponsive.is_some_and(|server| !is_to_wait(server)) {
        return Verdict::Go;
    }
    let Some(look) = look else { return Verdict::Wait(vec![Objection::NoReplicationKnown]) };
    let mut objections = look.missed(nodes, need);
    objections.extend(look.not_answering(others));
    let is_down = |other: &&Member| {
        use Standing::{Failed, Returning, Stopping};
        other.shall_run && matches!(other.standing, Stopping | Returning | Failed)
    };
    let down = others.iter().filter(is_down);
    objections.extend(down.map(|other| Objection::Down { server: other.server }));
    // Whoever shall not run is not waited for.
    let is_awaited = |node: i32| others.iter().any(|other| other.node == node && other.shall_run);
    objections.extend(look.lagging_replicas(others, is_awaited));
    objections.into()
}

impl Look {
    /// Those of these servers that run but don't answer, or whose controllers lack metadata.
    pub fn not_answering(&self, servers: &[Member]) -> Vec<Objection> {
        let objection = |it: &Member| {
            let server = it.server;
            if it.has(ServerRole::Broker) && !self.views.contains_key(&it.node) {
                return Some(Objection::Unresponsive { server, remedy: None });
            }
            let is_behind = self.is_controller_lagging(it.node);
            is_behind.then_some(Objection::ControllerLagging { server })
        };
        servers.iter().filter(|it| it.is_asked()).filter_map(objection).collect()
    }

    /// Replicas on these nodes that have not caught up.
    pub fn lagging_replicas(
        &self,
        servers: &[Member],
        counts: impl Fn(i32) -> bool,
    ) -> Vec<Objection> {
        let place = |node: i32| {
            let found = servers.iter().find(|it| it.node == node);
            found.map_or(Place::Node(node), |it| Place::Server(it.server))
        };
        let lagging = self.lagging().into_iter().filter(|lag| counts(lag.node));
        lagging.map(|lag| (place(lag.node), lag)).map(|(place, lag)| lag.objection(place)).collect()
    }
}

/// Whether another server is on its way out, or back to a quorum that is there, or that
/// forms with those that are on their way: then an unresponsive broker, which is a
/// controller itself or not, is not ended yet.
fn must_wait_for_another(others: &[Member], is_controller: bool) -> bool {
    use Standing::{Absent, Released, Returning, Stopping, Works};
    if others.iter().any(|it| it.standing == Stopping) {
        return true;
    }
    let controllers = || others.iter().filter(|it| it.has(ServerRole::Controller));
    let helps = |it: &&Member| matches!(it.standing, Works | Released | Returning);
    let voters = controllers().count() + usize::from(is_controller);
    let has_quorum = controllers().filter(helps).count() * 2 > voters;
    let is_awaited = |it: &Member| matches!(it.standing, Absent | Released | Returning);
    has_quorum && others.iter().any(is_awaited)
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
