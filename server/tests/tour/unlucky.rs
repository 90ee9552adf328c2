//! Rolls of the real cluster under the checker with bad luck in the middle. What holds
//! without it holds with it; whoever has to wait says why, and nobody else is touched.

use crate::mishap::{Mishap, Spared};
use crate::roll_faults::{Case, Moment, RollFault, Victim};
use crate::rolled::{brokers, is_clean, restart, start, until_configured};
use crate::turns::{Turns, runs};
use checker::Load;
use host::ProcessId;
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Instant;
use test_support::installation::Installation;
use test_support::left_over;
use test_support::tight::Tight;

/// A moment may go by before it is seen, and does not so often.
const ATTEMPTS: usize = 8;

/// What has yet to happen: in each roll as much as fits in before the first server is
/// touched; then in each turn one until its server is down, and one once it is back. How
/// many turns there are is not known before: one may go by while what happened is mended,
/// and whoever ended by bad luck has had its turn.
#[derive(Debug)]
struct Deck {
    begun: VecDeque<Case>,
    down: VecDeque<Case>,
    back: VecDeque<Case>,
}

impl Deck {
    fn of(cases: Vec<Case>) -> Self {
        let mut deck = Self { begun: [].into(), down: [].into(), back: [].into() };
        for case in cases {
            deck.put(case);
        }
        deck
    }

    fn put(&mut self, case: Case) {
        match case.moment {
            Moment::Begun => self.begun.push_back(case),
            Moment::Leaving | Moment::Down => self.down.push_back(case),
            Moment::Back => self.back.push_back(case),
        }
    }

    fn of_next_turn(&mut self) -> Option<Case> {
        self.down.pop_front().or_else(|| self.back.pop_front())
    }

    fn left(&self) -> usize {
        self.begun.len() + self.down.len() + self.back.len()
    }
}

/// In as many rolls as it takes.
pub async fn survives_bad_luck(castellan: &mut Installation, instance: &Value, cases: Vec<Case>) {
    let (full, others): (Vec<Case>, Vec<Case>) =
        cases.into_iter().partition(|case| case.fault == RollFault::FullDisk);
    until_it_happened(castellan, instance, Deck::of(others), None).await;
    if full.is_empty() {
        return;
    }
    // The last one: its turn is never the first.
    let last = brokers(castellan).len() - 1;
    let Some(tight) = Tight::put(castellan, instance, last).await else { return };
    until_it_happened(castellan, instance, Deck::of(full), Some(&tight)).await;
    tight.take_back(castellan, instance).await;
}

async fn until_it_happened(
    castellan: &mut Installation,
    instance: &Value,
    mut deck: Deck,
    tight: Option<&Tight>,
) {
    let mut in_vain = 0;
    // Brokers are restarted warm in one roll and cold in the next.
    let mut warm_rolls = true;
    while deck.left() > 0 {
        castellan.set_warm_rolls(warm_rolls).await;
        warm_rolls = !warm_rolls;
        let before = deck.left();
        Box::pin(through(castellan, instance, &mut deck, tight)).await;
        in_vain = if deck.left() < before { 0 } else { in_vain + 1 };
        assert!(in_vain < ATTEMPTS, "it never happened: {deck:?}");
    }
    castellan.set_warm_rolls(true).await;
}

/// One roll, with as much of it as there are turns for. What came too late is put back.
async fn through(
    castellan: &mut Installation,
    instance: &Value,
    deck: &mut Deck,
    tight: Option<&Tight>,
) {
    let began = Instant::now();
    let mut roll = Roll::begin(castellan, instance, tight).await;
    let mut drawn = deck.begun.pop_front().or_else(|| deck.of_next_turn());
    while let Some(case) = drawn {
        let Some(moving) = roll.until(case).await else {
            deck.put(case);
            break;
        };
        roll.meets(case, moving, deck).await;
        // Its server is back in the same turn, unless that went by meanwhile.
        if case.moment.is_before_back()
            && tight.is_none()
            && !runs(roll.castellan, moving).await
            && let Some(case) = deck.back.pop_front()
        {
            roll.meets(case, moving, deck).await;
        }
        let more = if roll.is_untouched() { deck.begun.pop_front() } else { None };
        drawn = more.or_else(|| deck.of_next_turn());
    }
    roll.until_over().await;
    let Roll { castellan, load, first, happened, .. } = roll;
    let after = brokers(castellan);
    assert!(first.iter().zip(&after).all(|(first, after)| first != after), "all are restarted");
    is_clean(instance, load).await;
    eprintln!("{}: {:.0} s", happened.join("; "), began.elapsed().as_secs_f64());
}

