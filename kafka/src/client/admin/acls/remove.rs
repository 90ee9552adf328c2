//! The end of rules: DeleteAcls.

use super::{ANY, Acl, DescribeAcls, EVERY_HOST};
use crate::client::admin::text;
use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use kafka_protocol::messages::DeleteAclsRequest;
use kafka_protocol::messages::delete_acls_request::DeleteAclsFilter;
use kafka_protocol::protocol::StrBytes;

/// Removes every ACL of a principal.
pub struct RemoveAcls<'a> {
    /// `User:` and the name.
    pub principal: &'a str,
}

impl Call for RemoveAcls<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let filter = DeleteAclsFilter::default()
            .with_resource_type_filter(ANY)
            .with_resource_name_filter(None)
            .with_pattern_type_filter(ANY)
            .with_principal_filter(Some(text(self.principal)))
            .with_host_filter(None)
            .with_operation(ANY)
            .with_permission_type(ANY);
        delete(connection, self.principal, filter).await?;
        let what = format!("the removal of the ACLs of {}", self.principal);
        let question = DescribeAcls { principal: Some(self.principal) };
        until_readable(connection, &what, &question, |left| left.is_empty()).await
    }
}

/// Removes one ACL, if it is there.
pub struct RemoveAcl<'a> {
    pub acl: &'a Acl,
}

impl Call for RemoveAcl<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let acl = self.acl;
        let filter = DeleteAclsFilter::default()
            .with_resource_type_filter(acl.resource_type as i8)
            .with_resource_name_filter(Some(text(&acl.pattern)))
            .with_pattern_type_filter(acl.pattern_type as i8)
            .with_principal_filter(Some(text(&acl.principal)))
            .with_host_filter(Some(StrBytes::from_static_str(EVERY_HOST)))
            .with_operation(acl.operation as i8)
            .with_permission_type(acl.permission as i8);
        delete(connection, &acl.to_string(), filter).await?;
        let question = DescribeAcls { principal: Some(&acl.principal) };
        let what = format!("the removal of {acl}");
        until_readable(connection, &what, &question, |left| !left.contains(acl)).await
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
