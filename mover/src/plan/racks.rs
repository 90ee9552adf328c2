//! Replicas of one partition that share a rack though another rack has none.

use crate::layout::Layout;

/// Moves the fewest replicas that it takes. Whether any was moved.
pub fn part(layout: &mut Layout<'_>) -> bool {
    let mut changed = false;
    for at in 0..layout.partitions.len() {
        let most = layout.most_racks(layout.replicas[at].len());
        while layout.racks_of(&layout.replicas[at]) < most {
            let Some((from, to)) = best_move(layout, at) else { break };
            layout.relocate(at, from, to);
            changed = true;
        }
    }
    changed
}

/// From a rack with two of its replicas to the emptiest broker in a rack with none. What is
/// copied anyway goes first, and the first replica last.
fn best_move(layout: &Layout<'_>, at: usize) -> Option<(usize, usize)> {
    let replicas = &layout.replicas[at];
    let shares = |broker: usize| {
        replicas.iter().any(|other| *other != broker && layout.same_rack(*other, broker))
    };
    let first = replicas.first().copied();
    let from =
        replicas.iter().copied().filter(|broker| shares(*broker)).max_by_key(|it| {
            (layout.is_new(at, *it), Some(*it) != first, layout.burden(*it), *it)
        })?;
    let is_free = |broker: &usize| {
        !replicas.iter().any(|other| layout.same_rack(*other, *broker))
            && layout.has_room(at, *broker)
    };
    let to = (0..layout.staying).filter(is_free).min_by_key(|it| (layout.burden(*it), *it))?;
    Some((from, to))
}
