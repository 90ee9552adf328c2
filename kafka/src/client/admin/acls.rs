//! Who may do what: CreateAcls and its reading.

use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use async_trait::async_trait;
use kafka_protocol::messages::create_acls_request::AclCreation;
use kafka_protocol::messages::{CreateAclsRequest, DescribeAclsRequest};
use kafka_protocol::protocol::StrBytes;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// Kafka's numbers; they are part of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i8)]
pub enum Operation {
    All = 2,
    Read = 3,
    Write = 4,
    Create = 5,
    Delete = 6,
    Alter = 7,
    Describe = 8,
    ClusterAction = 9,
    DescribeConfigs = 10,
    AlterConfigs = 11,
    IdempotentWrite = 12,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i8)]
pub enum ResourceType {
    Topic = 2,
    Group = 3,
    Cluster = 4,
    TransactionalId = 5,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i8)]
pub enum PatternType {
    /// The name itself; `*` is every name.
    Literal = 3,
    Prefixed = 4,
}

const ANY: i8 = 1;
const EVERY_HOST: &str = "*";

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i8)]
pub enum Permission {
    /// Wins over every [`Permission::Allow`].
    Deny = 2,
    Allow = 3,
}

/// A permission or its refusal, from every host.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Acl {
    pub resource_type: ResourceType,
    /// A name, a prefix or `*`; `kafka-cluster` for the cluster.
    pub pattern: String,
    pub pattern_type: PatternType,
    /// `User:` and the name.
    pub principal: String,
    pub operation: Operation,
    pub permission: Permission,
}

impl fmt::Display for Acl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource_type, pattern, pattern_type, principal, operation, permission } = self;
        write!(
            f,
            "{principal}: {permission:?} {operation:?} on {resource_type:?} {pattern} ({pattern_type:?})"
        )
    }
}

/// Adds those of the ACLs that are not there yet.
pub struct AddAcls<'a> {
    pub acls: &'a [Acl],
}

#[async_trait]
impl Call for AddAcls<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        if self.acls.is_empty() {
            return Ok(());
        }
        let request =
            CreateAclsRequest::default().with_creations(self.acls.iter().map(creation).collect());
        let answer = connection.call(&request).await?;
        for (acl, result) in self.acls.iter().zip(&answer.results) {
            check(
                "CreateAcls",
                &acl.to_string(),
                result.error_code,
                result.error_message.as_ref(),
            )?;
        }
        let mut by_principal: BTreeMap<&str, Vec<&Acl>> = BTreeMap::new();
        for acl in self.acls {
            by_principal.entry(&acl.principal).or_default().push(acl);
        }
        for (principal, acls) in by_principal {
            let shows = Shows { principal, acls };
            until_readable(connection, &format!("the ACLs of {principal}"), &shows).await?;
        }
        Ok(())
    }
}

fn creation(acl: &Acl) -> AclCreation {
    AclCreation::default()
        .with_resource_type(acl.resource_type as i8)
        .with_resource_name(StrBytes::from_string(acl.pattern.clone()))
        .with_resource_pattern_type(acl.pattern_type as i8)
        .with_principal(StrBytes::from_string(acl.principal.clone()))
        .with_host(StrBytes::from_static_str(EVERY_HOST))
        .with_operation(acl.operation as i8)
        .with_permission_type(acl.permission as i8)
}

/// Whether a principal has all of these.
struct Shows<'a> {
    principal: &'a str,
    acls: Vec<&'a Acl>,
}

#[async_trait]
impl Call for Shows<'_> {
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        let request = DescribeAclsRequest::default()
            .with_resource_type_filter(ANY)
            .with_resource_name_filter(None)
            .with_pattern_type_filter(ANY)
            .with_principal_filter(Some(StrBytes::from_string(self.principal.to_owned())))
            .with_host_filter(Some(StrBytes::from_static_str(EVERY_HOST)))
            .with_operation(ANY)
            .with_permission_type(ANY);
        let answer = connection.call(&request).await?;
        check("DescribeAcls", self.principal, answer.error_code, answer.error_message.as_ref())?;
        let mut there = HashSet::new();
        for resource in &answer.resources {
            for acl in &resource.acls {
                let name = resource.resource_name.as_str();
                let pattern = (resource.resource_type, name, resource.pattern_type);
                there.insert((pattern, acl.operation, acl.permission_type));
            }
        }
        Ok(self.acls.iter().all(|acl| {
            let pattern = (acl.resource_type as i8, &*acl.pattern, acl.pattern_type as i8);
            there.contains(&(pattern, acl.operation as i8, acl.permission as i8))
        }))
    }
}
