//! How much of a broker clients can take, by its heap.
//!
//! Kafka takes memory for a request when its length is announced, before it knows
//! who sends it, and accepts as many connections as come. So every listener has a
//! number of connections, a rate at which new ones are accepted, and a share of the
//! heap for requests, which `broker-jar`'s `SimpleMemoryPool` keeps apart. What all
//! listeners can take together leaves room for the broker itself.

use super::BrokerSpec;
use super::settings::Settings;

const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;

/// What a request holds besides the messages in it.
const AROUND_MESSAGES: u32 = 64 * KIB;
/// Kafka's own default, which some clients count on.
const LARGEST_REQUEST: u32 = 100 * MIB;
/// Before a client has logged in it sends no more than names and proofs.
const LOGIN_BYTES: u32 = 16 * KIB;
/// A client without login has no rights. Requests made of empty names take some
/// thirty times their length once they are read, so these are short.
const PLAINTEXT_BYTES: u32 = 16 * KIB;
/// A listener accepts one of so many parts of its connections a second. Kafka counts
/// over ten seconds, all of which can come at once, and `StalledConnections` gives
/// ten seconds to log in: strangers have at most twenty of these parts.
const ACCEPTED_PARTS: u32 = 25;
/// What brokers and the control plane need in the largest cluster.
const PEERS: u32 = 64;

/// The limits of one broker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The largest request.
    request_bytes: u32,
    /// Of requests that are read or handled at once, on each listener.
    queued_bytes: u32,
    /// Requests up to this length are read whatever else is read.
    small_bytes: u32,
    /// What a follower reads from each leader at once.
    fetched_bytes: u32,
    plaintext: Connections,
    /// Of each listener with a login.
    customers: Connections,
    /// Of the brokers' listener, and of the controllers'.
    internal: Connections,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Connections {
    most: u32,
    accepted_a_second: u32,
}

impl Connections {
    fn of_strangers(most: u32) -> Self {
        Self { most, accepted_a_second: (most / ACCEPTED_PARTS).max(1) }
    }

    /// So many beyond what strangers can take.
    fn and(self, more: u32) -> Self {
        Self { most: self.most + more, ..self }
    }
}

impl Limits {
    pub fn of_heap(heap_mb: u32) -> Self {
        let customers = Connections::of_strangers((heap_mb / 2).clamp(100, 4096));
        Self {
            request_bytes: (heap_mb / 64 * MIB).clamp(3 * MIB, LARGEST_REQUEST),
            queued_bytes: heap_mb * (MIB / 32),
            // An eighth of the heap, for all connections of both listeners.
            small_bytes: heap_mb * (MIB / 16) / customers.most,
            fetched_bytes: (heap_mb / 128).clamp(1, 10) * MIB,
            plaintext: Connections::of_strangers((heap_mb / 16).clamp(12, 100)),
            customers,
            internal: Connections::of_strangers((heap_mb / 2).clamp(75, 500)).and(PEERS),
        }
    }

    /// The largest batch of messages that fits into a request.
    pub fn message_bytes(&self) -> u32 {
        self.request_bytes - AROUND_MESSAGES
    }

    fn of_listener(&self, name: &str) -> Connections {
        match name {
            "PLAINTEXT" => self.plaintext,
            "SSL" | "SASL_SSL" => self.customers,
            _ => self.internal,
        }
    }

    pub(super) fn settings(&self, settings: &mut Settings, spec: &BrokerSpec, listeners: &[&str]) {
        settings.set("socket.request.max.bytes", self.request_bytes);
        settings.set("queued.max.request.bytes", self.queued_bytes);
        settings.set("sasl.server.max.receive.size", LOGIN_BYTES);
        settings.set("replica.fetch.response.max.bytes", self.fetched_bytes);
        let mut all = 0;
        for name in listeners {
            let Connections { most, accepted_a_second } = self.of_listener(name);
            let prefix = format!("listener.name.{}", name.to_lowercase());
            settings.set(&format!("{prefix}.max.connections"), most);
            settings.set(&format!("{prefix}.max.connection.creation.rate"), accepted_a_second);
            all += most;
        }
        settings.set("max.connections", all);
        // Kafka counts an address on all listeners together. Brokers and the control plane
        // come from this server's own address or from loopback, which must stay free.
        settings.set("max.connections.per.ip", self.customers.most / 2);
        let own = ["127.0.0.1", &spec.private_ip].map(|ip| format!("{ip}:{}", i32::MAX));
        settings.set("max.connections.per.ip.overrides", own.join(","));
    }

    /// Read by `SimpleMemoryPool`.
    pub(super) fn flags(&self) -> [String; 2] {
        [
            format!("-Dcastellan.request.small.bytes={}", self.small_bytes),
            format!("-Dcastellan.request.plaintext.bytes={PLAINTEXT_BYTES}"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::heap_mb;

    /// Every heap that a plan can have, also where the operator caps it.
    fn heaps() -> impl Iterator<Item = u32> {
        let catalogue = model::Catalogue::built_in();
        let heap = |plan: &model::Plan| heap_mb(plan.family.memory_gb * 1024, None);
        let plans: Vec<u32> = catalogue.plans().iter().map(heap).collect();
        let caps = [192, 256, 300, 384, 512, 768].map(|cap| heap_mb(8192, Some(cap)));
        plans.into_iter().chain(caps)
    }

    #[test]
    fn what_clients_can_take_fits_the_heap() {
        /// Live after a collection in a broker with controller that nobody uses, and room
        /// to work in.
        const KAFKA_MIB: u32 = 64;
        /// TLS keeps three records, and the state of a handshake.
        const TLS_KIB: u32 = 64;
        /// How much larger a request is once it is read.
        const READ: u32 = 33;
        for heap_mb in heaps() {
            let it = Limits::of_heap(heap_mb);
            let cleaner = (heap_mb / 8).clamp(16, 128);
            let tls = (it.customers.most + it.internal.most) * 2 * TLS_KIB / KIB;
            let plaintext = it.plaintext.most * PLAINTEXT_BYTES / KIB * READ / KIB;
            let small = it.customers.most * 2 * (it.small_bytes / KIB) / KIB;
            let large = 2 * (it.queued_bytes + it.request_bytes) / MIB;
            let fetched = 6 * it.fetched_bytes / MIB;
            let taken = KAFKA_MIB + cleaner + tls + plaintext + small + large + fetched;
            assert!(taken * 100 <= heap_mb * 92, "{taken} of {heap_mb} MiB: {it:?}");
        }
    }

    #[test]
    fn strangers_leave_connections_to_others() {
        const WINDOW_AND_LOGIN_SECONDS: u32 = 20;
        for heap_mb in heaps() {
            let it = Limits::of_heap(heap_mb);
            let strangers = |of: Connections| of.accepted_a_second * WINDOW_AND_LOGIN_SECONDS;
            assert!(strangers(it.customers) < it.customers.most, "{it:?}");
            assert!(strangers(it.internal) + PEERS <= it.internal.most, "{it:?}");
        }
    }

    #[test]
    fn a_message_of_kafkas_default_size_fits_everywhere() {
        for heap_mb in heaps() {
            let it = Limits::of_heap(heap_mb);
            assert!(it.message_bytes() > 1_048_588, "{it:?}");
            // Kafka refuses to start otherwise.
            assert!(it.queued_bytes >= it.request_bytes, "{it:?}");
            assert!(it.small_bytes >= PLAINTEXT_BYTES, "{it:?}");
        }
    }
}
