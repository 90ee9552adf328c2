//! The table of what may be on a disk and what the agent says to it.

use super::*;
use crate::testing::{desired, marker};
use model::ServerId;
use wire::agent::Format;

const META: &str = "#\nversion=1\ncluster.id=cluster-A\nnode.id=1\ndirectory.id=directory-A\n";

/// What is on the disk.
struct Disk {
    marker: Option<String>,
    meta: Option<&'static str>,
    formatted: Option<&'static str>,
    may_format: bool,
    controllers: &'static [&'static str],
}

impl Default for Disk {
    fn default() -> Self {
        let marker = serde_json::to_string(&marker()).unwrap();
        Self {
            marker: Some(marker),
            meta: None,
            formatted: None,
            may_format: false,
            controllers: &["1@host:9090:directory-A"],
        }
    }
}

fn look(disk: &Disk) -> Result<DiskCheck, DiskFault> {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    fs::create_dir_all(place.disk().join(DATA)).unwrap();
    let write = |name: &str, text: &str| fs::write(place.disk().join(name), text).unwrap();
    disk.marker.iter().for_each(|text| write(DISK_MARKER, text));
    disk.meta.iter().for_each(|text| write("data/meta.properties", text));
    disk.formatted.iter().for_each(|text| write(FORMATTED, text));
    let mut desired = desired();
    let initial_controllers = disk.controllers.iter().map(ToString::to_string).collect();
    desired.disk.format = disk.may_format.then_some(Format { initial_controllers });
    check(&place, &desired)
}

fn lost(disk: &Disk, words: &str) {
    let fault = look(disk).unwrap_err();
    assert!(matches!(fault, DiskFault::Lost(_)), "{fault}");
    assert!(fault.to_string().contains(words), "{fault}");
}

fn foreign(disk: &Disk, words: &str) {
    let fault = look(disk).unwrap_err();
    assert!(matches!(fault, DiskFault::Foreign(_)), "{fault}");
    assert!(fault.to_string().contains(words), "{fault}");
}

#[test]
fn a_disk_in_order_is_ready_and_a_new_one_may_be_formatted() {
    let ready = |disk: &Disk| assert_eq!(look(disk), Ok(DiskCheck::Ready));
    ready(&Disk { meta: Some(META), formatted: Some(""), ..Disk::default() });
    ready(&Disk { meta: Some(META), formatted: Some(""), may_format: true, ..Disk::default() });
    ready(&Disk { meta: Some(META), ..Disk::default() });
    let may_format = |disk: &Disk| assert_eq!(look(disk), Ok(DiskCheck::MayFormat));
    may_format(&Disk { may_format: true, ..Disk::default() });
    // The launcher died between Kafka's mark and its own note.
    may_format(&Disk { meta: Some(META), may_format: true, ..Disk::default() });
    let joining = Some("cluster.id=cluster-A\nnode.id=1\ndirectory.id=random\n");
    may_format(&Disk { meta: joining, may_format: true, controllers: &[], ..Disk::default() });
}

#[test]
fn a_disk_without_what_it_had_is_lost() {
    lost(&Disk { marker: None, ..Disk::default() }, "marker is missing");
    lost(&Disk { marker: None, may_format: true, ..Disk::default() }, "marker is missing");
    lost(&Disk { formatted: Some(""), ..Disk::default() }, "data are gone");
    // Even told to format, a disk that was formatted is not formatted again.
    lost(&Disk { formatted: Some(""), may_format: true, ..Disk::default() }, "data are gone");
    lost(&Disk::default(), "is empty");
}

#[test]
fn a_disk_of_another_is_refused() {
    let other = DiskMarker { server_id: ServerId(12), ..marker() };
    let other = Some(serde_json::to_string(&other).unwrap());
    foreign(&Disk { marker: other, may_format: true, ..Disk::default() }, "server 12");
    let meta = |text| Disk { meta: Some(text), may_format: true, ..Disk::default() };
    foreign(&meta("cluster.id=B\nnode.id=1\ndirectory.id=directory-A"), "cluster.id B, not");
    foreign(&meta("cluster.id=cluster-A\nnode.id=2\ndirectory.id=directory-A"), "node.id 2, not 1");
    foreign(&meta("cluster.id=cluster-A\nnode.id=1\ndirectory.id=x"), "directory.id x, not");
    foreign(&meta(""), "cluster.id none, not cluster-A");
}

#[test]
fn a_marker_that_is_not_whole_is_neither_lost_nor_used() {
    let half = Disk { marker: Some("{\"disk".into()), may_format: true, ..Disk::default() };
    assert!(matches!(look(&half), Err(DiskFault::Unreadable(_))));
}

#[test]
fn a_missing_note_is_put_back_and_one_that_is_there_stays() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    fs::create_dir_all(place.disk()).unwrap();
    let note = place.disk().join(FORMATTED);
    note_formatted(&place, &desired()).unwrap();
    let text = "cluster.id=cluster-A\ndirectory.id=directory-A\n";
    assert_eq!(fs::read_to_string(&note).unwrap(), text);
    fs::write(&note, "the launcher's").unwrap();
    note_formatted(&place, &desired()).unwrap();
    assert_eq!(fs::read_to_string(&note).unwrap(), "the launcher's");
}
