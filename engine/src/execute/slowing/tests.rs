use super::*;
use std::collections::BTreeSet;

fn entity(user: &str, client: &str) -> QuotaEntity {
    let name = |name: &str| match name {
        "" => None,
        "*" => Some(Name::Default),
        name => Some(Name::Of(name.to_owned())),
    };
    QuotaEntity { user: name(user), client_id: name(client) }
}

fn quotas(rows: &[(&str, &str, f64)]) -> Vec<Quota> {
    let quota = |(user, client, rate): &(&str, &str, f64)| Quota {
        entity: entity(user, client),
        limits: BTreeMap::from([(RATE, *rate)]),
    };
    rows.iter().map(quota).collect()
}

fn limits(rows: &[(&str, &str, Option<f64>)]) -> Limits {
    rows.iter().map(|(user, client, rate)| (entity(user, client), *rate)).collect()
}

type Rates<'a> = &'a [(&'a str, &'a str, Option<f64>)];

fn check(present: &[(&str, &str, f64)], kept: Rates, expected: Rates) {
    let found = to_change(&quotas(present), limits(kept));
    assert_eq!(found, limits(expected), "{present:?}");
    assert_eq!(read(written(&found, true)), found, "it is read back");
}

#[test]
fn no_producer_is_left_out() {
    check(&[], &[], &[("*", "", None)]);
    // Limits that are less specific than the default user's don't matter.
    check(&[("", "app", 1e9), ("", "*", 1e9)], &[], &[("*", "", None)]);
    check(&[("*", "", 1e9)], &[], &[("*", "", Some(1e9))]);
    // Never none at all: that would be taken for a store that does not know.
    check(&[("*", "", 10.0)], &[], &[("*", "", Some(10.0))]);
    check(&[("bob", "", 1e9)], &[], &[("*", "", None), ("bob", "", Some(1e9))]);
    check(&[("bob", "", 10.0)], &[], &[("*", "", None)]);
    check(
        &[("bob", "app", 10.0), ("*", "app", 1e8)],
        &[],
        &[("*", "", None), ("bob", "app", Some(10.0)), ("*", "app", Some(1e8))],
    );
    // It was written too late, and what was before is not kept.
    check(&[("bob", "", SLOW)], &[], &[("*", "", None), ("bob", "", None)]);
    // Once more, after some of it was done.
    check(
        &[("*", "", SLOW), ("bob", "app", 1e9)],
        &[("*", "", None), ("bob", "app", Some(1e9)), ("eve", "app", Some(1e9))],
        &[("*", "", None), ("bob", "app", Some(1e9)), ("eve", "app", Some(1e9))],
    );
}

#[test]
fn limits_become_the_stricter_of_the_customers_and_ours() {
    let check = |before: Rates, expected: Rates| {
        assert_eq!(slow_limits(&limits(before)), limits(expected), "{before:?}");
    };
    check(&[("*", "", None)], &[("*", "", Some(SLOW))]);
    check(&[("*", "", Some(10.0))], &[("*", "", Some(10.0))]);
    check(&[("*", "", Some(1e9))], &[("*", "", Some(SLOW))]);
    check(
        &[("*", "", None), ("bob", "", Some(1e9)), ("bob", "app", Some(10.0))],
        &[("*", "", Some(SLOW)), ("bob", "", Some(SLOW)), ("bob", "app", None)],
    );
    // A user had 10 under each client id, and has 10 for all of them.
    check(
        &[("*", "", Some(1e9)), ("*", "*", Some(10.0))],
        &[("*", "", Some(10.0)), ("*", "*", None)],
    );
    check(
        &[("*", "", None), ("*", "*", Some(10.0)), ("*", "app", Some(1e9))],
        &[("*", "", Some(SLOW)), ("*", "*", None), ("*", "app", None)],
    );
}

/// What Kafka counts a producer's bytes against, and the limit of that: by the order of
/// its `DefaultQuotaCallback`. Limits of client ids alone come last and are left out.
fn counted(limits: &Limits, user: &str, client: &str) -> Option<(QuotaEntity, f64)> {
    let pair = entity(user, client);
    let alone = entity(user, "");
    let order = [
        (entity(user, client), &pair),
        (entity(user, "*"), &pair),
        (entity(user, ""), &alone),
        (entity("*", client), &pair),
        (entity("*", "*"), &pair),
        (entity("*", ""), &alone),
    ];
    order.into_iter().find_map(|(of, counted)| {
        limits.get(&of).copied().flatten().map(|rate| (counted.clone(), rate))
    })
}

/// Whatever quotas there are, a user is not faster by using many client ids.
#[test]
fn client_ids_multiply_nothing() {
    let users = ["*", "bob", "eve"];
    let clients = ["", "*", "a", "b"];
    let rates = [10.0, SLOW - 1.0, SLOW, 1e9];
    let all: Vec<(&str, &str)> =
        users.iter().flat_map(|user| clients.map(|client| (*user, client))).collect();
    // Each set of entities by the bits of a number, with rates that differ among them.
    for chosen in 1_usize..1 << all.len() {
        let rows: Vec<(&str, &str, f64)> = (0..all.len())
            .filter(|bit| chosen & (1 << bit) != 0)
            .map(|bit| (all[bit].0, all[bit].1, rates[(bit + chosen) % rates.len()]))
            .collect();
        let present = quotas(&rows);
        let changes = slow_limits(&to_change(&present, Limits::new()));
        let mut then: Limits = limits(&[]);
        then.extend(present.iter().map(|it| (it.entity.clone(), it.limits.get(&RATE).copied())));
        then.extend(changes);
        for user in ["bob", "eve", "new"] {
            let of_clients = ["a", "b", "c", "d"].map(|client| counted(&then, user, client));
            let buckets: BTreeSet<&QuotaEntity> =
                of_clients.iter().map(|it| &it.as_ref().expect("there is a limit").0).collect();
            assert_eq!(buckets.len(), 1, "{rows:?}: {user} has {buckets:?}");
            let (_, rate) = of_clients[0].as_ref().unwrap();
            assert!(*rate <= SLOW, "{rows:?}: {user} has {rate}");
        }
    }
}

#[test]
fn what_was_kept_is_put_back_and_what_is_ours_beside_it_goes() {
    let present =
        quotas(&[("*", "", SLOW), ("bob", "", SLOW), ("ann", "app", 1e6), ("", "app", SLOW)]);
    let kept = limits(&[("bob", "", Some(1e9)), ("eve", "app", Some(1e8)), ("eve", "", None)]);
    let expected = limits(&[
        ("*", "", None),
        ("bob", "", Some(1e9)),
        ("eve", "app", Some(1e8)),
        ("eve", "", None),
    ]);
    assert_eq!(to_put_back(&present, kept), expected);
}

#[test]
fn limits_of_others_than_producers_stay() {
    let limits = BTreeMap::from([(QuotaKey::ConsumerByteRate, 1e9)]);
    let present = [Quota { entity: entity("bob", "app"), limits }];
    let found: Vec<QuotaEntity> = to_change(&present, Limits::new()).into_keys().collect();
    assert_eq!(found, [entity("*", "")]);
}