/// A roll under way.
struct Roll<'a> {
    castellan: &'a mut Installation,
    id: i64,
    load: Load,
    tight: Option<&'a Tight>,
    turns: Turns,
    first: Vec<ProcessId>,
    /// The brokers by which the next turn is known: those after the last one, whoever was
    /// killed in it.
    before: Vec<ProcessId>,
    happened: Vec<String>,
}

impl<'a> Roll<'a> {
    async fn begin(
        castellan: &'a mut Installation,
        instance: &Value,
        tight: Option<&'a Tight>,
    ) -> Self {
        let id = instance["id"].as_i64().unwrap();
        let load = start(instance).await;
        let first = brokers(castellan);
        let turns = Turns::of(id, restart(castellan, id).await);
        let before = first.clone();
        Self { castellan, id, load, tight, turns, first, before, happened: vec![] }
    }

    /// Waits for the moment, and says whose turn it is. None if the roll is over before.
    async fn until(&mut self, case: Case) -> Option<usize> {
        let Self { castellan, tight, turns, before, .. } = self;
        let awaited = tight.filter(|_| case.victim == Victim::Moving).map(|tight| tight.server);
        castellan
            .until("the server's turn has come", async || {
                let is_over = turns.look(castellan).await;
                let now = brokers(castellan);
                let reports = match case.moment {
                    Moment::Leaving => left_over::reports(castellan).await,
                    _ => vec![],
                };
                let is_new = |at: usize| now[at] != before[at];
                let stops = |at: usize| {
                    let report = &reports[at].0;
                    report["phase"] == "stopping" && report["broker_pid"] == before[at].pid
                };
                let moved = |at: &usize| match case.moment {
                    Moment::Begun => true,
                    Moment::Leaving => stops(*at) || is_new(*at),
                    Moment::Down => !now[*at].is_alive() || is_new(*at),
                    Moment::Back => is_new(*at),
                };
                let mut servers = (0..now.len()).filter(|at| awaited.is_none_or(|it| it == *at));
                match servers.find(moved) {
                    None if !is_over => Err(format!("{case}: {now:?}")),
                    moving => Ok(moving),
                }
            })
            .await
    }

    /// It happens in that server's turn, and everybody is there again.
    async fn meets(&mut self, case: Case, moving: usize, deck: &mut Deck) {
        eprintln!("{case}");
        let victim = match (case.victim, self.tight) {
            (Victim::Moving | Victim::Nobody, _) => moving,
            // A disk can be filled where it is small alone.
            (Victim::Another, Some(tight)) => tight.server,
            (Victim::Another, None) => (moving + 1) % self.before.len(),
        };
        self.turns.hits(self.castellan, case, victim).await;
        let is_late = match case.moment {
            Moment::Begun => !self.is_untouched(),
            Moment::Leaving | Moment::Down => {
                brokers(self.castellan)[moving] != self.before[moving]
            }
            Moment::Back => false,
        };
        let mishap = Mishap { case, moving, victim, tight: self.tight };
        let happened = if is_late {
            Err(Spared::TooLate)
        } else {
            mishap.happens(self.castellan, self.id, &self.load).await
        };
        match happened {
            Ok(()) => self.happened.push(case.to_string()),
            Err(Spared::TooLate) => {
                eprintln!("came too late, and is tried again: {case}");
                deck.put(case);
            }
            Err(Spared::CantBeHad(reason)) => {
                host::testing::skip("groups", &format!("{case}: {reason}"));
            }
        }
        self.until_all_are_there(case, moving).await;
        self.turns.is_over();
    }

    /// Whether nobody has been let stop, nor ended by bad luck.
    fn is_untouched(&self) -> bool {
        !self.turns.have_begun() && brokers(self.castellan) == self.first
    }

    async fn until_all_are_there(&mut self, case: Case, moving: usize) {
        let Self { castellan, turns, before, .. } = self;
        let now = castellan
            .until("every broker is there", async || {
                turns.look(castellan).await;
                let now = brokers(castellan);
                let has_moved = !case.moment.is_before_back() || now[moving] != before[moving];
                if has_moved && now.iter().all(ProcessId::is_alive) { Ok(now) } else { Err(now) }
            })
            .await;
        self.before = now;
    }

    /// Looks at every turn until the roll has ended.
    async fn until_over(&mut self) {
        let Self { castellan, turns, id, .. } = self;
        castellan
            .until("the roll has ended", async || {
                let (_, now) = castellan.get(&format!("/api/instances/{id}")).await;
                if turns.look(castellan).await { Ok(()) } else { Err(now["status"].to_string()) }
            })
            .await;
        until_configured(castellan, *id).await;
    }
}
