//! Whether this host is fit for Kafka, said before something fails for it.
//!
//! Pure: facts in, sentences out. A sentence says what is low, why that
//! matters and what to do. Only what can't work refuses a start. A full disk
//! never does: deleting an instance is what frees it, and needs a control
//! plane.

use crate::host_facts::HostFacts;
use anyhow::{Result, bail};
use model::{SignedDuration, Timestamp};
use std::ops::RangeInclusive;

/// A broker holds about four files for each partition and one for each client.
const OPEN_FILES_GOOD: u64 = 16_384;
/// Jars, listeners and Kafka's own topics take most of this.
const OPEN_FILES_LEAST: u64 = 1_024;
/// The kernel's old default. Every log segment maps two index files.
const MAPS_GOOD: u64 = 65_530;
/// Below this a JVM with a broker in it does not come up.
const MAPS_LEAST: u64 = 2_048;
const MEMORY_GOOD_MB: u64 = 4 * 1024;
const MEMORY_LEAST_MB: u64 = 512;
const DISK_GOOD_MB: u64 = 10 * 1024;
/// Certificates are backdated by this, so a clock may be behind by less.
const CLOCK_BEHIND: SignedDuration = SignedDuration::from_hours(1);
/// Clocks of several hosts on one store differ by less, and that is normal.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_mins(1);
const YEARS: RangeInclusive<i16> = 2025..=2100;

/// One thing that is low.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub sentence: String,
    pub can_work: bool,
}

/// The sentences to tell; an error if something can't work.
pub fn check(facts: &HostFacts) -> Result<Vec<String>> {
    let findings = findings(facts);
    let (low, fatal): (Vec<_>, Vec<_>) = findings.into_iter().partition(|found| found.can_work);
    if let Some(first) = fatal.first() {
        bail!("{}", first.sentence);
    }
    Ok(low.into_iter().map(|found| found.sentence).collect())
}

/// Everything that is low, in a fixed order.
pub fn findings(facts: &HostFacts) -> Vec<Finding> {
    let all =
        [open_files(facts), map_count(facts), memory(facts), disk(facts), year(facts), age(facts)];
    all.into_iter().flatten().collect()
}

fn open_files(facts: &HostFacts) -> Option<Finding> {
    let limit = facts.open_files.filter(|limit| *limit < OPEN_FILES_GOOD)?;
    Some(Finding {
        sentence: format!(
            "a process may hold only {limit} files open, and a broker needs about four for each \
             partition and one for each client; raise the limit to {OPEN_FILES_GOOD} or more with \
             LimitNOFILE= in the systemd unit, or `ulimit -n` before the start"
        ),
        can_work: limit >= OPEN_FILES_LEAST,
    })
}

fn map_count(facts: &HostFacts) -> Option<Finding> {
    let count = facts.max_map_count.filter(|count| *count < MAPS_GOOD)?;
    Some(Finding {
        sentence: format!(
            "vm.max_map_count is {count}, and a broker maps two files for each segment of its \
             logs and ends when it may not; run: sysctl -w vm.max_map_count=262144, and put \
             that into /etc/sysctl.d to keep it"
        ),
        can_work: count >= MAPS_LEAST,
    })
}

fn memory(facts: &HostFacts) -> Option<Finding> {
    let memory = facts.memory_mb.filter(|memory| *memory < MEMORY_GOOD_MB)?;
    Some(Finding {
        sentence: format!(
            "there are {memory} MiB of memory, and three small servers take about \
             {MEMORY_GOOD_MB} MiB; use a larger machine, or cap the brokers' heaps with \
             max_heap_mb under [local] in the config file"
        ),
        can_work: memory >= MEMORY_LEAST_MB,
    })
}

fn disk(facts: &HostFacts) -> Option<Finding> {
    let free = facts.disk_free_mb.filter(|free| *free < DISK_GOOD_MB)?;
    Some(Finding {
        sentence: format!(
            "only {free} MiB are free where the data directory is, and a broker whose disk is \
             full stops; free some space, delete instances, or move the data directory"
        ),
        can_work: true,
    })
}

fn year(facts: &HostFacts) -> Option<Finding> {
    let year = facts.now.to_zoned(jiff::tz::TimeZone::UTC).year();
    (!YEARS.contains(&year)).then(|| Finding {
        sentence: format!(
            "the clock says {}, which can't be, and certificates made now would be worth \
             nothing; set the clock and let NTP keep it (timedatectl set-ntp true)",
            second(facts.now)
        ),
        can_work: false,
    })
}

/// A clock that was set back makes every certificate one of the future.
fn age(facts: &HostFacts) -> Option<Finding> {
    let created = facts.store_created_at?;
    let behind = created.duration_since(facts.now);
    if behind <= CLOCKS_DIFFER {
        return None;
    }
    Some(Finding {
        sentence: format!(
            "the clock says {}, but the store was made at {}, so certificates may count as not \
             yet valid; set the clock and let NTP keep it (timedatectl set-ntp true)",
            second(facts.now),
            second(created)
        ),
        can_work: behind < CLOCK_BEHIND,
    })
}

