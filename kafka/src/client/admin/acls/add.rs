//! New rules: CreateAcls.

use super::{Acl, DescribeAcls, EVERY_HOST};
use crate::client::admin::text;
use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use kafka_protocol::messages::CreateAclsRequest;
use kafka_protocol::messages::create_acls_request::AclCreation;
use kafka_protocol::protocol::StrBytes;
use std::collections::{BTreeMap, HashSet};

/// Adds those of the ACLs that are not there yet.
pub struct AddAcls<'a> {
    pub acls: &'a [Acl],
}

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
            let question = DescribeAcls { principal: Some(principal) };
            let is_shown_by = |there: Vec<Acl>| {
                let there: HashSet<&Acl> = there.iter().collect();
                acls.iter().all(|acl| there.contains(acl))
            };
            let what = format!("the ACLs of {principal}");
            until_readable(connection, &what, &question, is_shown_by).await?;
        }
        Ok(())
    }
}

fn creation(acl: &Acl) -> AclCreation {
    AclCreation::default()
        .with_resource_type(acl.resource_type as i8)
        .with_resource_name(text(&acl.pattern))
        .with_resource_pattern_type(acl.pattern_type as i8)
        .with_principal(text(&acl.principal))
        .with_host(StrBytes::from_static_str(EVERY_HOST))
        .with_operation(acl.operation as i8)
        .with_permission_type(acl.permission as i8)
}
