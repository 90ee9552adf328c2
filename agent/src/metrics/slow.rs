//! What changes slowly or costs more to find out: looked at once a minute.

use super::{disk, number};
use crate::place::Place;
use crate::x509::Facts;
use jiff::Timestamp;
use model::Series;
use std::fs;

const DAY: f64 = 24.0 * 3600.0;

/// Blocks; not for a thread that others wait for.
pub fn look(place: &Place, now: Timestamp) -> Vec<(Series, f64)> {
    let mut values = Vec::new();
    if let Ok(used) = disk::used(&place.disk()) {
        values.push((Series::DiskUsed, number(used)));
    }
    if let Ok(room) = host::room(&place.disk()) {
        values.push((Series::FileSystemFree, number(room.free)));
    }
    if let Some(days) = certificate_days(place, now) {
        values.push((Series::CertificateDays, days));
    }
    values
}

/// Of the first that expires.
fn certificate_days(place: &Place, now: Timestamp) -> Option<f64> {
    let days = ["internal.pem", "server.pem"].into_iter().filter_map(|name| {
        let facts = Facts::read(&fs::read_to_string(place.tls(name)).ok()?)?;
        Some(facts.not_after.duration_since(now).as_secs_f64() / DAY)
    });
    days.min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{authority, sign};
    use model::{Clock as _, SystemClock};

    #[test]
    fn the_first_certificate_to_expire_counts() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        let now = SystemClock.now();
        assert_eq!(look(&place, now), [], "there is no disk and no certificate");
        fs::create_dir(place.disk()).unwrap();
        let csr = pki::request(&pki::KeyPair::generate(), "server").unwrap();
        fs::write(place.tls("server.pem"), sign(&authority(), &csr)).unwrap();
        let seen = look(&place, now);
        assert_eq!(
            seen.iter().map(|(series, _)| *series).collect::<Vec<_>>(),
            [Series::DiskUsed, Series::FileSystemFree, Series::CertificateDays]
        );
        assert!((seen[2].1 - 30.0).abs() < 0.01, "{seen:?}");
    }
}
