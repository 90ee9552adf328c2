//! What is sent, beside the events themselves: whose they are, and the points of a history.

use model::{InstanceId, LogEvent, Timestamp};
use std::borrow::Cow;
use std::sync::Arc;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    pub id: InstanceId,
    pub name: String,
    pub tags: Vec<String>,
}

impl Instance {
    /// Names need not be unique, so where there is room for one text alone the id is in it.
    pub fn label(&self) -> String {
        format!("{}-{}", self.name, self.id.0)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// Such as `mouse-01`.
    pub name: String,
    pub hostname: String,
}

impl From<&model::Instance> for Instance {
    fn from(instance: &model::Instance) -> Self {
        Self {
            id: instance.id,
            name: instance.name.as_str().to_owned(),
            tags: instance.tags.as_slice().to_vec(),
        }
    }
}

impl From<&model::Server> for Server {
    fn from(server: &model::Server) -> Self {
        let hostname = server.listeners.public_sasl_scram().advertised_host;
        Self { name: server.name.clone(), hostname }
    }
}

/// Where events come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    pub instance: Instance,
    pub server: Server,
}

/// What a series was at one time.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// Such as `castellan.kafka.messages_in_per_second`: at most 200 letters, digits, dots and
    /// underscores, which every system takes.
    pub name: Cow<'static, str>,
    /// As `model::Series::unit` has it.
    pub unit: &'static str,
    pub at: Timestamp,
    pub value: f64,
    pub server: Arc<Server>,
    /// The `topic` or the `group` that it is of, if it is of one.
    pub label: Option<(&'static str, Arc<str>)>,
}

/// Systems refuse what is too old, and order what they take.
pub trait Timed {
    fn at(&self) -> Timestamp;
    /// What can be written down as a number at all.
    fn is_finite(&self) -> bool;
}

impl Timed for LogEvent {
    fn at(&self) -> Timestamp {
        self.at
    }

    fn is_finite(&self) -> bool {
        true
    }
}

impl Timed for Point {
    fn at(&self) -> Timestamp {
        self.at
    }

    fn is_finite(&self) -> bool {
        self.value.is_finite()
    }
}
