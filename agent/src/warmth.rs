//! Whether the next JVM is warmed up before a restart, and why not where it is not.

use crate::goal::Orders;
use crate::launcher::Launcher;
use crate::place::Place;
use crate::successor::Successor;
use std::sync::Arc;
use std::time::Duration;

/// A JVM that dies each time while leave to stop is waited for, as where memory is short, must
/// not keep the processors busy for as long.
const MOST_DEATHS: u32 = 2;

/// What is known for one set of orders.
#[derive(Default)]
pub struct Warmth {
    orders: Option<Arc<Orders>>,
    next: Next,
}

enum Next {
    /// It is worth a try, after so many that died when they were ready.
    Warm { deaths: u32 },
    /// The host is set to restart without.
    Off,
    /// Why the next start is a cold one, in words.
    Cold(String),
}

impl Default for Next {
    fn default() -> Self {
        Self::Warm { deaths: 0 }
    }
}

impl Warmth {
    /// Whether a JVM for these orders is to be warmed up.
    pub fn may_try(&mut self, orders: &Arc<Orders>) -> bool {
        if self.orders.as_ref() != Some(orders) {
            *self = Self { orders: Some(orders.clone()), next: Next::default() };
        }
        matches!(self.next, Next::Warm { .. })
    }

    pub fn turn_off(&mut self) {
        self.next = Next::Off;
    }

    /// The restart goes the old way.
    pub fn give_up(&mut self, why: String) {
        tracing::warn!(why, "the broker is restarted in a cold JVM");
        self.next = Next::Cold(why);
    }

    /// One that was ready has died before it was needed.
    pub fn note_death(&mut self) {
        if let Next::Warm { deaths } = &mut self.next {
            *deaths += 1;
            if *deaths >= MOST_DEATHS {
                self.give_up("each one that was warmed up died while it waited".into());
            }
        }
    }

    /// Of a broker that runs, what is known is of its last restart, unless it is the next to be
    /// restarted.
    pub fn forget_unless(&mut self, is_next: bool) {
        if !is_next {
            *self = Self::default();
        }
    }

    /// What is said of it at the end of a sentence.
    pub fn suffix(&self) -> String {
        match &self.next {
            Next::Cold(why) => format!("; in a cold JVM: {why}"),
            Next::Warm { .. } | Next::Off => String::new(),
        }
    }
}

/// A JVM that waits for its order, for these orders: the one that is there, if it is still
/// good, or a new one. Can be dropped at any point.
pub async fn warm_up(
    place: &Place,
    launcher: &dyn Launcher,
    orders: &Orders,
    present: Option<Successor>,
    patience: Duration,
) -> Result<Successor, String> {
    let launch = launcher.prepare(&orders.broker, &|_| {}).await?;
    if let Some(mut present) = present.filter(|present| present.is_for(&launch))
        && present.ready(patience).await.is_ok()
    {
        return Ok(present);
    }
    // The one that is not good any more has ended before the memory for two is looked at.
    launcher.check_memory()?;
    let warm = launcher.rehearse(&orders.broker, &launch)?;
    let started = Successor::start(place.warm_home(), launch, warm, None);
    let mut successor = started.map_err(|error| format!("it can't be started: {error}"))?;
    successor.ready(patience).await?;
    Ok(successor)
}
