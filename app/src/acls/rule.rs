//! One rule: Kafka's kinds by the contract's words, whatever their case. Pure.
//!
//! Whatever Kafka would refuse is refused here: of several rules it gives those
//! that are good and says no to the others. It takes every operation on every kind
//! of resource, also where that means nothing or, as with cluster actions, where brokers
//! grant it to nobody.

use crate::Problems;
use kafka::client::{Acl, Operation, PatternType, Permission, ResourceType};
use serde::{Deserialize, Serialize};

const CLUSTER: &str = "kafka-cluster";
const LITERAL: &str = "literal";
/// In bytes. What an ACL says is in an index of the store, and PostgreSQL takes no
/// entry of more than 2,700; names that exist have a fraction of that.
const LONGEST: usize = 2000;

const OPERATIONS: [(&str, Operation); 13] = [
    ("read", Operation::Read),
    ("write", Operation::Write),
    ("create", Operation::Create),
    ("delete", Operation::Delete),
    ("alter", Operation::Alter),
    ("describe", Operation::Describe),
    ("clusteraction", Operation::ClusterAction),
    ("describeconfigs", Operation::DescribeConfigs),
    ("alterconfigs", Operation::AlterConfigs),
    ("idempotentwrite", Operation::IdempotentWrite),
    ("createtokens", Operation::CreateTokens),
    ("describetokens", Operation::DescribeTokens),
    ("all", Operation::All),
];
const RESOURCES: [(&str, ResourceType); 4] = [
    ("cluster", ResourceType::Cluster),
    ("topic", ResourceType::Topic),
    ("group", ResourceType::Group),
    ("transactionalid", ResourceType::TransactionalId),
];
const PATTERNS: [(&str, PatternType); 2] =
    [(LITERAL, PatternType::Literal), ("prefixed", PatternType::Prefixed)];

fn words<T>(known: &[(&'static str, T)]) -> Vec<&'static str> {
    known.iter().map(|(word, _)| *word).collect()
}

/// The words for what a user may do.
pub fn operations() -> Vec<&'static str> {
    words(&OPERATIONS)
}

/// The words for what it may be done with.
pub fn resources() -> Vec<&'static str> {
    words(&RESOURCES)
}

/// The words for how names are meant.
pub fn patterns() -> Vec<&'static str> {
    words(&PATTERNS)
}

/// A rule as it is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rule {
    pub operation: Option<String>,
    pub resource: Option<String>,
    pub resource_pattern: Option<String>,
    pub resource_pattern_type: Option<String>,
}

/// A rule in the words it was asked for, which are told as they were sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Words {
    pub operation: String,
    pub resource: String,
    pub resource_pattern: String,
    pub resource_pattern_type: String,
}

impl Rule {
    /// The words, if they say something; what is wrong is noted.
    pub(super) fn words(self, problems: &mut Problems) -> Option<Words> {
        let operation = known(problems, "operation", self.operation, &OPERATIONS);
        let resource = known(problems, "resource", self.resource, &RESOURCES);
        let kind = self.resource_pattern_type.or_else(|| Some(LITERAL.to_owned()));
        let resource_pattern_type = known(problems, "resource_pattern_type", kind, &PATTERNS);
        let of_cluster = resource.as_deref().is_some_and(|it| it.eq_ignore_ascii_case("cluster"));
        let pattern = self.resource_pattern.or_else(|| of_cluster.then(|| CLUSTER.to_owned()));
        let pattern = problems.required("resource_pattern", pattern);
        let resource_pattern = pattern
            .and_then(|pattern| problems.take("resource_pattern", named(pattern, of_cluster)));
        Some(Words {
            operation: operation?,
            resource: resource?,
            resource_pattern: resource_pattern?,
            resource_pattern_type: resource_pattern_type?,
        })
    }
}

impl Words {
    /// None if one of them means nothing, which words that were checked never do.
    pub(super) fn acl(&self, user: &str) -> Option<Acl> {
        Some(Acl {
            resource_type: meaning(&RESOURCES, &self.resource)?,
            pattern: self.resource_pattern.clone(),
            pattern_type: meaning(&PATTERNS, &self.resource_pattern_type)?,
            principal: format!("User:{user}"),
            operation: meaning(&OPERATIONS, &self.operation)?,
            permission: Permission::Allow,
        })
    }

