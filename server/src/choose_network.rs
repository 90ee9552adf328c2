//! Whether networks are namespaces where the operator has not said so: on a host that has such
//! networks already, and on a new one if `castellan up` finds that it can have them.
//!
//! A host with servers at its own addresses stays as it is, so that an upgrade changes nothing.

use crate::config::{CloudKind, Local, Mode, Network, Public};
use anyhow::Result;
use std::path::Path;

/// Answers what this host lacks, if it was to have the best that it can.
pub async fn choose_network(
    local: &mut Local,
    cloud: CloudKind,
    host: &Path,
) -> Result<Option<String>> {
    let is_best = match local.network {
        Some(Network::Loopback | Network::Namespaces) => return Ok(None),
        Some(Network::Best) => true,
        None => false,
    };
    local.network = Some(Network::Loopback);
    if cloud != CloudKind::Local || local.mode != Mode::Loopback {
        return Ok(None);
    }
    let past = cloud_local::past_networks(host)?;
    if past.has_namespaces || (is_best && !past.has_servers) {
        let missing = tokio::task::spawn_blocking(cloud_local::missing_for_networks).await?;
        if let Some(missing) = missing.filter(|_| !past.has_namespaces) {
            let said = format!("VPCs are not separated from each other: {missing}");
            return Ok(Some(said));
        }
        local.network = Some(Network::Namespaces);
        // As without namespaces, clients on this host come by loopback addresses.
        local.public.get_or_insert(Public::Loopback);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn chosen(mut local: Local, cloud: CloudKind) -> (Option<Network>, Option<Public>) {
        let host = tempfile::tempdir().unwrap();
        choose_network(&mut local, cloud, host.path()).await.unwrap();
        (local.network, local.public)
    }

    #[tokio::test]
    async fn a_new_host_is_loopback_unless_namespaces_are_asked_for() {
        let with = |network| Local { network, ..Local::default() };
        let loopback = (Some(Network::Loopback), None);
        assert_eq!(chosen(with(None), CloudKind::Local).await, loopback);
        assert_eq!(chosen(with(Some(Network::Best)), CloudKind::Simulated).await, loopback);
        let elsewhere = Local { mode: Mode::Addresses, ..with(Some(Network::Best)) };
        assert_eq!(chosen(elsewhere, CloudKind::Local).await, loopback);
        let best = match cloud_local::missing_for_networks() {
            Some(_) => loopback,
            None => (Some(Network::Namespaces), Some(Public::Loopback)),
        };
        assert_eq!(chosen(with(Some(Network::Best)), CloudKind::Local).await, best);
    }
}
