//! Settings of topics and of all brokers: DescribeConfigs and
//! IncrementalAlterConfigs.

use crate::client::error::check;
use crate::client::{Connection, Error, Setting, SettingKind};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_configs_response::DescribeConfigsResourceResult;
use kafka_protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use kafka_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use kafka_protocol::messages::{DescribeConfigsRequest, IncrementalAlterConfigsRequest};
use kafka_protocol::protocol::StrBytes;
use std::collections::{BTreeMap, HashMap};

const SET: i8 = 0;
const DELETE: i8 = 1;

/// What settings are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of<'a> {
    Topic(&'a str),
    /// One broker, which alone tells and changes them.
    Broker(i32),
    /// All brokers, as opposed to each.
    Brokers,
}

impl Of<'_> {
    /// Kafka's numbers for kinds of resources.
    fn number(self) -> i8 {
        match self {
            Of::Topic(_) => 2,
            Of::Broker(_) | Of::Brokers => 4,
        }
    }

    /// Where a setting of its own comes from, by Kafka's number for it.
    pub(crate) fn source(self) -> i8 {
        match self {
            Of::Topic(_) => 1,
            Of::Broker(_) => 2,
            Of::Brokers => 3,
        }
    }

    pub(crate) fn name(self) -> StrBytes {
        match self {
            Of::Topic(name) => StrBytes::from_string(name.to_owned()),
            Of::Broker(id) => StrBytes::from_string(id.to_string()),
            Of::Brokers => StrBytes::from_static_str(""),
        }
    }

    fn subject(self) -> String {
        match self {
            Of::Topic(name) => name.to_owned(),
            Of::Broker(id) => format!("broker {id}"),
            Of::Brokers => "all brokers".to_owned(),
        }
    }
}

/// Those settings of each that were set for it alone, by name. What does not
/// exist is not in the answer.
pub(crate) async fn describe(
    connection: &mut Connection,
    all: &[Of<'_>],
) -> Result<HashMap<String, Vec<Setting>>, Error> {
    let Some(first) = all.first() else { return Ok(HashMap::new()) };
    let own = |configs: &[DescribeConfigsResourceResult]| {
        let own = configs.iter().filter(|it| it.config_source == first.source());
        let setting = |it: &DescribeConfigsResourceResult| Setting {
            name: it.name.to_string(),
            value: value(it),
            kind: SettingKind::from_config_type(it.config_type),
        };
        let mut settings: Vec<Setting> = own.map(setting).collect();
        settings.sort_by(|a, b| a.name.cmp(&b.name));
        settings
    };
    ask(connection, all, None, own).await
}

/// The value that counts for something, whether set for it alone or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Selected {
    pub name: String,
    pub value: String,
    /// It is set for it alone.
    pub is_own: bool,
}

/// These settings of each, as far as the release has them, by name. All must be of one kind.
/// What does not exist is not in the answer.
pub(crate) async fn select(
    connection: &mut Connection,
    all: &[Of<'_>],
    names: &[&'static str],
) -> Result<HashMap<String, Vec<Selected>>, Error> {
    let Some(first) = all.first() else { return Ok(HashMap::new()) };
    let selected = |it: &DescribeConfigsResourceResult| Selected {
        name: it.name.to_string(),
        value: value(it),
        is_own: it.config_source == first.source(),
    };
    let names = names.iter().map(|name| StrBytes::from_static_str(name)).collect();
    ask(connection, all, Some(names), |configs| configs.iter().map(selected).collect()).await
}

/// What is read of the settings of each, by its name. Without names all settings are asked for.
async fn ask<T>(
    connection: &mut Connection,
    all: &[Of<'_>],
    names: Option<Vec<StrBytes>>,
    read: impl Fn(&[DescribeConfigsResourceResult]) -> T,
) -> Result<HashMap<String, T>, Error> {
    let resource = |of: &Of| {
        DescribeConfigsResource::default()
            .with_resource_type(of.number())
            .with_resource_name(of.name())
            .with_configuration_keys(names.clone())
    };
    let request =
        DescribeConfigsRequest::default().with_resources(all.iter().map(resource).collect());
    let answer = connection.call(&request).await?;
    let mut found = HashMap::new();
    for result in &answer.results {
        let name = result.resource_name.to_string();
        if result.error_code == ResponseError::UnknownTopicOrPartition.code() {
            continue;
        }
        check("DescribeConfigs", &name, result.error_code, result.error_message.as_ref())?;
        found.insert(name, read(&result.configs));
    }
    Ok(found)
}

fn value(config: &DescribeConfigsResourceResult) -> String {
    config.value.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// Settings to give; none: to take away.
pub type Changes = BTreeMap<String, Option<String>>;

/// Whether Kafka would take the changes, or has taken them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Try,
    Do,
}

pub(crate) async fn alter(
    connection: &mut Connection,
    of: Of<'_>,
    changes: &Changes,
    mode: Mode,
) -> Result<(), Error> {
    if changes.is_empty() {
        return Ok(());
    }
    let request = IncrementalAlterConfigsRequest::default()
        .with_resources(vec![resource(of, changes)])
        .with_validate_only(mode == Mode::Try);
    let answer = connection.call(&request).await?;
    answer.responses.iter().try_for_each(|result| outcome(of, result))
}

/// Changes settings of many, each wholly or not at all. In the order of `all`.
pub(crate) async fn alter_each(
    connection: &mut Connection,
    all: &[(Of<'_>, &Changes)],
) -> Result<Vec<Result<(), Error>>, Error> {
    let resources = all.iter().map(|(of, changes)| resource(*of, changes)).collect();
    let request = IncrementalAlterConfigsRequest::default().with_resources(resources);
    let answer = connection.call(&request).await?;
    let mut outcomes = Vec::with_capacity(all.len());
    for (of, _) in all {
        let is_its = |it: &&AlterConfigsResourceResponse| {
            it.resource_type == of.number() && it.resource_name == of.name()
        };
        let Some(result) = answer.responses.iter().find(is_its) else {
            let reason = format!("it says nothing of {}", of.subject());
            return Err(connection.malformed::<IncrementalAlterConfigsRequest>(reason));
        };
        outcomes.push(outcome(*of, result));
    }
    Ok(outcomes)
}

fn resource(of: Of<'_>, changes: &Changes) -> AlterConfigsResource {
    let change = |(name, value): (&String, &Option<String>)| {
        AlterableConfig::default()
            .with_name(StrBytes::from_string(name.clone()))
            .with_config_operation(if value.is_some() { SET } else { DELETE })
            .with_value(value.clone().map(StrBytes::from_string))
    };
    AlterConfigsResource::default()
        .with_resource_type(of.number())
        .with_resource_name(of.name())
        .with_configs(changes.iter().map(change).collect())
}

fn outcome(of: Of<'_>, result: &AlterConfigsResourceResponse) -> Result<(), Error> {
    let message = result.error_message.as_ref();
    check("IncrementalAlterConfigs", &of.subject(), result.error_code, message)
}