/// What to tell of the ports that servers share an address on. No reason not to start:
/// instances have such ports already.
pub fn shared_ports(facts: &HostFacts, shared: &RangeInclusive<u16>) -> Option<String> {
    let (first, last) = facts.outgoing_ports?;
    let is_reserved =
        |port: &u16| facts.reserved_ports.iter().any(|it| (it.0..=it.1).contains(port));
    let mut given =
        (first.max(*shared.start())..=last.min(*shared.end())).filter(|port| !is_reserved(port));
    let port = given.next()?;
    Some(format!(
        "port {port} of local.shared_ports is one that the kernel gives to connections that begin \
         on this host ({first} to {last}), so a broker may find its port taken when it starts; \
         choose ports below {first}, or keep these with \
         sysctl -w net.ipv4.ip_local_reserved_ports={}-{}, and put that into /etc/sysctl.d",
        shared.start(),
        shared.end()
    ))
}

fn second(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> HostFacts {
        HostFacts {
            open_files: Some(OPEN_FILES_GOOD),
            max_map_count: Some(MAPS_GOOD),
            memory_mb: Some(MEMORY_GOOD_MB),
            disk_free_mb: Some(DISK_GOOD_MB),
            outgoing_ports: Some((32_768, 60_999)),
            reserved_ports: vec![],
            now: "2026-11-15T00:00:00Z".parse().unwrap(),
            store_created_at: Some("2026-11-14T00:00:00Z".parse().unwrap()),
        }
    }

    #[test]
    fn a_good_host_is_not_talked_about() {
        assert_eq!(check(&good()).unwrap(), Vec::<String>::new());
        let unknown = HostFacts {
            open_files: None,
            max_map_count: None,
            memory_mb: None,
            disk_free_mb: None,
            outgoing_ports: None,
            store_created_at: None,
            ..good()
        };
        assert_eq!(check(&unknown).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn each_low_value_is_told_with_its_number_and_a_remedy() {
        let check = |change: fn(&mut HostFacts), number: &str, remedy: &str, can_work: bool| {
            let mut facts = good();
            change(&mut facts);
            let found = findings(&facts);
            assert_eq!(found.len(), 1, "{found:?}");
            let Finding { sentence, can_work: can } = &found[0];
            assert!(sentence.contains(number) && sentence.contains(remedy), "{sentence}");
            assert_eq!(*can, can_work, "{sentence}");
            assert_eq!(super::check(&facts).is_ok(), can_work);
        };
        check(|f| f.open_files = Some(16_383), "16383", "LimitNOFILE", true);
        check(|f| f.open_files = Some(1_023), "1023", "LimitNOFILE", false);
        check(|f| f.max_map_count = Some(65_529), "65529", "sysctl", true);
        check(|f| f.max_map_count = Some(100), " 100,", "sysctl", false);
        check(|f| f.memory_mb = Some(2_000), "2000 MiB", "max_heap_mb", true);
        check(|f| f.memory_mb = Some(511), "511 MiB", "max_heap_mb", false);
        check(|f| f.disk_free_mb = Some(10_239), "10239 MiB", "delete", true);
        // A control plane that refuses to start could not delete anything.
        check(|f| f.disk_free_mb = Some(0), " 0 MiB", "delete", true);
    }

    /// The throw-away server of a rehearsal takes ports from there, as any connection does.
    #[test]
    fn ports_that_the_kernel_gives_away_are_told() {
        let check = |shared: RangeInclusive<u16>, reserved: &[(u16, u16)], port: Option<&str>| {
            let facts = HostFacts { reserved_ports: reserved.to_vec(), ..good() };
            let said = shared_ports(&facts, &shared);
            let is_right = match (&said, port) {
                (Some(said), Some(port)) => said.starts_with(&format!("port {port} of ")),
                (said, port) => said.is_none() && port.is_none(),
            };
            assert!(is_right, "{shared:?}, {reserved:?}: {said:?}");
        };
        check(20_000..=20_999, &[], None);
        check(32_000..=33_000, &[], Some("32768"));
        check(40_000..=40_999, &[], Some("40000"));
        check(60_999..=61_999, &[], Some("60999"));
        check(61_000..=61_999, &[], None);
        check(40_000..=40_999, &[(8080, 8080), (40_000, 40_999)], None);
        check(40_000..=40_999, &[(40_000, 40_500)], Some("40501"));
        let unknown = HostFacts { outgoing_ports: None, ..good() };
        assert_eq!(shared_ports(&unknown, &(40_000..=40_999)), None);
    }

    #[test]
    fn a_clock_that_is_wrong_is_refused_and_one_a_little_behind_is_told() {
        let check = |now: &str, created: Option<&str>, works: Option<bool>| {
            let facts = HostFacts {
                now: now.parse().unwrap(),
                store_created_at: created.map(|at| at.parse().unwrap()),
                ..good()
            };
            let found = findings(&facts);
            assert_eq!(found.first().map(|found| found.can_work), works, "{found:?}");
        };
        check("1970-01-01T00:00:07Z", None, Some(false));
        check("2150-01-01T00:00:00Z", None, Some(false));
        let created = Some("2026-11-15T12:00:00Z");
        check("2026-11-15T12:00:00Z", created, None);
        check("2026-11-15T11:59:00Z", created, None);
        check("2026-11-15T11:30:00Z", created, Some(true));
        check("2026-11-15T10:30:00Z", created, Some(false));
    }
}
