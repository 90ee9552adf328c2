//! Librdkafka without transactions: every record stands for itself.

use super::Job;
use super::librdkafka::{Numbering, Producer, producer};
use super::pace::Pace;
use rdkafka::producer::Producer as _;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use tokio::sync::oneshot;

/// For the first answer of the cluster.
const HELLO: Duration = Duration::from_secs(30);
/// On top of a delivery's own time, for librdkafka to tell of its end.
const GRACE: Duration = Duration::from_secs(5);

pub fn run(
    job: &Job,
    client: usize,
    ready: oneshot::Sender<Result<(), String>>,
    go: &Receiver<()>,
) {
    let mut made = greeted(job);
    let _ = ready.send(made.as_ref().map(drop).map_err(Clone::clone));
    if go.recv().is_err() {
        return;
    }
    let mut numbering = Numbering { job, client, next: 0 };
    let mut pace = Pace::new(job.rate);
    while !job.is_over() {
        match made {
            Ok(producer) => write(job, &producer, &mut numbering, &mut pace),
            Err(error) => job.trouble(format!("client {client}"), &error),
        }
        made = producer(job, None);
    }
}

/// A producer that has spoken with the cluster.
fn greeted(job: &Job) -> Result<Producer, String> {
    let producer = producer(job, None)?;
    let metadata = producer.client().fetch_metadata(Some(&job.run.topic), HELLO);
    metadata.map_err(|error| error.to_string())?;
    Ok(producer)
}

/// Until the end, or until the producer is of no more use.
fn write(job: &Job, producer: &Producer, numbering: &mut Numbering<'_>, pace: &mut Pace) {
    while !job.is_over() && producer.client().fatal_error().is_none() {
        pace.wait();
        numbering.send(producer, None);
    }
    // Everything is acknowledged or given up by then.
    let _ = producer.flush(job.delivery_timeout + GRACE);
}
