//! Heap, collector and safety flags.

/// Beyond this a broker's memory is better spent as page cache.
const LARGEST_HEAP_MB: u32 = 6 * 1024;
/// Below this a broker does not start.
const SMALLEST_HEAP_MB: u32 = 192;
/// From here on, pauses of the serial collector are felt by clients.
const G1_FROM_MB: u32 = 2 * 1024;
/// A heap that is capped to this is on a machine for trying things out.
const TRIAL_UP_TO_MB: u32 = 256;

/// Half of the memory; the rest is the page cache, which serves the reads.
pub fn heap_mb(memory_mb: u32, max_heap_mb: Option<u32>) -> u32 {
    let cap = max_heap_mb.unwrap_or(LARGEST_HEAP_MB).min(LARGEST_HEAP_MB);
    (memory_mb / 2).min(cap).max(SMALLEST_HEAP_MB)
}

pub fn flags(heap_mb: u32) -> Vec<String> {
    let mut flags = vec![format!("-Xmx{heap_mb}m"), format!("-Xms{}m", heap_mb.min(128))];
    if heap_mb < G1_FROM_MB {
        flags.push("-XX:+UseSerialGC".into());
    } else {
        // The values Kafka's own scripts start a broker with.
        flags.extend(
            [
                "-XX:+UseG1GC",
                "-XX:MaxGCPauseMillis=20",
                "-XX:InitiatingHeapOccupancyPercent=35",
                "-XX:+ExplicitGCInvokesConcurrent",
            ]
            .map(String::from),
        );
    }
    if heap_mb <= TRIAL_UP_TO_MB {
        // Half of the processor time of a start is spent on compiling for the highest speed,
        // which a broker that has little to do never earns back.
        flags.push("-XX:TieredStopAtLevel=1".into());
    }
    flags.extend(
        [
            // A broker without memory must end and be started again, not linger.
            "-XX:+ExitOnOutOfMemoryError",
            // The JVM's counters are a file mapping whose write-back stalls pauses.
            "-XX:-UsePerfData",
            "-Djava.awt.headless=true",
            // Kafka keeps keys from PEM files in a key store that never leaves
            // memory; thousands of rounds to seal it there guard nothing, and
            // cost a third of a second for each listener.
            "-Dkeystore.pkcs12.keyPbeIterationCount=1",
            "-Dkeystore.pkcs12.certPbeIterationCount=1",
            "-Dkeystore.pkcs12.macIterationCount=1",
        ]
        .map(String::from),
    );
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heap_is_half_of_the_memory_within_bounds() {
        let check = |memory, cap, expected| assert_eq!(heap_mb(memory, cap), expected);
        check(2048, None, 1024);
        check(32 * 1024, None, 6144);
        check(2048, Some(256), 256);
        check(2048, Some(16), 192);
        check(256, None, 192);
    }

    #[test]
    fn the_collector_follows_the_heap() {
        assert!(flags(2047).contains(&"-XX:+UseSerialGC".to_owned()));
        assert!(flags(2048).contains(&"-XX:+UseG1GC".to_owned()));
    }

    #[test]
    fn the_smallest_heaps_start_with_little_compiling() {
        let compiles_little = |heap_mb| flags(heap_mb).iter().any(|it| it.contains("TieredStop"));
        assert!(compiles_little(256));
        assert!(!compiles_little(257));
    }
}
