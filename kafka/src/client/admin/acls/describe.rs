//! The rules that are there: DescribeAcls.

use super::{ANY, Acl, EVERY_HOST, Operation, PatternType, Permission, ResourceType};
use crate::client::admin::text;
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use kafka_protocol::messages::DescribeAclsRequest;
use kafka_protocol::protocol::StrBytes;

/// The ACLs of a principal, or of all, that are of the kinds above.
pub struct DescribeAcls<'a> {
    /// `User:` and the name.
    pub principal: Option<&'a str>,
}

impl Call for DescribeAcls<'_> {
    type Answer = Vec<Acl>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Acl>, Error> {
        let request = DescribeAclsRequest::default()
            .with_resource_type_filter(ANY)
            .with_resource_name_filter(None)
            .with_pattern_type_filter(ANY)
            .with_principal_filter(self.principal.map(text))
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
                        resource_type: ResourceType::numbered(resource.resource_type)?,
                        pattern: resource.resource_name.to_string(),
                        pattern_type: PatternType::numbered(resource.pattern_type)?,
                        principal: acl.principal.to_string(),
                        operation: Operation::numbered(acl.operation)?,
                        permission: Permission::numbered(acl.permission_type)?,
                    })
                };
                acls.extend(known());
            }
        }
        Ok(acls)
    }
}
