//! The page with the figures.

/// Medians of one run.
pub struct Figures {
    pub java: String,
    pub kafka: String,
    pub rounds: usize,
    pub stock: f64,
    pub castellan: f64,
    pub ready: f64,
    pub second_up: f64,
    pub control_plane: f64,
    pub agent: f64,
    pub flags: String,
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl Figures {
    pub fn page(&self) -> String {
        let Self { java, kafka, rounds, stock, castellan, ready, second_up, .. } = self;
        let ratio = castellan / stock;
        format!(
            "# Benchmarks\n\n\
             Written by `make bench`: medians of {rounds} rounds taken in turn in one run, Kafka \
             {kafka} on Java {java},\nKafka and the start-up cache already there. Machines are \
             noisy, so the ratio is the figure that counts.\n\n\
             ## One server: from nothing to the first acknowledged write\n\n\
             | what | seconds |\n|---|---|\n\
             | stock Kafka by hand: format, start with the default flags, no caches, plaintext | {stock:.2} |\n\
             | Castellan: POST to the first acked write over TLS and SCRAM | {castellan:.2} |\n\
             | of that, POST until `ready` (a SCRAM login has succeeded) | {ready:.2} |\n\
             | **ratio, goal ≤ 0.6** | **{ratio:.2}** |\n\
             | a second `castellan up` | {second_up:.2} |\n\n\
             Flags of the broker: `{flags}`, and the start-up cache.\n\n\
             ## Memory\n\n\
             | what | resident | goal |\n|---|---|---|\n\
             | control plane with one cluster | {control_plane:.1} MiB | ≤ 20 MiB |\n\
             | agent | {agent:.1} MiB | ≤ 20 MiB |\n",
            flags = self.flags,
            control_plane = self.control_plane,
            agent = self.agent,
        )
    }
}