    /// For an ACL that was made in other ways.
    pub(super) fn from_acl(acl: &Acl) -> Self {
        Self {
            operation: word(&OPERATIONS, acl.operation),
            resource: word(&RESOURCES, acl.resource_type),
            resource_pattern: acl.pattern.clone(),
            resource_pattern_type: word(&PATTERNS, acl.pattern_type),
        }
    }
}

fn named(pattern: String, of_cluster: bool) -> Result<String, String> {
    if of_cluster && pattern != CLUSTER {
        return Err(format!("must be {CLUSTER} where the resource is the cluster"));
    }
    if pattern.len() > LONGEST {
        return Err(format!("must be at most {LONGEST} bytes"));
    }
    if pattern.chars().any(char::is_control) {
        return Err("must not contain control characters".into());
    }
    Ok(pattern)
}

fn meaning<T: Copy>(known: &[(&str, T)], word: &str) -> Option<T> {
    known.iter().find(|(it, _)| it.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind)
}

fn word<T: Copy + PartialEq>(known: &[(&str, T)], kind: T) -> String {
    known.iter().find(|(_, it)| *it == kind).map_or_else(String::new, |(word, _)| (*word).into())
}

fn known<T: Copy>(
    problems: &mut Problems,
    field: &str,
    given: Option<String>,
    known: &[(&str, T)],
) -> Option<String> {
    let given = problems.required(field, given)?;
    if meaning(known, &given).is_some() {
        return Some(given);
    }
    let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
    problems.add(field, format!("must be one of {}", words.join(", ")));
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_as_they_were_sent_and_mean_the_same_in_any_case() {
        let rule = Rule {
            operation: Some("DescribeConfigs".into()),
            resource: Some("TOPIC".into()),
            resource_pattern: Some("Orders".into()),
            resource_pattern_type: None,
        };
        let mut problems = Problems::default();
        let words = rule.words(&mut problems).unwrap();
        problems.finish().unwrap();
        assert_eq!((&*words.operation, &*words.resource), ("DescribeConfigs", "TOPIC"));
        let acl = words.acl("ada").unwrap();
        assert_eq!(acl.operation, Operation::DescribeConfigs);
        assert_eq!(Words::from_acl(&acl).operation, "describeconfigs");
        assert_eq!((&*acl.principal, &*acl.pattern), ("User:ada", "Orders"));
    }

    #[test]
    fn what_says_nothing_is_named() {
        let rule = Rule { operation: Some("fly".into()), ..Rule::default() };
        let mut problems = Problems::default();
        assert_eq!(rule.words(&mut problems), None);
        let error = problems.finish().unwrap_err().to_string();
        assert_eq!(error, "3 fields are missing or wrong: operation, resource, resource_pattern");
    }

    #[test]
    fn what_kafka_would_refuse_is_refused_before() {
        let check = |resource: &str, pattern: Option<&str>, expected: Result<&str, &str>| {
            let rule = Rule {
                operation: Some("all".into()),
                resource: Some(resource.into()),
                resource_pattern: pattern.map(str::to_owned),
                resource_pattern_type: None,
            };
            let mut problems = Problems::default();
            let words = rule.words(&mut problems);
            let outcome = problems.finish().map_err(|error| error.to_string());
            let outcome = outcome.map(|()| words.unwrap().resource_pattern);
            let expected = expected.map(str::to_owned);
            assert_eq!(outcome, expected.map_err(|what| format!("resource_pattern: {what}")));
        };
        let cluster = "must be kafka-cluster where the resource is the cluster";
        check("cluster", None, Ok("kafka-cluster"));
        check("Cluster", Some("kafka-cluster"), Ok("kafka-cluster"));
        check("Cluster", Some("foo"), Err(cluster));
        check("cluster", Some("*"), Err(cluster));
        check("group", Some("*"), Ok("*"));
        check("group", Some("the café's"), Ok("the café's"));
        check("topic", None, Err("Field is required"));
        check("topic", Some("a\nb"), Err("must not contain control characters"));
        check("topic", Some(&"é".repeat(1000)), Ok(&"é".repeat(1000)));
        check("topic", Some(&"é".repeat(1001)), Err("must be at most 2000 bytes"));
    }
}
