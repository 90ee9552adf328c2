//! What a call costs: the Customer API beside a bare handler that returns the
//! same bytes, with few and with many instances, on the simulated cloud.
//!
//! A closed loop on loopback: every connection sends its next request when the
//! last one is answered. Both servers have two threads and share the machine
//! with the client alike, so ratios are what counts.

mod bare;
mod load;
pub mod plane;
pub mod rows;

use crate::page::{Page, median};
use anyhow::{Context, Result};
use load::{Load, Request};
use plane::Plane;
use rows::Fleet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

const CONNECTIONS: u32 = 16;
const ROUNDS: usize = 3;
/// How many different instances are asked for in turn, however many there are.
const SPREAD: usize = 100;
const HUNDRED: usize = 100;

/// How much of everything; a debug build only tries whether it works.
struct Scale {
    accounts: usize,
    instances: [usize; 3],
    listed: usize,
    each: Duration,
}

impl Scale {
    fn new() -> Self {
        if cfg!(debug_assertions) {
            let each = Duration::from_millis(500);
            Self { accounts: 10, instances: [10, 50, 100], listed: 20, each }
        } else {
            let (instances, each) = ([100, 10_000, 100_000], Duration::from_secs(4));
            Self { accounts: 1000, instances, listed: 1000, each }
        }
    }
}

pub async fn run(binary: &Path, page: &mut Page) -> Result<()> {
    let scale = Scale::new();
    let plane = Plane::start(binary).await?;
    let mut fleet = Fleet::new(&plane, scale.accounts).await?;
    let mut text = String::new();

    fleet.grow(scale.instances[0]).await?;
    let requests = reads(&plane, &fleet);
    let bare = bare::serve(load::body(&requests[0]).await?)?;
    let (ratio, rate) = beside_bare(&plane, bare, &requests, &scale).await?;
    writeln!(
        text,
        "| what | figure | goal |\n|---|---|---|\n\
         | `GET /api/instances/<ID>` a second ÷ the same bytes from a bare axum handler | \
         **{ratio:.2}** ({rate:.0} a second) | ≥ 0.4 |"
    )?;
    let half = load::paced(&requests, CONNECTIONS, rate / 2.0, scale.each).await?;
    writeln!(text, "| p99 of it under half that load | {:.2} ms | |", half.p99_ms())?;

    let mut costs = vec![];
    for instances in scale.instances {
        fleet.grow(instances).await?;
        let requests = reads(&plane, &fleet);
        let rates = rounds(&requests, &scale).await?;
        costs.push(1e6 / rates);
        let grown = costs[costs.len() - 1] / costs[0];
        let accounts = scale.accounts;
        writeln!(
            text,
            "| cost of it with {instances} instances of {accounts} accounts | \
             {:.0} µs, {grown:.2}× | ≤ 1.2× |",
            costs[costs.len() - 1]
        )?;
    }

    let owner = fleet.owner_of(scale.listed).await?;
    let list = [plane.request("GET", "/api/instances", &owner, None)];
    let rate = rounds(&list, &scale).await?;
    let listed = scale.listed;
    writeln!(text, "| `GET /api/instances` of {listed} instances | {rate:.0} a second | |")?;
    plane.stop().await;

    let (one, many) = orders(binary, &scale).await?;
    writeln!(
        text,
        "| `POST /api/instances` on the simulated cloud, one by one | {one:.0} a second | |"
    )?;
    writeln!(text, "| the same by {CONNECTIONS} clients at once | {many:.0} a second | |")?;
    let resident = with_instances(binary, HUNDRED).await?;
    writeln!(
        text,
        "| memory of the control plane with {HUNDRED} simulated instances | {resident:.1} MiB | |"
    )?;
    let opening = format!(
        "Rate limit off, SQLite, {CONNECTIONS} connections on loopback, medians of {ROUNDS} rounds."
    );
    page.put("The Customer API", &format!("{opening}\n\n{text}"));
    Ok(())
}

/// Reads of instances all over the fleet, each with its own account's key.
fn reads(plane: &Plane, fleet: &Fleet) -> Vec<Request> {
    let read = |(id, key): (i64, &model::Secret)| {
        plane.request("GET", &format!("/api/instances/{id}"), key, None)
    };
    fleet.spread(SPREAD).into_iter().map(read).collect()
}

/// Requests a second, the median of some rounds.
async fn rounds(requests: &[Request], scale: &Scale) -> Result<f64> {
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        rates.push(load::closed(requests, CONNECTIONS, scale.each).await?.rate());
    }
    Ok(median(&mut rates))
}

/// Ours ÷ the bare handler's in turn, and ours.
async fn beside_bare(
    plane: &Plane,
    bare: std::net::SocketAddr,
    requests: &[Request],
    scale: &Scale,
) -> Result<(f64, f64)> {
    let (mut ratios, mut ours) = (Vec::new(), Vec::new());
    let to_bare: Vec<Request> = requests.iter().map(|request| request.to(bare)).collect();
    for round in 1..=ROUNDS {
        let plain = load::closed(&to_bare, CONNECTIONS, scale.each).await?.rate();
        let own = load::closed(requests, CONNECTIONS, scale.each).await?.rate();
        eprintln!("round {round}: bare {plain:.0} a second, castellan {own:.0} ({})", plane.url());
        ratios.push(own / plain);
        ours.push(own);
    }
    Ok((median(&mut ratios), median(&mut ours)))
}

/// Creates a second by one client and by many, each on a new installation.
async fn orders(binary: &Path, scale: &Scale) -> Result<(f64, f64)> {
    let mut rates = Vec::new();
    for connections in [1, CONNECTIONS] {
        let plane = Plane::start(binary).await?;
        let order = r#"{"name":"bench","plan":"mouse-1","region":"local::this-machine"}"#;
        let request = plane.request("POST", "/api/instances", &plane.key, Some(order));
        let done: Load = load::closed(&[request], connections, scale.each).await?;
        rates.push(done.rate());
        plane.stop().await;
    }
    let [one, many] = rates.try_into().ok().context("two rates")?;
    Ok((one, many))
}

/// What stays resident once so many instances were ordered, by one client after
/// another, and the engine has looked at each.
async fn with_instances(binary: &Path, count: usize) -> Result<f64> {
    let plane = Plane::start(binary).await?;
    let order = r#"{"name":"bench","plan":"mouse-3","region":"local::this-machine"}"#;
    let request = plane.request("POST", "/api/instances", &plane.key, Some(order));
    let mut ids = Vec::new();
    for _ in 0..count {
        let made: serde_json::Value = serde_json::from_slice(&load::body(&request).await?)?;
        ids.push(made["id"].as_i64().with_context(|| format!("no instance was made: {made}"))?);
    }
    for id in ids {
        plane.until_looked_at(id).await?;
    }
    let resident = crate::castellan::resident_mib(plane.pid())?;
    plane.stop().await;
    Ok(resident)
}
