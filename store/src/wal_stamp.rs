//! Whether a SQLite database has changed, told without asking SQLite.
//!
//! In WAL mode every reader, of any process, begins by reading the header of the
//! wal-index, the file `<database>-shm` that all map into memory, and sees what
//! that header says is committed, neither more nor less. A commit becomes true
//! by writing a new header. So a query under the same header has the same
//! answer, and the header is the [`Stamp`].
//!
//! **No half of it is taken.** The header stands there twice. Writers write the
//! second copy first, readers read the first one first; only two equal copies
//! with their checksum right are a stamp. Reading a file and writing to its
//! mapping go to the same memory. A commit has written both copies before
//! anybody is told of it.
//!
//! **A stamp does not come back.** Each commit raises `iChange` by one, so
//! without a recovery 2^32 commits would have to fit between two reads. A
//! recovery, when a writer was killed while it wrote the header, counts from
//! zero again; but within one log a commit raises `mxFrame` as well, and a
//! recovery finds all that was committed. A log that is begun again after a
//! checkpoint has new random salts; one that was never written to has none, its
//! header is the same for any database, and is no stamp. A rollback writes no
//! header. A checkpoint moves pages and changes no answer; where it changes the
//! header, a stamp is lost and nothing else.
//!
//! **The file stays the one.** If nobody had the database open for a moment, the
//! next one would begin a new wal-index, whose first headers are all alike. So
//! a connection is kept that does nothing but have it open: as long as it lives
//! no process empties or removes the wal-index, leaves WAL mode, or keeps the
//! wal-index to itself. A database that was put in the place of this one is
//! another file, and from then on there is no stamp.
//!
//! **The file is not closed.** Closing any handle on a file takes from the
//! process all locks that it holds on it, SQLite's own too, which would let
//! another process tear the wal-index down. So a wal-index is opened once for
//! the whole process, and let go only after it has lost its name.

use crate::Result;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The bytes of one copy of the header, its words in the machine's own order.
const HEADER: usize = 48;
/// The one format of a wal-index there is.
const FORMAT: u32 = 3_007_000;
/// Where a header says that it has been written at all.
const IS_INIT: usize = 12;
/// The words before the checksum; the last two are the log's salts.
const SUMMED: usize = 10;

/// Every wal-index that this process has opened and that has a name yet.
static OPENED: Mutex<Vec<Arc<File>>> = Mutex::new(Vec::new());

/// A moment of a database: whatever is read at the same stamp is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp([u8; HEADER]);

impl Stamp {
    /// Of the beginning of a wal-index, unless it is being written or was never.
    fn of(index: &[u8; 2 * HEADER]) -> Option<Self> {
        let (first, second) = index.split_at(HEADER);
        let header = first.try_into().ok()?;
        (first == second && is_whole(&header)).then_some(Self(header))
    }

    #[cfg(test)]
    pub fn numbered(number: u8) -> Self {
        Self([number; HEADER])
    }
}

fn is_whole(header: &[u8; HEADER]) -> bool {
    let mut words = [0; HEADER / 4];
    for (word, bytes) in words.iter_mut().zip(header.as_chunks().0) {
        *word = u32::from_ne_bytes(*bytes);
    }
    let (summed, sum) = words.split_at(SUMMED);
    let has_salts = summed[SUMMED - 2..] != [0, 0];
    summed[0] == FORMAT && header[IS_INIT] == 1 && has_salts && checksum(summed) == sum
}

fn checksum(words: &[u32]) -> [u32; 2] {
    words.as_chunks().0.iter().fold([0, 0], |[a, b]: [u32; 2], [even, odd]| {
        let a = a.wrapping_add(*even).wrapping_add(b);
        [a, b.wrapping_add(*odd).wrapping_add(a)]
    })
}

/// The wal-index of an open database.
#[derive(Debug)]
pub(crate) struct WalIndex {
    /// Without links, as SQLite takes it.
    database: PathBuf,
    identity: Identity,
    file: Arc<File>,
    is_open: AtomicBool,
    /// Keeps the wal-index the one it is.
    pin: tokio::sync::Mutex<Option<SqliteConnection>>,
}

