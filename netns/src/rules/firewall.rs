//! Who may connect to a member: the rules in its own namespace.
//!
//! They are asked for every packet, not for new connections alone, and both ways: when a rule is
//! taken away, the next packet of a connection that it had allowed is answered with a reset, to
//! whichever side sends it.

use super::{TABLE, Table, elements};
use crate::Rule;
use ipnet::Ipv4Net;
use std::collections::BTreeSet;

/// Answers to what the member itself has begun come in; what it answers goes out only where
/// the question may come in. Resets must go both ways, or neither side would hear of its end.
pub(crate) fn firewall(rules: &[Rule]) -> Table {
    let allowed = elements(disjoint(rules).into_iter().map(|(net, first, last)| {
        let ports = if first == last { first.to_string() } else { format!("{first}-{last}") };
        format!("{net} . {ports}")
    }));
    let body = format!(
        "  set allowed {{
    type ipv4_addr . inet_service
    flags interval
{allowed}  }}
  chain input {{
    type filter hook input priority filter; policy drop;
    iifname \"lo\" accept
    ct state established,related ct direction reply accept
    ct state related accept
    ip saddr . tcp dport @allowed accept
    tcp flags & rst == rst accept
    meta l4proto tcp reject with tcp reset
  }}
  chain output {{
    type filter hook output priority filter; policy accept;
    oifname \"lo\" accept
    ct direction original accept
    tcp flags & rst == rst accept
    ip daddr . tcp sport @allowed accept
    meta l4proto tcp reject with tcp reset
  }}
"
    );
    Table { family: "inet", name: TABLE.into(), body }
}

/// The same in parts that don't overlap, which is all that the kernel takes.
fn disjoint(rules: &[Rule]) -> Vec<(Ipv4Net, u16, u16)> {
    let starts = rules.iter().map(|rule| u32::from(rule.first));
    let ends = rules.iter().map(|rule| u32::from(rule.last) + 1);
    let bounds: Vec<u32> = starts.chain(ends).collect::<BTreeSet<_>>().into_iter().collect();
    let mut parts: Vec<(Vec<Ipv4Net>, u16, u16)> = Vec::new();
    for pair in bounds.windows(2) {
        let (Ok(first), Ok(last)) = (u16::try_from(pair[0]), u16::try_from(pair[1] - 1)) else {
            continue;
        };
        let covering = rules.iter().filter(|rule| rule.first <= first && last <= rule.last);
        let nets: Vec<Ipv4Net> = covering.map(|rule| rule.from.trunc()).collect();
        let nets = Ipv4Net::aggregate(&nets);
        match parts.last_mut() {
            Some((same, _, end)) if *same == nets && u32::from(*end) + 1 == pair[0] => *end = last,
            _ => parts.push((nets, first, last)),
        }
    }
    let each = |(nets, first, last): (Vec<Ipv4Net>, u16, u16)| {
        nets.into_iter().map(move |net| (net, first, last))
    };
    parts.into_iter().flat_map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule((from, first, last): &(&str, u16, u16)) -> Rule {
        Rule { from: from.parse().unwrap(), first: *first, last: *last }
    }

    #[test]
    fn rules_become_parts_that_do_not_overlap() {
        let check = |rules: &[(&str, u16, u16)], expected: &[&str]| {
            let rules: Vec<Rule> = rules.iter().map(rule).collect();
            let found: Vec<String> = disjoint(&rules)
                .iter()
                .map(|(net, first, last)| format!("{net} {first}-{last}"))
                .collect();
            assert_eq!(found, expected, "{rules:?}");
        };
        check(&[], &[]);
        check(&[("0.0.0.0/0", 9093, 9094)], &["0.0.0.0/0 9093-9094"]);
        check(&[("0.0.0.0/0", 9093, 9093), ("0.0.0.0/0", 9094, 9094)], &["0.0.0.0/0 9093-9094"]);
        check(
            &[("10.0.0.0/8", 9094, 9094), ("10.1.0.0/16", 9094, 9094)],
            &["10.0.0.0/8 9094-9094"],
        );
        check(
            &[("10.0.0.0/25", 9094, 9094), ("10.0.0.128/25", 9094, 9094)],
            &["10.0.0.0/24 9094-9094"],
        );
        check(
            &[("0.0.0.0/0", 9094, 9094), ("10.1.0.0/16", 9092, 9094)],
            &["10.1.0.0/16 9092-9093", "0.0.0.0/0 9094-9094"],
        );
        check(
            &[("10.1.0.7/16", 1, 65535), ("10.2.0.1/32", 9094, 9094)],
            &[
                "10.1.0.0/16 1-9093",
                "10.1.0.0/16 9094-9094",
                "10.2.0.1/32 9094-9094",
                "10.1.0.0/16 9095-65535",
            ],
        );
        check(
            &[("10.1.0.0/16", 9090, 9091), ("10.1.0.0/16", 9093, 9094)],
            &["10.1.0.0/16 9090-9091", "10.1.0.0/16 9093-9094"],
        );
    }

    #[test]
    fn without_rules_it_is_closed() {
        let table = firewall(&[]);
        assert_eq!(table.title(), "inet castellan");
        assert!(!table.body.contains("elements"), "{}", table.body);
        assert!(table.body.contains("policy drop"));
    }

    #[test]
    fn what_is_allowed_is_in_the_set() {
        let table =
            firewall(&[rule(&("0.0.0.0/0", 9093, 9094)), rule(&("10.9.0.0/24", 9092, 9092))]);
        let expected = "elements = { 0.0.0.0/0 . 9093-9094, 10.9.0.0/24 . 9092 }\n";
        assert!(table.body.contains(expected), "{}", table.body);
    }
}
