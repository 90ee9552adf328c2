//! A SCRAM user that every cluster has, so that deleting another user does not lose all.
//!
//! A broker that starts replays the metadata log at once. When it comes to a deleted user
//! and has no other user yet, Kafka (3.9 to 4.3, `ScramDelta.apply`) drops the whole table
//! of passwords and puts later users into the dropped one: no user can log in to that
//! broker any more. Users are replayed in the order of their names' hashes. This name's
//! hash is 0, so it comes first, and it is never deleted: the table is never empty. It has
//! no rights, and its password is not kept.

/// Reserved, as every name is that begins so.
pub const PLACEHOLDER_USER: &str = "castellan-stays-ionjbxe";

#[cfg(test)]
mod tests {
    use super::*;

    /// As Java has it.
    fn hash(name: &str) -> u32 {
        name.bytes().fold(0, |hash: u32, byte| hash.wrapping_mul(31).wrapping_add(byte.into()))
    }

    #[test]
    fn it_comes_first_in_any_table_and_nobody_sees_it() {
        assert_eq!(hash("ada"), 96_414, "as Java's \"ada\".hashCode()");
        assert_eq!(hash(PLACEHOLDER_USER), 0);
        assert!(model::is_reserved(PLACEHOLDER_USER));
    }
}
