//! One who dies between any two changes, and the next one who goes on.

use crate::fixture::{Host, own, reaches};
use netns::{Error, Network, Networks};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Networks of the same tag, that die after so many changes.
fn mortal(host: &Host, changes: usize) -> Networks {
    let left = AtomicUsize::new(changes);
    let gate = move |_: &str| {
        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    };
    Networks::new(host.networks.tag().clone(), "mortal").with_gate(gate)
}

/// One who knows nothing of what happened before.
fn reborn(host: &Host) -> Networks {
    Networks::new(host.networks.tag().clone(), "reborn")
}

fn serves(host: &Host, network: &Network) {
    for last in [5, 6] {
        host.serve(network, last);
        assert!(reaches(None, Host::alias(network, last)), "{last}");
    }
    let from = host.inside(network, 6);
    assert!(reaches(Some(&from), std::net::SocketAddrV4::new(own(5), 9094)));
}

fn make(networks: &Networks, host: &Host, network: &Network) -> Result<(), Error> {
    networks.make_host(&host.control, std::slice::from_ref(network))?;
    networks.make(network, &host.control)?;
    Ok(())
}

#[test]
fn what_was_begun_is_finished() {
    let Some(mut host) = Host::new("begun") else { return };
    let network = host.network(&[5, 6]);
    let mut points = 0;
    loop {
        match make(&mortal(&host, points), &host, &network) {
            Err(Error::Interrupted(before)) => {
                make(&reborn(&host), &host, &network)
                    .unwrap_or_else(|error| panic!("after a death before {before}: {error}"));
                serves(&host, &network);
                reborn(&host).remove(network.slot).unwrap();
                reborn(&host).remove_host().unwrap();
            }
            other => break other.unwrap(),
        }
        points += 1;
    }
    serves(&host, &network);
    // Namespaces, links, rules, addresses and routes of three places.
    assert!(points > 30, "{points}");
    host.end();
}

#[test]
fn what_was_half_removed_is_removed_or_made_again() {
    let Some(mut host) = Host::new("half removed") else { return };
    let network = host.network(&[5, 6]);
    let mut points = 0;
    loop {
        make(&reborn(&host), &host, &network).unwrap();
        let dying = mortal(&host, points);
        let removed = dying.remove(network.slot).and_then(|_| dying.remove_host());
        match removed {
            Err(Error::Interrupted(_)) => {
                if points.is_multiple_of(2) {
                    make(&reborn(&host), &host, &network).unwrap();
                    serves(&host, &network);
                }
                reborn(&host).remove(network.slot).unwrap();
                reborn(&host).remove_host().unwrap();
            }
            other => break drop(other.unwrap()),
        }
        points += 1;
    }
    assert!(points > 6, "{points}");
    host.end();
}

#[test]
fn a_member_that_is_described_no_more_goes_alone() {
    let Some(mut host) = Host::new("one less") else { return };
    let mut network = host.network(&[5, 6]);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 5);
    let (five, six) = (host.inside(&network, 5), host.inside(&network, 6));
    let mut points = 0;
    let member = network.members.remove(&own(6)).unwrap();
    while let Err(Error::Interrupted(_)) = mortal(&host, points).make(&network, &host.control) {
        points += 1;
    }
    assert!(points > 2 && !six.exists() && five.exists(), "{points}");
    assert!(reaches(None, Host::alias(&network, 5)));
    network.members.insert(own(6), member);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 6);
    assert!(reaches(None, Host::alias(&network, 6)));
    host.end();
}
