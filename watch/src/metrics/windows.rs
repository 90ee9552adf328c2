//! What was measured in a time, from history and memory together.

use crate::Context;
use model::{Series, ServerId};
use series::{Measure, Of, OpenWindow, Range, Tier, Window, align, unpack};

/// One series of a server between two times, by time: a point a minute.
pub(crate) async fn minutes(
    context: &Context,
    server: ServerId,
    series: Series,
    from: i64,
    to: i64,
) -> Vec<(i64, f32)> {
    let range = Range { from, to, step: Tier::Minute.step() };
    let measure = Measure::Server(series);
    let windows = windows(context, server, range).await;
    let all = windows.iter().flat_map(|window| window.points(&measure, Of::Average));
    let mut points: Vec<(i64, f32)> = all.filter(|(at, _)| (from..to).contains(at)).collect();
    points.sort_by_key(|(at, _)| *at);
    points
}

/// What is on disk of that time, with what is in memory as it will be there: a point that
/// stands for minutes counts as much as the next, and none beside those it was made of.
pub async fn windows(context: &Context, server: ServerId, range: Range) -> Vec<Window> {
    let tier = range.tier(context.now().as_second());
    // Before the disk is read: what is written meanwhile is in one of them then, or in both.
    let open = open(context, server, range);
    let from = align(range.from, tier.span());
    let mut windows = kept(context, server, tier, from, range.to).await;
    for open in open {
        let open = if tier == Tier::Sampled {
            open
        } else {
            whole(context, server, open).await.thinned(tier)
        };
        // Of a window that is on disk in part, each point counts once.
        match windows.iter_mut().find(|window| window.start == open.start) {
            Some(window) => window.merge(&open),
            None => windows.push(open),
        }
    }
    windows
}

/// What is in memory of that time, as it was sampled.
fn open(context: &Context, server: ServerId, range: Range) -> Vec<Window> {
    let servers = context.metrics().servers();
    let all = servers.get(&server).into_iter().flat_map(|held| &held.open);
    let all = all.map(|open| &open.window);
    let asked = all.filter(|window| window.start < range.to && window.end() > range.from);
    asked.map(OpenWindow::window).collect()
}

/// An open window with what was written of it before.
async fn whole(context: &Context, server: ServerId, open: Window) -> Window {
    let written = kept(context, server, Tier::Sampled, open.start, open.start).await.pop();
    match written {
        Some(mut whole) => {
            whole.merge(&open);
            whole
        }
        None => open,
    }
}

/// The windows on disk that begin between two times; none if it can't be read.
async fn kept(context: &Context, server: ServerId, tier: Tier, from: i64, to: i64) -> Vec<Window> {
    let Some(history) = &context.metrics().history else { return Vec::new() };
    match history.list(server, tier.step(), from, to).await {
        Ok(rows) => rows.iter().filter_map(|row| unpack(&row.body).ok()).collect(),
        Err(error) => {
            tracing::warn!(%error, "the history of metrics can't be read; going on with the rest");
            Vec::new()
        }
    }
}
