//! A file on the disk that holds nothing but room. A broker that ended because its
//! disk was full needs some to start again, and has its retention run: then the
//! ballast goes. It is there again once there is room for it.

use crate::board::Board;
use crate::disk::{self, DiskFault, Needed};
use crate::place::Place;
use std::fs;
use std::io;
use std::time::Duration;
use tokio::time::sleep;
use wire::agent::{DISK_MARKER, Phase};

/// However large the disk is.
const MOST: u64 = 128 << 20;
/// Of the file system, one part in so many.
const PART: u64 = 25;
/// Less would not get a broker started.
const LEAST: u64 = 32 << 20;
const LOOK: Duration = Duration::from_mins(1);
/// After the agent's start: what it has to do for its broker comes first.
const FIRST_LOOK: Duration = Duration::from_secs(20);

/// Never ends by itself.
pub async fn keep(place: Place, board: Board) {
    sleep(FIRST_LOOK).await;
    loop {
        if board.view().status.phase == Phase::Running {
            let place = place.clone();
            // A disk that hangs keeps only this one waiting.
            let made = tokio::task::spawn_blocking(move || make(&place)).await;
            if let Ok(Err(error)) = made {
                tracing::debug!(%error, "no ballast could be made");
            }
        }
        sleep(LOOK).await;
    }
}

/// Makes the ballast if it is not there and there is plenty of room.
fn make(place: &Place) -> io::Result<()> {
    let room = host::room(&place.disk())?;
    let size = size(room.total);
    // Nothing is written where the disk should be and is not.
    if size == 0 || !place.disk().join(DISK_MARKER).exists() {
        return Ok(());
    }
    host::keep_reserved(&place.ballast(), size, room)
}

/// A small disk has none.
fn size(total: u64) -> u64 {
    let size = (total / PART).min(MOST);
    if size < LEAST { 0 } else { size }
}

/// Fails if less than is needed is free, also without the ballast.
pub fn make_room(place: &Place, needed: Needed) -> Result<(), DiskFault> {
    let full = match disk::check_room(place, needed) {
        Ok(()) => return Ok(()),
        Err(full) => full,
    };
    match fs::remove_file(place.ballast()) {
        Ok(()) => {
            tracing::warn!(%full, "the ballast is given up for the broker to start");
            disk::check_room(place, needed)
        }
        Err(_) => Err(full),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::ROOM_TO_START;

    #[test]
    fn it_is_a_small_part_of_a_disk_and_none_of_a_small_one() {
        let check = |total: u64, expected: u64| assert_eq!(size(total << 20), expected << 20);
        check(0, 0);
        check(192, 0);
        check(799, 0);
        check(800, 32);
        check(1500, 60);
        check(25 << 10, 128);
        check(5 << 20, 128);
    }

    /// On the file system of a store, whose own ballast goes when little is free: whoever is
    /// first to find it full, the broker starts and the store has its room.
    #[test]
    fn a_broker_can_start_in_its_place_beside_a_store() {
        const STORE: u64 = 128 << 20;
        for total in [800_u64, 1000, 1500, 4000, 25 << 10] {
            let own = size(total << 20);
            for (free, is_store_first) in [0_u64, 10, 31, 32, 63, 64]
                .into_iter()
                .flat_map(|free| [(free, false), (free, true)])
            {
                let free = free << 20;
                let gives_up = is_store_first && free < STORE / 2;
                let (free, kept) = if gives_up { (free + STORE, STORE) } else { (free, 0) };
                let needed = ROOM_TO_START + kept;
                let left = if free < needed { free + own } else { free };
                assert!(left >= needed, "{left} of {needed} on {total} MiB");
            }
        }
    }

    #[test]
    fn it_goes_when_there_is_no_room_and_only_then() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        fs::create_dir(place.disk()).unwrap();
        make(&place).unwrap();
        assert!(!place.ballast().exists(), "that is no disk");
        fs::write(place.disk().join(DISK_MARKER), "{}").unwrap();
        make(&place).unwrap();
        let room = host::room(&place.disk()).unwrap();
        if size(room.total) == 0 || room.free < 6 * MOST {
            return host::testing::skip("room", "the temporary directory has too little room");
        }
        assert_eq!(fs::metadata(place.ballast()).unwrap().len(), size(room.total));
        let needs = |to_start: u64| Needed { to_start, kept: 0 };
        make_room(&place, needs(1)).unwrap();
        assert!(place.ballast().exists(), "there is room");

        // More than there ever is.
        make_room(&place, needs(u64::MAX)).unwrap_err();
        assert!(!place.ballast().exists(), "it was tried");
        make_room(&place, needs(u64::MAX)).unwrap_err();
        make_room(&place, needs(1)).unwrap();
        make(&place).unwrap();
        assert!(place.ballast().exists(), "it is there again");
    }
}
