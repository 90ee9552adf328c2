//! Who may do what: CreateAcls and its reading.

use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use async_trait::async_trait;
use kafka_protocol::messages::create_acls_request::AclCreation;
use kafka_protocol::messages::delete_acls_request::DeleteAclsFilter;
use kafka_protocol::messages::{CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest};
use kafka_protocol::protocol::StrBytes;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// Kafka's numbers; they are part of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
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
    CreateTokens = 13,
    DescribeTokens = 14,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(i8)]
pub enum ResourceType {
    Topic = 2,
    Group = 3,
    Cluster = 4,
    TransactionalId = 5,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(i8)]
pub enum PatternType {
    /// The name itself; `*` is every name.
    Literal = 3,
    Prefixed = 4,
}

const ANY: i8 = 1;
const EVERY_HOST: &str = "*";

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
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
        let there = DescribeAcls { principal: Some(self.principal) }.run(connection).await?;
        let there: HashSet<&Acl> = there.iter().collect();
        Ok(self.acls.iter().all(|acl| there.contains(acl)))
    }
}

/// The ACLs of a principal, or of all, that are of the kinds above.
pub struct DescribeAcls<'a> {
    /// `User:` and the name.
    pub principal: Option<&'a str>,
}

#[async_trait]
impl Call for DescribeAcls<'_> {
    type Answer = Vec<Acl>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Acl>, Error> {
        let request = DescribeAclsRequest::default()
            .with_resource_type_filter(ANY)
            .with_resource_name_filter(None)
            .with_pattern_type_filter(ANY)
            .with_principal_filter(self.principal.map(|it| StrBytes::from_string(it.to_owned())))
            .with_host_filter(Some(StrBytes::from_static_str(EVERY_HOST)))
            .with_operation(ANY)
            .with_permission_type(ANY);
        let answer = connection.call(&request).await?;
        let subject = self.principal.unwrap_or("everybody");
        check("DescribeAcls", subject, answer.error_code, answer.error_message.as_ref())?;
        let mut acls = Vec::new();
        for resource in &answer.resources {
            for acl in &resource.acls {
                let known = || {
                    Some(Acl {
                        resource_type: known(ResourceType::ALL, resource.resource_type)?,
                        pattern: resource.resource_name.to_string(),
                        pattern_type: known(PatternType::ALL, resource.pattern_type)?,
                        principal: acl.principal.to_string(),
                        operation: known(Operation::ALL, acl.operation)?,
                        permission: known(Permission::ALL, acl.permission_type)?,
                    })
                };
                acls.extend(known());
            }
        }
        Ok(acls)
    }
}

/// The kind that has this number, if it is one of ours.
fn known<T: Copy + Numbered>(all: &[T], number: i8) -> Option<T> {
    all.iter().copied().find(|kind| kind.number() == number)
}

trait Numbered {
    fn number(self) -> i8;
}

macro_rules! numbered {
    ($($kind:ident: $($name:ident),*;)*) => {
        $(impl $kind {
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }

        impl Numbered for $kind {
            fn number(self) -> i8 {
                self as i8
            }
        })*
    };
}

numbered! {
    Operation: All, Read, Write, Create, Delete, Alter, Describe, ClusterAction, DescribeConfigs,
        AlterConfigs, IdempotentWrite, CreateTokens, DescribeTokens;
    ResourceType: Topic, Group, Cluster, TransactionalId;
    PatternType: Literal, Prefixed;
    Permission: Deny, Allow;
}

/// Removes every ACL of a principal.
pub struct RemoveAcls<'a> {
    /// `User:` and the name.
    pub principal: &'a str,
}

#[async_trait]
impl Call for RemoveAcls<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let filter = DeleteAclsFilter::default()
            .with_resource_type_filter(ANY)
            .with_resource_name_filter(None)
            .with_pattern_type_filter(ANY)
            .with_principal_filter(Some(StrBytes::from_string(self.principal.to_owned())))
            .with_host_filter(None)
            .with_operation(ANY)
            .with_permission_type(ANY);
        delete(connection, self.principal, filter).await?;
        let what = format!("the removal of the ACLs of {}", self.principal);
        until_readable(connection, &what, &HasNone(self.principal)).await
    }
}

/// Removes one ACL, if it is there.
pub struct RemoveAcl<'a> {
    pub acl: &'a Acl,
}

#[async_trait]
impl Call for RemoveAcl<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let acl = self.acl;
        let filter = DeleteAclsFilter::default()
            .with_resource_type_filter(acl.resource_type as i8)
            .with_resource_name_filter(Some(StrBytes::from_string(acl.pattern.clone())))
            .with_pattern_type_filter(acl.pattern_type as i8)
            .with_principal_filter(Some(StrBytes::from_string(acl.principal.clone())))
            .with_host_filter(Some(StrBytes::from_static_str(EVERY_HOST)))
            .with_operation(acl.operation as i8)
            .with_permission_type(acl.permission as i8);
        delete(connection, &acl.to_string(), filter).await?;
        until_readable(connection, &format!("the removal of {acl}"), &Lacks(acl)).await
    }
}

async fn delete(
    connection: &mut Connection,
    subject: &str,
    filter: DeleteAclsFilter,
) -> Result<(), Error> {
    const CALL: &str = "DeleteAcls";
    let request = DeleteAclsRequest::default().with_filters(vec![filter]);
    let answer = connection.call(&request).await?;
    for result in &answer.filter_results {
        check(CALL, subject, result.error_code, result.error_message.as_ref())?;
        for acl in &result.matching_acls {
            check(CALL, subject, acl.error_code, acl.error_message.as_ref())?;
        }
    }
    Ok(())
}

struct HasNone<'a>(&'a str);

#[async_trait]
impl Call for HasNone<'_> {
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        Ok(DescribeAcls { principal: Some(self.0) }.run(connection).await?.is_empty())
    }
}

struct Lacks<'a>(&'a Acl);

#[async_trait]
impl Call for Lacks<'_> {
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        let there = DescribeAcls { principal: Some(&self.0.principal) }.run(connection).await?;
        Ok(!there.contains(self.0))
    }
}
