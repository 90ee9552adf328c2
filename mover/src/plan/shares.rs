//! What each broker's share is, where racks allow no even one: a rack gets at most as many
//! replicas of a partition as leave one for each other rack.
//!
//! With three copies in three racks, every rack holds a copy of everything, and the brokers of
//! a rack with more brokers have less each.

use crate::layout::Layout;

/// The share of each staying broker, if every replica weighs this much.
pub fn shares(layout: &Layout<'_>, weight: impl Fn(usize) -> u64) -> Vec<u64> {
    let racks = layout.rack_members();
    let mut most = vec![0; racks.len()];
    let mut left = 0;
    for (at, replicas) in layout.replicas.iter().enumerate() {
        let placed = replicas.iter().filter(|broker| **broker < layout.staying).count();
        let in_one = (placed + 1).saturating_sub(racks.len()).max(1).min(placed);
        left += weight(at) * placed as u64;
        for (most, members) in most.iter_mut().zip(&racks) {
            *most += weight(at) * members.len().min(in_one) as u64;
        }
    }
    let mut shares = vec![0; layout.staying];
    let mut brokers = layout.staying as u64;
    let mut open: Vec<(u64, &Vec<usize>)> = most.into_iter().zip(&racks).collect();
    // Racks that can hold the least for each of their brokers come first: what they leave is
    // for the others.
    open.sort_by_key(|(most, members)| *most / members.len() as u64);
    for (most, members) in open {
        let number = members.len() as u64;
        let share = (left / brokers).min(most / number);
        for broker in members {
            shares[*broker] = share;
        }
        left -= share * number;
        brokers -= number;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Broker, Cluster, Partition};

    /// Brokers in these racks, with so many partitions of so many replicas and 700 bytes.
    fn check(racks: &[&str], partitions: i32, replicas: i32, expected: &[u64]) {
        let broker = |(node, rack): (i32, &&str)| Broker {
            node,
            rack: Some((*rack).to_owned()),
            disk_bytes: 0,
            free_bytes: 0,
            is_leaving: false,
            is_up: true,
        };
        let partition = |index: i32| Partition {
            topic: "t".into(),
            index,
            bytes: 700,
            min_isr: 1,
            replicas: (0..replicas).collect(),
            leader: None,
            in_sync: vec![],
            elr: vec![],
            reassignment: None,
        };
        let cluster = Cluster {
            brokers: (0..).zip(racks).map(broker).collect(),
            partitions: (0..partitions).map(partition).collect(),
        };
        let layout = Layout::new(&cluster);
        assert_eq!(shares(&layout, |at| layout.bytes(at)), expected, "{racks:?} {replicas}");
    }

    #[test]
    fn a_rack_holds_a_copy_of_everything_at_most() {
        check(&["a", "b", "c"], 3, 2, &[1400, 1400, 1400]);
        check(&["a", "a", "b", "c"], 4, 3, &[1400, 1400, 2800, 2800]);
        check(&["a", "b", "b", "b"], 3, 2, &[2100, 700, 700, 700]);
        check(&["a", "b", "b", "b"], 4, 1, &[700, 700, 700, 700]);
        // With more copies than racks, one rack may have several.
        check(&["a", "a", "b"], 3, 3, &[2100, 2100, 2100]);
        check(&["a", "a", "a"], 3, 2, &[1400, 1400, 1400]);
    }
}
