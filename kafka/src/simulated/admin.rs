//! What a simulated cluster answers: the same promises, errors and delays as
//! the real client's.

use super::metadata::Topic;
use super::node::Node;
use super::state::State;
use super::{Fault, SimKafka};
use crate::Endpoint;
use crate::client::{
    Acl, Admin, Broker, BrokerView, Cluster, ClusterView, Created, Elected, Error, Groups, Limits,
    LogDir, LogReplica, Login, Mechanism, Messages, NewTopic, Placement, Quorum, Quotas, Settings,
    TopicPartition, TopicReplication, Topics, Users, Voters, graver, none_answered,
};
use async_trait::async_trait;
use model::Secret;

impl State {
    /// The broker that listens there, if it answers.
    pub(super) fn reach(&self, endpoint: &Endpoint, call: &str) -> Result<i32, Error> {
        let listens = |node: &&Node| [&node.spec.internal, &node.spec.sasl].contains(&endpoint);
        match self.nodes.values().find(listens) {
            Some(node) if node.works() => Ok(node.spec.id),
            Some(node) if node.frozen => Err(late(endpoint, call)),
            _ => Err(Error::Unreachable {
                endpoint: endpoint.clone(),
                reason: "refused the connection".into(),
            }),
        }
    }
}

fn late(endpoint: &Endpoint, call: &str) -> Error {
    let after = Limits::default().call;
    Error::Deadline { endpoint: endpoint.clone(), call: call.to_owned(), after }
}

/// One broker that answers, and the cluster behind it.
pub(super) struct Asked<'a> {
    pub state: &'a mut State,
    pub broker: i32,
    endpoint: &'a Endpoint,
    pub call: &'static str,
}

impl Asked<'_> {
    pub fn view(&mut self) -> std::sync::Arc<super::metadata::Metadata> {
        let now = self.state.now;
        self.state.nodes.get_mut(&self.broker).expect("it answers").view(now)
    }

    /// For what the broker hands on to the active controller, and waits until
    /// it has read the result.
    pub fn change<T>(
        &mut self,
        change: impl FnOnce(&mut State) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let changed = self.hand_on(change)?;
        self.until_read(changed)
    }

    /// Waits until the broker has read what was changed. One whose view is held has not by the
    /// end of that wait.
    pub fn until_read<T>(&mut self, changed: T) -> Result<T, Error> {
        if self.is_held() {
            let (endpoint, what) = (self.endpoint.clone(), format!("what {} made", self.call));
            return Err(Error::NotReadableYet {
                endpoint,
                what,
                after: Limits::default().readable,
            });
        }
        let metadata = self.state.metadata.clone();
        self.state.nodes.get_mut(&self.broker).expect("it answers").sees_all(&metadata);
        Ok(changed)
    }

    pub fn stale(&self, what: &str) -> Error {
        Error::Stale { endpoint: self.endpoint.clone(), what: what.to_owned() }
    }

    pub fn is_held(&self) -> bool {
        self.state.nodes.get(&self.broker).is_some_and(|node| node.is_held(self.state.now))
    }

    /// What the broker hands on to the active controller, without that wait.
    pub fn hand_on<T>(
        &mut self,
        change: impl FnOnce(&mut State) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if !self.state.is_led() {
            return Err(late(self.endpoint, self.call));
        }
        let changed = change(self.state);
        self.state.settle();
        changed
    }
}

impl SimKafka {
    /// Runs a call on one broker after another until one answers.
    pub(super) fn ask<T>(
        &self,
        call: &'static str,
        brokers: &[Broker],
        run: impl Fn(&mut Asked) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut state = self.state();
        state.calls += 1;
        let fault = state.faults.pop_front().flatten();
        let refused = "refused the connection";
        let first = brokers.first().ok_or(Error::NoBrokers)?.endpoint.clone();
        match fault {
            Some(Fault::Refused) => {
                return Err(Error::Unreachable { endpoint: first, reason: refused.into() });
            }
            Some(Fault::Slow) => return Err(late(&first, call)),
            Some(Fault::LostReply) | None => {}
        }
        let mut last = None;
        for Broker { endpoint, .. } in brokers {
            let answer = state
                .reach(endpoint, call)
                .and_then(|broker| run(&mut Asked { state: &mut state, broker, endpoint, call }));
            match answer {
                Err(error) if error.is_about_one_broker() => last = Some(graver(last, error)),
                _ if fault.is_some() => {
                    let reason = "closed the connection".to_owned();
                    let endpoint = endpoint.clone();
                    return Err(Error::Broken { endpoint, call: call.to_owned(), reason });
                }
                answer => return answer,
            }
        }
        Err(none_answered(last, brokers.len()))
    }
}

#[async_trait]
impl Admin for SimKafka {
    fn topics(&self) -> &dyn Topics {
        self
    }

    fn users(&self) -> &dyn Users {
        self
    }

    fn settings(&self) -> &dyn Settings {
        self
    }

    fn groups(&self) -> &dyn Groups {
        self
    }

    fn quotas(&self) -> &dyn Quotas {
        self
    }

    fn messages(&self) -> &dyn Messages {
        self
    }

    fn placement(&self) -> &dyn Placement {
        self
    }

    fn voters(&self) -> &dyn Voters {
        self
    }

    async fn set_scram_users(
        &self,
        cluster: &Cluster,
        users: &[(&str, &Secret)],
    ) -> Result<(), Error> {
        self.ask("AlterUserScramCredentials", &cluster.brokers, |asked| {
            asked.change(|state| {
                let users = users.iter().map(|(user, word)| ((*user).to_owned(), (*word).clone()));
                state.change().users.extend(users);
                Ok(())
            })
        })
    }

