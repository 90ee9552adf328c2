//! Where a store is.

use crate::{Error, Result};
use model::Secret;
use sqlx::postgres::PgConnectOptions;
use std::fmt;
use std::path::{Path, PathBuf};

/// A SQLite file for one control plane, or a PostgreSQL for several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    Sqlite(PathBuf),
    /// `postgres://user:password@host:port/database`.
    Postgres(Secret),
}

impl Location {
    pub(crate) fn postgres_options(url: &Secret) -> Result<PgConnectOptions> {
        let url = url.expose();
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        if !matches!(scheme, Some("postgres" | "postgresql")) {
            return Err(Error::BadUrl);
        }
        let options: PgConnectOptions = url.parse().map_err(|_| Error::BadUrl)?;
        // Notices such as "already exists, skipping" are no news to anybody.
        let quiet = [("client_min_messages", "warning")];
        Ok(options.application_name("castellan").options(quiet))
    }
}

impl From<&Location> for Location {
    fn from(location: &Location) -> Self {
        location.clone()
    }
}

/// A path is a SQLite file.
impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Location::Sqlite(path.to_owned())
    }
}

impl From<&PathBuf> for Location {
    fn from(path: &PathBuf) -> Self {
        Location::Sqlite(path.clone())
    }
}

/// For people; without the password.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Sqlite(path) => write!(f, "{}", path.display()),
            Location::Postgres(url) => match Self::postgres_options(url) {
                Ok(options) => write!(f, "{}", describe(&options)),
                Err(_) => f.write_str("PostgreSQL"),
            },
        }
    }
}

/// `PostgreSQL at <host>:<port>`, of all that the options hold.
pub(crate) fn describe(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(socket) => format!("PostgreSQL at {}", socket.display()),
        None => format!("PostgreSQL at {}:{}", options.get_host(), options.get_port()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_shows_where_and_never_the_password() {
        let check = |url: &str, expected: &str| {
            let location = Location::Postgres(Secret::new(url));
            assert_eq!(location.to_string(), expected);
            assert!(!format!("{location:?}").contains("pass"));
        };
        check("postgres://me:pass@db.test:6543/castellan", "PostgreSQL at db.test:6543");
        check("postgres://me:pass@%2Frun%2Fpg/castellan", "PostgreSQL at /run/pg");
        check("mysql://me:pass@db.test/castellan", "PostgreSQL");
    }
}
