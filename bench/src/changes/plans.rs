//! Plans for a large cluster, from what its brokers say to the next batch, as the engine makes
//! them.

use super::Scale;
use super::large::{BROKERS, Large};
use crate::page::{Page, median};
use crate::resources::brokers;
use anyhow::{Result, bail};
use kafka::client::{Cluster, DirectDial, Placement as _, ProtocolAdmin};
use model::OsEntropy;
use mover::{Aim, Limits, MovePlan};
use reach::Ours;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 3;

struct Case {
    what: &'static str,
    /// Brokers that have replicas.
    from: i32,
    leaving: &'static [i32],
    aim: Aim,
}

/// Seconds of each round, and what came of it, which is always the same.
struct Timed {
    read: f64,
    planned: f64,
    plan: MovePlan,
}

pub async fn run(scale: Scale, page: &mut Page) -> Result<()> {
    let cases = [
        Case { what: "5 → 7", from: 5, leaving: &[], aim: Aim::grow(5, true) },
        Case { what: "3 → 7", from: 3, leaving: &[], aim: Aim::grow(3, true) },
        Case { what: "7 → 5", from: 7, leaving: &[6, 7], aim: Aim::shrink(5, false) },
    ];
    let mut text = format!(
        "{BROKERS} servers, {} topics, {} replicas; read from simulated brokers over TLS, then \
         planned down to the\nnext batch; medians of {ROUNDS} rounds.\n\n\
         | what | read and planned | of it read | moves | copied ÷ lower bound |\n\
         |---|---|---|---|---|\n",
        scale.topics, scale.replicas
    );
    for case in cases {
        let Timed { read, planned, plan } = measure(scale, &case).await?;
        let (whole, moves) = (read + planned, plan.moves.len());
        let ratio = ratio(plan.bytes, plan.lower_bound);
        let what = case.what;
        eprintln!("{what}: read in {read:.2} s, planned in {planned:.2} s, ratio {ratio:.4}");
        writeln!(text, "| {what} | **{whole:.2} s** | {read:.2} s | {moves} | **{ratio:.4}** |")?;
    }
    text += "| goal | < 2 s | | | ≤ 1.05 |\n";
    page.put("Plans of a large cluster", &text);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a ratio needs no more digits")]
fn ratio(bytes: u64, bound: u64) -> f64 {
    bytes as f64 / bound.max(1) as f64
}

async fn measure(scale: Scale, case: &Case) -> Result<Timed> {
    let large = Large::new(scale, case.from);
    let partitions = large.partitions();
    let told = brokers::serve_one(BROKERS, large.reply()).await?;
    let cluster = brokers::cluster((1, &told))?;
    let admin = ProtocolAdmin::new(Arc::new(DirectDial), Arc::new(OsEntropy));
    // Connections are open and answers put into bytes before anything is measured.
    let mut last = once(&admin, &cluster, case, partitions).await?;
    let (mut read, mut planned) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        last = once(&admin, &cluster, case, partitions).await?;
        read.push(last.read);
        planned.push(last.planned);
    }
    Ok(Timed { read: median(&mut read), planned: median(&mut planned), plan: last.plan })
}

async fn once(
    admin: &ProtocolAdmin,
    cluster: &Cluster,
    case: &Case,
    partitions: usize,
) -> Result<Timed> {
    let began = Instant::now();
    let view = admin.read_placement(cluster).await?;
    let read = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let known: BTreeSet<i32> = (1..=BROKERS).collect();
    let leaving = case.leaving.iter().copied().collect();
    let placed = reach::for_mover(&view, &known, &Ours { leaving, ..Ours::default() });
    let plan = mover::plan(&placed, &case.aim);
    let next = mover::next_of_plan(&placed, &case.aim, &plan, &Limits::default());
    let planned = began.elapsed().as_secs_f64();
    let (seen, up) = (placed.partitions.len(), view.brokers.iter().filter(|it| it.is_up()).count());
    if seen != partitions || up != known.len() || !matches!(next, mover::Next::Reassign(_)) {
        bail!("{seen} of {partitions} partitions, {up} brokers, then {next:?}");
    }
    Ok(Timed { read, planned, plan })
}
