//! Which partition a key belongs to: as Kafka's own producers decide it, so that
//! a message written here is beside the others of its key.

const SEED: u32 = 0x9747_b28c;
const MIX: u32 = 0x5bd1_e995;

/// Murmur2, as Kafka's producers compute it.
fn murmur2(data: &[u8]) -> u32 {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let mut hash = SEED ^ length;
    let (words, rest) = data.as_chunks::<4>();
    for word in words {
        let mut word = u32::from_le_bytes(*word).wrapping_mul(MIX);
        word ^= word >> 24;
        hash = hash.wrapping_mul(MIX) ^ word.wrapping_mul(MIX);
    }
    for (at, byte) in rest.iter().enumerate().rev() {
        hash ^= u32::from(*byte) << (8 * at);
    }
    if !rest.is_empty() {
        hash = hash.wrapping_mul(MIX);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(MIX);
    hash ^ (hash >> 15)
}

/// The number of the partition among so many.
pub(super) fn of_key(key: &[u8], partitions: usize) -> usize {
    let positive = murmur2(key) & 0x7fff_ffff;
    usize::try_from(positive).expect("usize has 32 bits or more") % partitions.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of Kafka's own test of its hash.
    #[test]
    fn hashes_are_kafka_s() {
        let check = |text: &[u8], expected: i32| {
            assert_eq!(murmur2(text).cast_signed(), expected, "{text:?}");
        };
        check(b"21", -973_932_308);
        check(b"foobar", -790_332_482);
        check(b"a-little-bit-long-string", -985_981_536);
        check(b"a-little-bit-longer-string", -1_486_304_829);
        check(b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971);
        check(b"abc", 479_470_107);
    }

    #[test]
    fn a_key_has_one_partition() {
        assert_eq!(of_key(b"", 1), 0);
        for partitions in 1..50 {
            let chosen = of_key(b"order-17", partitions);
            assert!(chosen < partitions);
            assert_eq!(of_key(b"order-17", partitions), chosen);
        }
    }
}
