//! Keeping tables of rules as they should be.
//!
//! The kernel lists rules in words of its own, so a table is compared with what was listed
//! right after it was made. One that we have not made ourselves since we started is made once.

use crate::Error;
use crate::kernel::{self, Kernel, Place};
use crate::rules::Table;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};

#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// By place and title.
    known: Mutex<HashMap<(Place, String), Known>>,
}

#[derive(Debug, PartialEq)]
struct Known {
    body: String,
    listed: Listed,
}

/// The words of a listing: sets are listed in any order.
type Listed = Vec<String>;

impl Lists {
    /// Makes these tables so, in one go if more than one differs.
    pub(crate) fn ensure(
        &self,
        kernel: &Kernel,
        place: &Place,
        tables: &[Table],
    ) -> Result<(), Error> {
        let present = listed(place, tables)?;
        let is_other = |table: &&Table| {
            let known = self.known();
            let known = known.get(&(place.clone(), table.title()));
            !known.is_some_and(|known| {
                known.body == table.body && present.get(&table.title()) == Some(&known.listed)
            })
        };
        let others: Vec<&Table> = tables.iter().filter(is_other).collect();
        if others.is_empty() {
            return Ok(());
        }
        let titles: Vec<String> = others.iter().map(|table| table.title()).collect();
        let text: String = others.iter().map(|table| table.text()).collect();
        kernel.nft(place, &format!("rules of {}", titles.join(" and ")), &text)?;
        let mut present = listed(place, tables)?;
        let mut all = self.known();
        for table in others {
            if let Some(listed) = present.remove(&table.title()) {
                let known = Known { body: table.body.clone(), listed };
                all.insert((place.clone(), table.title()), known);
            }
        }
        Ok(())
    }

    /// A place that is gone.
    pub(crate) fn forget(&self, place: &Place) {
        self.known().retain(|(known, _), _| known != place);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(Place, String), Known>> {
        self.known.lock().expect("no holder of this lock panics")
    }
}

/// What is there of tables, by title. On the host others' are not read.
fn listed(place: &Place, tables: &[Table]) -> Result<BTreeMap<String, Listed>, Error> {
    if *place != Place::Host {
        let text = kernel::rules(place, &["ruleset"])?;
        return Ok(split(&text.unwrap_or_default()));
    }
    let mut found = BTreeMap::new();
    for table in tables {
        if let Some(text) = kernel::rules(place, &["table", table.family, &table.name])? {
            found.extend(split(&text));
        }
    }
    Ok(found)
}

fn split(text: &str) -> BTreeMap<String, Listed> {
    let mut found: BTreeMap<String, Listed> = BTreeMap::new();
    let mut title = String::new();
    for line in text.lines() {
        if let Some(begin) = line.strip_prefix("table ") {
            begin.trim_end_matches(" {").clone_into(&mut title);
        }
        let words = line.split(|it: char| it.is_whitespace() || it == ',');
        let words = words.filter(|word| !word.is_empty()).map(str::to_owned);
        found.entry(title.clone()).or_default().extend(words);
    }
    for words in found.values_mut() {
        words.sort();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read_table_by_table_in_any_order() {
        let one = "table ip a {\n\tset s {\n\t\telements = { 1, 2,\n\t\t\t     3 }\n\t}\n}\n";
        let other = "table ip a {\n\tset s {\n\t\telements = { 3, 1,\n\t\t\t     2 }\n\t}\n}\n";
        assert_eq!(split(one), split(other));
        assert_ne!(split(one), split(&other.replace('3', "4")));
        let both = split(&format!("{one}table netdev guard_5 {{\n}}\n"));
        assert_eq!(both.keys().collect::<Vec<_>>(), ["ip a", "netdev guard_5"]);
        assert_eq!(both["ip a"], split(one)["ip a"]);
    }
}
