//! Who may connect, and how often.

use crate::call::{Answer, Call};
use crate::world::World;
use axum::Router;
use model::{Clock as _, Secret, SignedDuration};
use std::time::Duration;
use web::{Options, Rate, RateLimit, RateLimits};

/// Both APIs with one limit, whose time is the world's.
fn limited(world: &World, limits: RateLimits, proxies: &[&str]) -> [Router; 2] {
    let (clock, start) = (world.clock.clone(), world.app.now());
    let time = move || Duration::try_from(clock.now().duration_since(start)).unwrap();
    let options = Options {
        rate_limit: RateLimit::on(limits, time),
        proxies: proxies.iter().map(|proxy| proxy.parse().unwrap()).collect(),
        ..Options::default()
    };
    [api::customer_router, api::instance_router]
        .map(|router| router(world.app.clone(), options.clone()))
}

const fn rate(per_second: u32, burst: u32) -> Rate {
    Rate { per_second, burst }
}

fn standing(answer: &Answer) -> [&str; 3] {
    ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map(|name| answer.header(name))
}

fn wrong() -> Secret {
    Secret::new("x".repeat(43))
}

async fn statuses(call: &Call, router: &Router, times: usize) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..times {
        statuses.push(call.send(router).await.status.as_u16());
    }
    statuses
}

#[test]
fn the_defaults_are_the_contracts() {
    let RateLimits { key, account, address, invitations_per_hour, .. } = RateLimits::default();
    assert_eq!((key, account, address), (rate(100, 500), rate(500, 2500), rate(10, 30)));
    assert_eq!(invitations_per_hour, 20);
}

#[tokio::test]
async fn a_key_has_a_bucket_that_fills_again() {
    let world = World::new().await;
    let limits = RateLimits { key: rate(2, 3), ..RateLimits::default() };
    let [customer, _] = limited(&world, limits, &[]);
    let call = Call::get("/api/plans").key(&world.key);
    let first = call.send(&customer).await;
    assert_eq!((first.status.as_u16(), standing(&first)), (200, ["3", "2", "1"]));
    assert_eq!(statuses(&call, &customer, 3).await, [200, 200, 429]);

    let refused = call.send(&customer).await;
    refused.expect_error(429, "Too many requests; try again in 1 s");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(standing(&refused), ["3", "0", "2"]);
    let other = world.member(model::Role::Admin, &[]).await;
    let other = Call::get("/api/plans").key(&other).send(&customer).await;
    assert_eq!(other.status, 200, "another key has its own");

    world.clock.advance(SignedDuration::from_secs(1));
    assert_eq!(statuses(&call, &customer, 3).await, [200, 200, 429]);
    world.clock.advance(SignedDuration::from_secs(60));
    assert_eq!(statuses(&call, &customer, 4).await, [200, 200, 200, 429]);
}

#[tokio::test]
async fn an_account_has_one_bucket_on_both_listeners() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let limits = RateLimits { account: rate(1, 4), ..RateLimits::default() };
    let [customer, own] = limited(&world, limits, &[]);
    let second = world.member(model::Role::Admin, &[]).await;
    let details = Call::get("/api/details").key(&instance.apikey);
    let answer = Call::get("/api/plans").key(&world.key).send(&customer).await;
    assert_eq!(standing(&answer), ["4", "3", "1"], "the bucket that is empty first");
    assert_eq!(Call::get("/api/plans").key(&second).send(&customer).await.status, 200);
    assert_eq!(statuses(&details, &own, 3).await, [200, 200, 429]);
    assert_eq!(Call::get("/api/plans").key(&second).send(&customer).await.status, 429);

    let stranger = world.stranger().await;
    assert_eq!(Call::get("/api/plans").key(&stranger).send(&customer).await.status, 200);
}

#[tokio::test]
async fn guesses_are_charged_to_the_address_before_any_look_up() {
    let world = World::new().await;
    let limits = RateLimits { address: rate(1, 3), ..RateLimits::default() };
    let [customer, _] = limited(&world, limits, &[]);
    let known = Call::get("/api/plans").key(&world.key);
    // The key's own first call is looked up like any other.
    assert_eq!(standing(&known.send(&customer).await), ["500", "499", "1"]);
    let guess = Call::get("/api/plans").key(&wrong());
    assert_eq!(standing(&guess.send(&customer).await), ["3", "1", "2"]);
    assert_eq!(statuses(&Call::get("/api/plans"), &customer, 1).await, [401]);
    assert_eq!(statuses(&guess, &customer, 2).await, [429, 429]);
    assert_eq!(statuses(&known, &customer, 40).await, [200; 40], "a known key is not held up");
    let elsewhere = guess.clone().peer("192.0.2.8:1");
    assert_eq!(statuses(&elsewhere, &customer, 1).await, [401]);

    world.app.store().close().await;
    assert_eq!(statuses(&guess, &customer, 1).await, [429], "the store is not asked");
    assert_eq!(statuses(&elsewhere, &customer, 1).await, [503]);
}

