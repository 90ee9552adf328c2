//! The desired state as the agent holds it.
//!
//! What is obeyed is on disk first, so that an agent that starts without its
//! control plane goes on where it was. An older document, or one for another
//! server, is never obeyed; nor is an offered one for another incarnation. What is held
//! stays good when the agent gets a new identity: server and disk are the same.

use crate::place::Place;
use model::ServerId;
use std::io;
use wire::agent::{AgentStart, Desired};

/// Why a document is not obeyed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it is for server {0}")]
    OtherServer(ServerId),
    #[error("it is for incarnation {0}")]
    OtherIncarnation(i64),
    #[error("revision {offered} is older than {held}, which is obeyed")]
    Older { offered: i64, held: i64 },
    #[error("store epoch {offered} is older than {held}; was an old backup restored?")]
    OlderEpoch { offered: i64, held: i64 },
}

/// Whether an offered document is to be obeyed from now on. `false` means that
/// it is the one held already.
pub fn accept(
    held: Option<&Desired>,
    offered: &Desired,
    start: &AgentStart,
) -> Result<bool, Refusal> {
    if offered.server_id != start.server_id {
        return Err(Refusal::OtherServer(offered.server_id));
    }
    if offered.incarnation != start.incarnation {
        return Err(Refusal::OtherIncarnation(offered.incarnation));
    }
    let Some(held) = held else { return Ok(true) };
    if offered.store_epoch < held.store_epoch {
        let (offered, held) = (offered.store_epoch, held.store_epoch);
        return Err(Refusal::OlderEpoch { offered, held });
    }
    // A restored store counts on from an older revision.
    if offered.store_epoch > held.store_epoch {
        return Ok(true);
    }
    if offered.revision < held.revision {
        return Err(Refusal::Older { offered: offered.revision, held: held.revision });
    }
    Ok(offered.revision > held.revision)
}

/// The document held from before, if it is whole and this server's.
pub fn load(place: &Place, start: &AgentStart) -> Option<Desired> {
    let desired: Desired = serde_json::from_slice(&std::fs::read(place.desired()).ok()?).ok()?;
    (desired.server_id == start.server_id).then_some(desired)
}

/// It may carry what the broker's configuration carries, so it is private.
pub fn save(place: &Place, desired: &Desired) -> io::Result<()> {
    let text = serde_json::to_vec(desired).expect("plain data serialises");
    host::write_private(&place.desired(), &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{desired, start};
    use std::os::unix::fs::PermissionsExt as _;

    fn offer(revision: i64, store_epoch: i64) -> Desired {
        Desired { revision, store_epoch, ..desired() }
    }

    #[test]
    fn only_newer_documents_of_this_server_are_obeyed() {
        let held = offer(5, 1);
        let check = |offered: Desired, expected: Result<bool, Refusal>| {
            assert_eq!(accept(Some(&held), &offered, &start()), expected, "{offered:?}");
        };
        check(offer(6, 1), Ok(true));
        check(offer(5, 1), Ok(false));
        check(offer(4, 1), Err(Refusal::Older { offered: 4, held: 5 }));
        check(offer(2, 2), Ok(true));
        check(offer(9, 0), Err(Refusal::OlderEpoch { offered: 0, held: 1 }));
        let other = Desired { server_id: ServerId(99), ..offer(6, 1) };
        check(other, Err(Refusal::OtherServer(ServerId(99))));
        let replaced = Desired { incarnation: 2, ..offer(6, 1) };
        check(replaced, Err(Refusal::OtherIncarnation(2)));
        assert_eq!(accept(None, &offer(1, 0), &start()), Ok(true));
    }

    #[test]
    fn it_is_private_and_found_again_by_whatever_incarnation() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        assert_eq!(load(&place, &start()), None);
        save(&place, &desired()).unwrap();
        assert_eq!(load(&place, &start()), Some(desired()));
        let mode = std::fs::metadata(place.desired()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let next = AgentStart { incarnation: 2, ..start() };
        assert_eq!(load(&place, &next), Some(desired()));
        let other = AgentStart { server_id: ServerId(99), ..start() };
        assert_eq!(load(&place, &other), None);
        std::fs::write(place.desired(), "half").unwrap();
        assert_eq!(load(&place, &start()), None);
    }
}
