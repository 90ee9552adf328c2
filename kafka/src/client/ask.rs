//! Asking any live broker.
//!
//! In KRaft every broker forwards what is the controller's to do, so a call
//! needs no routing: brokers are tried in turn until one answers.

use super::pool::{Pool, Who};
use super::{Broker, Connection, Dial, Error, Limits};
use model::InstanceId;
use rustls::ClientConfig;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// One thing to ask of a cluster: a request, what its answer means and, for a
/// write, the wait until it can be read.
pub trait Call: Send + Sync {
    type Answer: Send;

    fn run(
        &self,
        connection: &mut Connection,
    ) -> impl Future<Output = Result<Self::Answer, Error>> + Send;

    /// Whether it may run on several brokers one after another. One that may not
    /// goes on to the next only where the last can't have done it.
    fn is_repeatable(&self) -> bool {
        true
    }
}

/// The brokers of one cluster and how to reach them.
pub(super) struct Brokers<'a> {
    pub dial: &'a dyn Dial,
    pub instance: InstanceId,
    pub all: &'a [Broker],
    pub tls: Arc<ClientConfig>,
    pub limits: Limits,
    /// Where connections are kept; none for those that are made for one call.
    pub pool: Option<(&'a Pool, Who)>,
}

impl Brokers<'_> {
    /// The first answer, or the first refusal that would be the same on every
    /// broker.
    pub async fn ask<C: Call>(&self, call: &C) -> Result<C::Answer, Error> {
        let mut last = None;
        for broker in self.in_order() {
            match self.ask_one(broker, call).await {
                Err(error) if error.is_about_one_broker() => {
                    if error.may_have_done_it() && !call.is_repeatable() {
                        return Err(error);
                    }
                    tracing::debug!(%broker, %error, "asking the next broker");
                    last = Some(graver(last, error));
                }
                answer => return answer,
            }
        }
        Err(none_answered(last, self.all.len()))
    }

    /// The answer of this broker.
    pub async fn ask_one<C: Call>(&self, broker: &Broker, call: &C) -> Result<C::Answer, Error> {
        let asked = self.run(broker, call).await;
        if asked.as_ref().is_err_and(Error::is_silence) {
            self.shun(broker);
        }
        asked
    }

    /// Has the broker asked last for a while, because it did not answer in time.
    pub fn shun(&self, broker: &Broker) {
        if let Some((pool, _)) = &self.pool {
            pool.shun(broker.key(self.instance));
        }
    }

    async fn run<C: Call>(&self, broker: &Broker, call: &C) -> Result<C::Answer, Error> {
        let (key, endpoint) = (broker.key(self.instance), &broker.endpoint);
        let kept = self.pool.as_ref().and_then(|(pool, who)| pool.take(who, key, endpoint));
        let mut connection = match kept {
            Some(connection) => connection,
            None => Connection::open(self.dial, key, endpoint, &self.tls, self.limits).await?,
        };
        let answer = call.run(&mut connection).await;
        if let Some((pool, who)) = &self.pool {
            pool.put(who, key, connection);
        }
        answer
    }

    fn in_order(&self) -> Vec<&Broker> {
        match &self.pool {
            Some((pool, _)) => pool.in_order(self.instance, self.all),
            None => self.all.iter().collect(),
        }
    }
}

/// The later of two errors, unless only the earlier one's broker may have done what it
/// was asked: that is what callers must know.
pub fn graver(earlier: Option<Error>, later: Error) -> Error {
    match earlier {
        Some(earlier) if earlier.may_have_done_it() && !later.may_have_done_it() => earlier,
        _ => later,
    }
}

/// What so many brokers say together, none of whom answered.
pub fn none_answered(last: Option<Error>, asked: usize) -> Error {
    match (last, asked) {
        (None, _) => Error::NoBrokers,
        (Some(error), 1) => error,
        (Some(error), asked) => Error::AllFailed { asked, last: Box::new(error) },
    }
}

/// Between looks, at first; later ones are twice as far apart, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Waits until a write shows on the broker that took it: brokers answer when
/// the controller has it, and read it from the metadata log a little later.
pub(super) async fn until_readable<C: Call>(
    connection: &mut Connection,
    what: &str,
    question: &C,
    is_shown_by: impl Fn(C::Answer) -> bool,
) -> Result<(), Error> {
    let within = connection.limits().readable;
    let deadline = Instant::now() + within;
    let mut pause = FIRST_PAUSE;
    while !is_shown_by(question.run(connection).await?) {
        if Instant::now() + pause > deadline {
            return Err(Error::NotReadableYet {
                endpoint: connection.endpoint().clone(),
                what: what.to_owned(),
                after: within,
            });
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
