//! Which servers go when a cluster becomes smaller. Pure.

use model::Server;
use std::cmp::Reverse;

/// So many of them: those without a controller first, and of these the highest numbers. The
/// first server stays, whose address may be the cluster's.
pub fn leaving(servers: &[Server], count: usize) -> Vec<&Server> {
    let mut last_first: Vec<&Server> = servers.iter().collect();
    last_first.sort_by_key(|server| (server.is_controller(), Reverse(server.number)));
    last_first.truncate(count);
    last_first.sort_by_key(|server| server.number);
    last_first
}