    async fn remove_scram_user(&self, cluster: &Cluster, user: &str) -> Result<(), Error> {
        self.ask("AlterUserScramCredentials", &cluster.brokers, |asked| {
            asked.change(|state| {
                state.change().users.remove(user);
                Ok(())
            })
        })
    }

    async fn describe_scram_user(
        &self,
        cluster: &Cluster,
        user: &str,
    ) -> Result<Vec<Mechanism>, Error> {
        self.ask("DescribeUserScramCredentials", &cluster.brokers, |asked| {
            let known = asked.view().users.contains_key(user);
            Ok(if known { Mechanism::ALL.to_vec() } else { Vec::new() })
        })
    }

    async fn add_acls(&self, cluster: &Cluster, acls: &[Acl]) -> Result<(), Error> {
        self.ask("CreateAcls", &cluster.brokers, |asked| {
            asked.change(|state| {
                let there = &mut state.change().acls;
                for acl in acls {
                    if !there.contains(acl) {
                        there.push(acl.clone());
                    }
                }
                Ok(())
            })
        })
    }

    async fn describe_acls(&self, cluster: &Cluster, principal: &str) -> Result<Vec<Acl>, Error> {
        self.ask("DescribeAcls", &cluster.brokers, |asked| {
            let view = asked.view();
            let theirs = |acl: &&Acl| acl.principal == principal;
            Ok(view.acls.iter().filter(theirs).cloned().collect())
        })
    }

    async fn remove_acls(&self, cluster: &Cluster, principal: &str) -> Result<(), Error> {
        self.ask("DeleteAcls", &cluster.brokers, |asked| {
            asked.change(|state| {
                state.change().acls.retain(|acl| acl.principal != principal);
                Ok(())
            })
        })
    }

    async fn create_topic(&self, cluster: &Cluster, topic: &NewTopic) -> Result<Created, Error> {
        self.ask("CreateTopics", &cluster.brokers, |asked| {
            match asked.hand_on(|state| state.create_topic(topic))? {
                Created::New => asked.until_read(Created::New),
                // Nothing was written that could be waited for.
                Created::AlreadyThere => Ok(Created::AlreadyThere),
            }
        })
    }

    async fn describe_cluster(&self, cluster: &Cluster) -> Result<ClusterView, Error> {
        self.ask("DescribeCluster", &cluster.brokers, |asked| {
            let view = asked.view();
            let nodes = &asked.state.nodes;
            let broker = |(id, it): (&i32, &super::metadata::Registration)| BrokerView {
                id: *id,
                endpoint: nodes[id].spec.internal.clone(),
                rack: nodes[id].rack.clone(),
                fenced: it.fenced,
            };
            Ok(ClusterView {
                cluster_id: "simulated-cluster-0000".into(),
                controller_id: asked.state.voting.leader,
                brokers: view.brokers.iter().map(broker).collect(),
            })
        })
    }

    async fn describe_quorum(&self, cluster: &Cluster) -> Result<Quorum, Error> {
        self.ask("DescribeQuorum", &cluster.brokers, |asked| match asked.state.voting.leader {
            Some(_) => Ok(asked.state.describe_quorum()),
            None => Err(late(asked.endpoint, asked.call)),
        })
    }

    async fn describe_replication(
        &self,
        cluster: &Cluster,
    ) -> Result<Vec<TopicReplication>, Error> {
        self.ask("Metadata", &cluster.brokers, |asked| {
            let view = asked.view();
            let topic = |(name, topic): (&String, &Topic)| TopicReplication {
                name: name.clone(),
                min_in_sync: view.min_in_sync(topic),
                partitions: topic
                    .partitions
                    .iter()
                    .enumerate()
                    .map(|(at, it)| it.view(at))
                    .collect(),
            };
            Ok(view.topics.iter().map(topic).collect())
        })
    }

    async fn describe_log_dirs(&self, cluster: &Cluster) -> Result<Vec<LogDir>, Error> {
        self.ask("DescribeLogDirs", &cluster.brokers, |asked| {
            let mut replicas = Vec::new();
            for ((topic, index), copies) in &asked.state.copies {
                if let Some(bytes) = copies.bytes(asked.broker) {
                    replicas.push(LogReplica {
                        topic: topic.clone(),
                        partition: i32::try_from(*index).expect("topics are small"),
                        bytes: i64::try_from(bytes).expect("logs are small"),
                        future: false,
                    });
                }
            }
            let own = asked.state.own_words(asked.broker);
            Ok(vec![LogDir {
                path: "disk/data".to_owned(),
                failed: false,
                total_bytes: own.total_bytes,
                usable_bytes: own.usable_bytes,
                replicas,
            }])
        })
    }

    async fn elect_preferred_leaders(
        &self,
        cluster: &Cluster,
        partitions: &[TopicPartition],
    ) -> Result<Elected, Error> {
        self.ask("ElectLeaders", &cluster.brokers, |asked| {
            asked.hand_on(|state| Ok(state.change().prefer(partitions)))
        })
    }

    async fn check_login(&self, login: &Login) -> Result<(), Error> {
        self.ask("SaslAuthenticate", &login.brokers, |asked| {
            if asked.view().users.get(&login.username) == Some(&login.password) {
                return Ok(());
            }
            Err(Error::WrongPassword {
                endpoint: asked.endpoint.clone(),
                username: login.username.clone(),
                reason: "Authentication failed".into(),
            })
        })
    }
}
