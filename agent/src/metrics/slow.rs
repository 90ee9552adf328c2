//! What is asked of the disk, which may hang: how full its file system is every
//! time, and what changes slowly or costs more to find out once a minute.

use super::{disk, number};
use crate::place::Place;
use jiff::Timestamp;
use model::Series;
use pki::Facts;
use std::fs;

const DAY: f64 = 24.0 * 3600.0;

/// `whole`: also what is looked at once a minute. Blocks; not for a thread that
/// others wait for.
pub fn look(place: &Place, now: Timestamp, whole: bool) -> Vec<(Series, f64)> {
    let mut values = Vec::new();
    if let Ok(room) = host::room(&place.disk()) {
        values.push((Series::FileSystemFree, number(room.free)));
        values.push((Series::FileSystemSize, number(room.total)));
    }
    if !whole {
        return values;
    }
    if let Ok(used) = disk::used(&place.disk()) {
        values.push((Series::DiskUsed, number(used)));
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
        assert_eq!(look(&place, now, true), [], "there is no disk and no certificate");
        fs::create_dir(place.disk()).unwrap();
        let csr = pki::request(&pki::KeyPair::generate(), "server").unwrap();
        fs::write(place.tls("server.pem"), sign(&authority(), &csr)).unwrap();
        let seen = look(&place, now, true);
        assert_eq!(
            seen.iter().map(|(series, _)| *series).collect::<Vec<_>>(),
            [
                Series::FileSystemFree,
                Series::FileSystemSize,
                Series::DiskUsed,
                Series::CertificateDays
            ]
        );
        assert!((seen[3].1 - 30.0).abs() < 0.01, "{seen:?}");
        assert_eq!(look(&place, now, false).len(), 2, "most of it can wait");
    }
}
