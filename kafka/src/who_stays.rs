//! A user who stays, so that one who goes does not take everybody along.
//!
//! A broker that starts goes through the metadata log in one go. Where a user was
//! deleted, and nobody else has come up yet at that point, Kafka (3.9 to 4.3,
//! `ScramDelta.apply`) drops the whole table of passwords and puts everybody after
//! that into the dropped one: nobody can log in to that broker any more. Whose turn
//! it is goes by the names' hashes. This name's hash is 0, the first of all, and it
//! is the first user that a cluster gets and never deleted; so the table is never
//! empty. It has no rights, and nobody knows its password.

/// Reserved, as every name is that begins so.
pub const WHO_STAYS: &str = "castellan-stays-ionjbxe";

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
        assert_eq!(hash(WHO_STAYS), 0);
        assert!(model::is_reserved(WHO_STAYS));
    }
}
