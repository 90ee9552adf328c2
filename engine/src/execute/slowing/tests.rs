use super::*;

fn entity(user: &str, client: &str) -> QuotaEntity {
    let name = |name: &str| match name {
        "" => None,
        "*" => Some(Name::Default),
        name => Some(Name::Of(name.to_owned())),
    };
    QuotaEntity { user: name(user), client_id: name(client) }
}

fn check(
    present: &[(&str, &str, f64)],
    kept: &[(&str, &str, Option<f64>)],
    expected: &[(&str, &str, Option<f64>)],
) {
    let quota = |(user, client, rate): &(&str, &str, f64)| Quota {
        entity: entity(user, client),
        limits: BTreeMap::from([(RATE, *rate)]),
    };
    let before = |rows: &[(&str, &str, Option<f64>)]| -> Limits {
        rows.iter().map(|(user, client, rate)| (entity(user, client), *rate)).collect()
    };
    let present: Vec<Quota> = present.iter().map(quota).collect();
    let found = to_change(&present, before(kept));
    assert_eq!(found, before(expected), "{present:?}");
    assert_eq!(read(written(&found, true)), found, "it is read back");
}

#[test]
fn no_producer_is_left_out() {
    check(&[], &[], &[("*", "*", None)]);
    // Limits that are less particular than the one for all don't matter.
    check(&[("*", "", 1e9), ("", "app", 1e9), ("", "*", 1e9)], &[], &[("*", "*", None)]);
    check(&[("*", "*", 1e9)], &[], &[("*", "*", Some(1e9))]);
    // Never none at all: that would be taken for a store that does not know.
    check(&[("*", "*", 10.0)], &[], &[("*", "*", Some(10.0))]);
    check(&[("bob", "", 1e9)], &[], &[("*", "*", None), ("bob", "*", None)]);
    check(
        &[("bob", "app", 1e9), ("*", "app", 1e8)],
        &[],
        &[("*", "*", None), ("bob", "app", Some(1e9)), ("*", "app", Some(1e8))],
    );
    check(&[("bob", "app", 10.0)], &[], &[("*", "*", None)]);
    // Somebody wrote it too late, and nobody has kept what was before.
    check(&[("bob", "app", SLOW)], &[], &[("*", "*", None), ("bob", "app", None)]);
    // Once more, after some of it was done.
    check(
        &[("*", "*", SLOW), ("bob", "app", SLOW)],
        &[("*", "*", None), ("bob", "app", Some(1e9))],
        &[("*", "*", None), ("bob", "app", Some(1e9))],
    );
}

#[test]
fn nobody_becomes_faster_by_it() {
    let quota = |user, client, rate| Quota {
        entity: entity(user, client),
        limits: BTreeMap::from([(RATE, rate)]),
    };
    check(&[("bob", "", 10.0)], &[], &[("*", "*", None)]);
    check(&[("", "app", 10.0)], &[], &[("*", "*", None), ("*", "app", None)]);
    let present = [quota("*", "", 20.0), quota("", "app", 10.0)];
    let check = |present: &[Quota], user, client, was, expected: f64| {
        let slow = slow_limit(present, &entity(user, client), was);
        assert!((slow - expected).abs() < 0.1, "{slow} for {user} with {client}");
    };
    check(&present, "*", "*", None, 20.0);
    check(&present[1..], "*", "*", None, SLOW);
    check(&present[1..], "*", "app", None, 10.0);
    check(&present[1..], "*", "app", Some(1e9), SLOW);
    check(&present, "bob", "*", None, SLOW);
    check(&present, "*", "*", Some(10.0), 10.0);
}

#[test]
fn what_was_kept_is_put_back_and_what_is_ours_beside_it_goes() {
    let quota = |user, client, rate| Quota {
        entity: entity(user, client),
        limits: BTreeMap::from([(RATE, rate)]),
    };
    let present = [
        quota("*", "*", SLOW),
        quota("bob", "app", SLOW),
        quota("ann", "app", 1e6),
        quota("ann", "", SLOW),
    ];
    let kept = Limits::from([(entity("bob", "app"), Some(1e9)), (entity("eve", "*"), None)]);
    let expected = Limits::from([
        (entity("*", "*"), None),
        (entity("bob", "app"), Some(1e9)),
        (entity("eve", "*"), None),
    ]);
    assert_eq!(to_put_back(&present, kept), expected);
}

#[test]
fn limits_of_others_than_producers_stay() {
    let limits = BTreeMap::from([(QuotaKey::ConsumerByteRate, 1e9)]);
    let present = [Quota { entity: entity("bob", "app"), limits }];
    let found: Vec<QuotaEntity> = to_change(&present, Limits::new()).into_keys().collect();
    assert_eq!(found, [entity("*", "*")]);
}
