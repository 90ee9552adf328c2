//! Taking a disk away from a server that is down, and giving it back.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use test_support::installation::Installation;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// The directory is not there.
    Gone,
    /// It is there, as a file system that was made anew.
    Empty,
    /// Another server's is there.
    Anothers,
}

impl Loss {
    pub const ALL: [Self; 3] = [Self::Gone, Self::Empty, Self::Anothers];
}

/// A disk that is not where its server looks for it.
pub struct Taken {
    server: usize,
    disk: PathBuf,
    aside: PathBuf,
    why: String,
    /// What lies in its place.
    left: Vec<(PathBuf, Vec<u8>)>,
}

impl Taken {
    pub fn take(castellan: &Installation, server: usize, loss: Loss) -> Self {
        let disk = disk_of(castellan, server);
        let aside = castellan.data().with_file_name("aside");
        fs::rename(&disk, &aside).unwrap();
        let why = match loss {
            Loss::Gone => "the disk is lost: it is not there".to_owned(),
            Loss::Empty => {
                fs::create_dir(&disk).unwrap();
                "the disk is lost: its marker is missing".to_owned()
            }
            // The next one is of the same kind.
            Loss::Anothers => copy(&disk_of(castellan, server + 1), &disk),
        };
        Self { server, left: files(&disk), disk, aside, why }
    }

    /// What the instance's status must say.
    pub fn status(&self) -> String {
        format!("server {} is held: {}", self.server, self.why)
    }

    /// Sees that nobody wrote where the disk was, and puts it back.
    pub fn give_back(self) {
        assert_eq!(files(&self.disk), self.left, "somebody wrote on it");
        if self.disk.exists() {
            fs::remove_dir_all(&self.disk).unwrap();
        }
        fs::rename(&self.aside, &self.disk).unwrap();
    }
}

/// Where a server's disk is, whether the server has a directory or not. Servers
/// of the first cluster are numbered as their ids are.
fn disk_of(castellan: &Installation, server: usize) -> PathBuf {
    let disks = fs::read_dir(castellan.data().join("disks")).unwrap();
    let mut paths = disks.map(|entry| entry.unwrap().path());
    paths.find(|path| marker(path)["server_id"] == server).expect("every server has a disk")
}

fn marker(disk: &Path) -> Value {
    serde_json::from_slice(&fs::read(disk.join("castellan-disk.json")).unwrap()).unwrap()
}

/// What tells whose disk it is, and what the agent says to it.
fn copy(from: &Path, to: &Path) -> String {
    fs::create_dir_all(to.join("data")).unwrap();
    for name in ["castellan-disk.json", "FORMATTED", "data/meta.properties"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
    let marker = marker(to);
    let text = |field: &str| marker[field].to_string().replace('"', "");
    format!(
        "the disk is refused: its marker names disk {} of server {} of instance {}",
        text("disk_id"),
        text("server_id"),
        text("instance_id")
    )
}

/// Every file under a directory with its contents; none if it is not there.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push((entry.path(), fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}
