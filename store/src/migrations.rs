//! The tables as they grew, one file a step, embedded.
//!
//! By a list: sqlx's own macro would build the drivers of both databases a second
//! time, for the compiler itself.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../migrations/", $name, ".sql")))
    };
}

/// In the order in which they are applied. Each begins with its number, and is never changed
/// once released.
const FILES: [(&str, &str); 32] = [
    file!("0001_first"),
    file!("0002_idempotency"),
    file!("0003_hosts"),
    file!("0004_pauses"),
    file!("0005_tickets"),
    file!("0006_team"),
    file!("0007_billing"),
    file!("0008_audit_chain"),
    file!("0009_networks"),
    file!("0010_actions"),
    file!("0011_certificates"),
    file!("0012_resources"),
    file!("0013_alarms"),
    file!("0014_seen_incidents"),
    file!("0015_names"),
    file!("0016_outbox_shares"),
    file!("0017_disk_guards"),
    file!("0018_audit_heads"),
    file!("0019_overtaken_actions"),
    file!("0020_outbox_holders"),
    file!("0021_certificate_roots"),
    file!("0022_mail_consents"),
    file!("0023_audit_bounds"),
    file!("0024_conditions"),
    file!("0025_superseded_and_kafka_generation"),
    file!("0026_server_state"),
    file!("0027_resizes"),
    file!("0028_sizes"),
    file!("0029_moved"),
    file!("0030_integrations"),
    file!("0033_keys"),
    file!("0034_sessions"),
];

/// What brings a database up to date.
pub(crate) fn migrator() -> Migrator {
    let migration = |(name, sql): (&'static str, &'static str)| {
        let sql = sql.into_sql_str();
        Migration::new(number(name), name.into(), MigrationType::Simple, sql, false)
    };
    Migrator::with_migrations(FILES.map(migration).into())
}

fn number(name: &str) -> i64 {
    let digits = name.split('_').next().unwrap_or_default();
    digits.parse().expect("a test sees that every name begins with its number")
}

/// The number of the last step that a database has seen.
pub(crate) const LAST: &str = "SELECT COALESCE(MAX(version), 0) AS last FROM _sqlx_migrations";

/// Whether steps follow the one of that number.
pub(crate) fn is_behind(last: i64) -> bool {
    FILES.last().is_some_and(|(name, _)| last < number(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_file_is_in_the_list() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let entries = fs::read_dir(directory).unwrap();
        let mut there: Vec<String> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        there.sort();
        assert_eq!(FILES.map(|(name, _)| format!("{name}.sql")).to_vec(), there);
    }

    #[test]
    fn every_file_has_a_number_of_its_own_and_stands_in_their_order() {
        let numbers = FILES.map(|(name, _)| {
            assert!(name.starts_with(&format!("{:04}_", number(name))), "{name}");
            number(name)
        });
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    }
}
