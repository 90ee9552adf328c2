//! The authorities of an instance: what clients verify their brokers with, and
//! the certificates that clients log in with themselves.

mod list;
mod revoke;
mod sign;

pub use list::list;
pub use revoke::revoke;
pub(crate) use revoke::revoke_all;
pub use sign::{Signing, sign};

use crate::{App, Error, InstanceAccess, Result};
use model::{Certificate, Instance};
use store::authorities;

/// What clients verify brokers with, as PEM. It is written together with the instance and
/// goes with it.
pub async fn certificate(access: &InstanceAccess, app: &App) -> Result<String> {
    let mut reader = app.store().reader();
    authorities::customers_root(&mut reader, access.instance.id).await?.ok_or(Error::InvalidId)
}

/// What the audit log says of a certificate.
fn about(instance: &Instance, certificate: &Certificate) -> [(&'static str, String); 4] {
    [
        ("id", instance.id.to_string()),
        ("name", instance.name.to_string()),
        ("serial", certificate.serial.to_string()),
        ("cn", certificate.cn.to_string()),
    ]
}