impl WalIndex {
    /// None where the database keeps none, so that nothing can be told.
    pub async fn open(database: &Path, options: &SqliteConnectOptions) -> Result<Option<Self>> {
        let mut pin = options.connect().await?;
        // SQLite opens the wal-index for the first read.
        pin.execute("PRAGMA schema_version").await?;
        let Ok((database, identity, file)) = find(database) else {
            pin.close().await?;
            return Ok(None);
        };
        let pin = tokio::sync::Mutex::new(Some(pin));
        Ok(Some(Self { database, identity, file, is_open: AtomicBool::new(true), pin }))
    }

    /// The present moment, if it can be told.
    pub fn stamp(&self) -> Option<Stamp> {
        let is_same =
            || fs::metadata(&self.database).is_ok_and(|it| identity(&it) == self.identity);
        if !self.is_open.load(Ordering::Acquire) || !is_same() {
            return None;
        }
        let mut index = [0; 2 * HEADER];
        self.file.read_exact_at(&mut index, 0).ok()?;
        Stamp::of(&index)
    }

    /// From now on there are no stamps.
    pub async fn close(&self) {
        self.is_open.store(false, Ordering::Release);
        if let Some(pin) = self.pin.lock().await.take() {
            // It has nothing to lose.
            let _ = pin.close().await;
        }
    }
}

fn find(database: &Path) -> io::Result<(PathBuf, Identity, Arc<File>)> {
    let database = database.canonicalize()?;
    let identity = identity(&fs::metadata(&database)?);
    let mut index = database.clone().into_os_string();
    index.push("-shm");
    Ok((database, identity, open_once(Path::new(&index))?))
}

fn open_once(path: &Path) -> io::Result<Arc<File>> {
    let mut opened = OPENED.lock().expect("no holder of this lock panics");
    // To a file without a name nobody comes any more, and its locks are over.
    let has_name = |file: &File| !file.metadata().is_ok_and(|it| it.nlink() == 0);
    opened.retain(|file| Arc::strong_count(file) > 1 || has_name(file));
    let wanted = identity(&fs::metadata(path)?);
    let is_wanted = |file: &&Arc<File>| file.metadata().is_ok_and(|it| identity(&it) == wanted);
    if let Some(file) = opened.iter().find(is_wanted) {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(path)?);
    opened.push(Arc::clone(&file));
    Ok(file)
}

/// Device and number; of no other file as long as this one is open somewhere.
type Identity = (u64, u64);

fn identity(file: &Metadata) -> Identity {
    (file.dev(), file.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> [u8; HEADER] {
        let mut words = [FORMAT, 0, 7, 0, 5, 40, 11, 12, 13, 14, 0, 0];
        words[3] = u32::from_ne_bytes([1, 0, 0, 16]);
        summed(words)
    }

    fn summed(mut words: [u32; 12]) -> [u8; HEADER] {
        let sum = checksum(&words[..SUMMED]);
        words[SUMMED..].copy_from_slice(&sum);
        words.map(u32::to_ne_bytes).concat().try_into().unwrap()
    }

    fn twice(first: [u8; HEADER], second: [u8; HEADER]) -> Option<Stamp> {
        Stamp::of(&[first, second].concat().try_into().unwrap())
    }

    #[test]
    fn two_whole_copies_are_a_stamp_and_nothing_else_is() {
        assert_eq!(twice(header(), header()), Some(Stamp(header())));
        assert_eq!(twice([0; HEADER], [0; HEADER]), None);
        for at in 0..HEADER {
            let mut torn = header();
            torn[at] ^= 0x10;
            assert_eq!(twice(torn, header()), None, "byte {at} of the first copy");
            assert_eq!(twice(header(), torn), None, "byte {at} of the second copy");
            assert_eq!(twice(torn, torn), None, "byte {at} of both");
        }
    }

    #[test]
    fn an_empty_log_has_no_stamp() {
        let mut words = [0; 12];
        (words[0], words[3]) = (FORMAT, u32::from_ne_bytes([1, 0, 0, 0]));
        assert_eq!(twice(summed(words), summed(words)), None);
    }
}