#[tokio::test]
async fn a_key_that_was_revoked_is_a_guess() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let limits = RateLimits { address: rate(1, 2), ..RateLimits::default() };
    let [_, own] = limited(&world, limits, &[]);
    let details = Call::get("/api/details").key(&instance.apikey);
    assert_eq!(statuses(&details, &own, 5).await, [200; 5]);
    let path = format!("/api/instances/{}", instance.id);
    assert_eq!(Call::delete(&path).key(&world.key).send(&world.customer).await.status, 204);
    assert_eq!(statuses(&details, &own, 3).await, [401, 401, 429]);
}

#[tokio::test]
async fn addresses_are_told_by_proxies_alone_and_ipv6_counts_by_64() {
    let world = World::new().await;
    let limits = RateLimits { address: rate(1, 1), ..RateLimits::default() };
    let [customer, _] = limited(&world, limits, &["10.0.0.0/8"]);
    let check = async |peer: &str, forwarded: &str, expected: u16| {
        let call = Call::get("/api/plans").peer(peer).header("x-forwarded-for", forwarded);
        assert_eq!(call.send(&customer).await.status, expected, "{peer} {forwarded}");
    };
    check("10.0.0.1:1", "198.51.100.1", 401).await;
    check("10.0.0.1:1", "198.51.100.1", 429).await;
    check("10.0.0.2:1", "198.51.100.1", 429).await;
    check("10.0.0.1:1", "198.51.100.2", 401).await;
    check("203.0.113.9:1", "198.51.100.3", 401).await;
    check("203.0.113.9:1", "198.51.100.4", 429).await;
    check("[2001:db8:0:1::1]:1", "", 401).await;
    check("[2001:db8:0:1:ffff::2]:1", "", 429).await;
    check("[2001:db8:0:2::1]:1", "", 401).await;
}

#[tokio::test]
async fn what_does_not_exist_comes_before_the_limit_and_health_is_exempt() {
    let world = World::new().await;
    let limits = RateLimits { address: rate(1, 1), ..RateLimits::default() };
    let [customer, _] = limited(&world, limits, &[]);
    let missing = Call::get("/nothing").send(&customer).await;
    assert_eq!((missing.status.as_u16(), standing(&missing)), (404, ["1", "0", "1"]));
    assert_eq!(statuses(&Call::get("/nothing"), &customer, 2).await, [404, 404]);
    let method = Call::new("PATCH", "/api/plans").send(&customer).await;
    assert_eq!((method.status.as_u16(), standing(&method)), (405, ["1", "0", "1"]));
    assert_eq!(statuses(&Call::get("/api/plans"), &customer, 1).await, [429]);
    for path in ["/healthz", "/readyz"] {
        let answer = Call::get(path).send(&customer).await;
        assert_eq!((answer.status.as_u16(), standing(&answer)), (200, [""; 3]), "{path}");
    }
}

#[tokio::test]
async fn a_limit_of_zero_is_off() {
    let world = World::new().await;
    let [customer, _] = limited(&world, RateLimits::OFF, &[]);
    assert_eq!(statuses(&Call::get("/api/plans"), &customer, 40).await, [401; 40]);
    let answer = Call::get("/api/plans").key(&world.key).send(&customer).await;
    assert_eq!(standing(&answer), [""; 3]);
}

#[tokio::test]
async fn plain_http_behind_a_proxy_is_for_the_proxy_and_this_machine() {
    let world = World::new().await;
    let options = Options {
        proxies: vec!["10.0.0.0/8".parse().unwrap()],
        only_from_proxies: true,
        ..Options::default()
    };
    let routers = [api::customer_router, api::instance_router]
        .map(|router| router(world.app.clone(), options.clone()));
    for router in &routers {
        for path in ["/healthz", "/api/plans", "/nothing"] {
            let call = Call::get(path).key(&world.key).header("x-forwarded-for", "10.0.0.1");
            let refused = call.clone().peer("192.0.2.1:1").send(router).await;
            let sentence = "This address serves its proxy alone; call the proxy with https instead";
            refused.expect_error(403, sentence);
            assert_eq!(refused.header("x-request-id").len(), 36);
            for peer in ["10.9.9.9:1", "127.0.0.1:1", "[::1]:1", "[::ffff:10.0.0.1]:1"] {
                let answer = call.clone().peer(peer).send(router).await;
                assert_ne!(answer.status, 403, "{peer} {path}");
            }
        }
    }
    let agents = api::agent_router(world.app.clone(), options);
    let agent = Call::get("/healthz").peer("192.0.2.1:1").send(&agents).await;
    assert_eq!(agent.status, 200, "agents come with TLS, from anywhere");
}
