//! One piece of bad luck in a roll: how it is brought about, and how things are while
//! it lasts.

use crate::held::{holds_while_full, nobody_else_is_touched};
use crate::roll_faults::{Case, Moment, RollFault, Victim};
use crate::rolled::{PATIENCE, brokers};
use checker::Load;
use faults::{Fault, FaultError, Injected, Step, Store};
use host::ProcessId;
use std::time::Duration;
use test_support::installation::Installation;
use test_support::tight::Tight;

/// Far more than anybody waits for anything in a roll.
const STEP: Duration = Duration::from_mins(10);
const SLOW: u64 = 64 << 10;

/// Why it did not happen.
pub enum Spared {
    /// The moment had gone by.
    TooLate,
    /// This machine can't do such a thing.
    CantBeHad(FaultError),
}

/// What happens, to whom, and whose turn it is.
pub struct Mishap<'a> {
    pub case: Case,
    pub moving: usize,
    pub victim: usize,
    /// The server that has a small disk, if one has.
    pub tight: Option<&'a Tight>,
}

impl Mishap<'_> {
    /// It happens, is as it should be meanwhile, and is over.
    pub async fn happens(
        &self,
        castellan: &mut Installation,
        id: i64,
        load: &Load,
    ) -> Result<(), Spared> {
        let before = brokers(castellan);
        if self.case.fault == RollFault::KillControlPlane {
            castellan.kill_control_plane().await;
            castellan.serve().await;
            return Ok(());
        }
        for fault in self.faults(castellan) {
            let mut fault = self.inject(&fault).await?;
            match (self.case.fault, self.case.victim) {
                (RollFault::KillAgent | RollFault::KillBroker, _) => {}
                (RollFault::FullDisk, _) => {
                    holds_while_full(castellan, id, self.victim, load).await;
                }
                (RollFault::PauseBroker, Victim::Another) => {
                    let turn = (self.case.moment != Moment::Begun).then_some(self.moving);
                    nobody_else_is_touched(castellan, id, self.victim, &before, turn).await;
                }
                (RollFault::PauseAgent | RollFault::PauseBroker, Victim::Moving) => {
                    load.goes_on(50, PATIENCE).await.unwrap();
                    self.is_alone(castellan, &before);
                }
                _ => load.goes_on(50, PATIENCE).await.unwrap(),
            }
            fault.undo().await.unwrap();
        }
        Ok(())
    }

    /// One after another; each is over before the next.
    fn faults(&self, castellan: &Installation) -> Vec<Fault> {
        let processes = castellan.processes();
        let victim = &processes[self.victim];
        let step = |by| Fault::ClockStep { file: castellan.clock(), by };
        match self.case.fault {
            RollFault::KillControlPlane => vec![],
            RollFault::PauseControlPlane => vec![Fault::Pause(castellan.control_plane().clone())],
            RollFault::KillAgent => vec![Fault::kill(&victim.agent)],
            RollFault::PauseAgent => vec![Fault::Pause(victim.agent.clone())],
            RollFault::KillBroker => vec![Fault::kill(&victim.broker)],
            RollFault::PauseBroker => vec![Fault::Pause(victim.broker.clone())],
            RollFault::StoreAway => {
                vec![Fault::StoreAway(Store::Sqlite(castellan.data().join("castellan.db")))]
            }
            RollFault::ClockStep => vec![step(Step::Forward(STEP)), step(Step::Back(STEP))],
            RollFault::SlowDisk => vec![Fault::SlowDisk {
                process: victim.broker.clone(),
                directory: castellan.disk(self.victim),
                bytes_per_second: SLOW,
            }],
            RollFault::FullDisk => vec![self.tight.expect("it was put there").filled()],
        }
    }

    async fn inject(&self, fault: &Fault) -> Result<Injected, Spared> {
        // Whoever is told to stop may have done so by now.
        let may_end = matches!(self.case.moment, Moment::Begun | Moment::Leaving);
        match (fault, fault.inject().await) {
            (_, Ok(injected)) => Ok(injected),
            (_, Err(FaultError::Ended(_))) if may_end => Err(Spared::TooLate),
            (Fault::SlowDisk { process, .. }, Err(_)) if may_end && !process.is_alive() => {
                Err(Spared::TooLate)
            }
            (Fault::SlowDisk { .. }, Err(error @ FaultError::Unavailable { .. })) => {
                Err(Spared::CantBeHad(error))
            }
            (_, Err(error)) => panic!("{}: {error}", self.case),
        }
    }

    /// While the one whose turn it is does not get on, the others are left alone.
    fn is_alone(&self, castellan: &Installation, before: &[ProcessId]) {
        let now = brokers(castellan);
        for server in (0..now.len()).filter(|server| *server != self.moving) {
            assert_eq!(now[server], before[server], "{}: {server} was touched", self.case);
        }
    }
}
