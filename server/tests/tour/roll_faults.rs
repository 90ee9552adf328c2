//! Faults in the middle of a roll: what goes wrong, when, and on which server; and which of them
//! are tried this time.

use std::fmt;

/// What goes wrong in the middle of a roll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RollFault {
    KillControlPlane,
    PauseControlPlane,
    KillAgent,
    PauseAgent,
    KillBroker,
    PauseBroker,
    StoreAway,
    /// The clocks of control plane and agents go ahead, and then back.
    ClockStep,
    SlowDisk,
    /// Not a byte is left on one server's disk.
    FullDisk,
}

/// When it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// Nothing has been touched.
    Begun,
    /// The server's broker has been told to stop, and has not ended.
    Leaving,
    /// The server is down.
    Down,
    /// The server has been started anew.
    Back,
}

impl Moment {
    /// Whether the server whose turn it is has yet to be started anew.
    pub fn is_before_back(self) -> bool {
        matches!(self, Self::Leaving | Self::Down)
    }
}

/// Whom it hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    /// No server: all go on without.
    Nobody,
    /// The server whose turn it is.
    Moving,
    Another,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    pub fault: RollFault,
    pub moment: Moment,
    pub victim: Victim,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, moment, victim } = self;
        write!(f, "{fault:?} at {moment:?}, {victim:?}")
    }
}

const WITHOUT_VICTIM: &[(Moment, Victim)] = &[
    (Moment::Begun, Victim::Nobody),
    (Moment::Leaving, Victim::Nobody),
    (Moment::Down, Victim::Nobody),
    (Moment::Back, Victim::Nobody),
];
/// An agent is there while its broker is not.
const AGENTS: &[(Moment, Victim)] = &[
    (Moment::Begun, Victim::Another),
    (Moment::Leaving, Victim::Moving),
    (Moment::Down, Victim::Moving),
    (Moment::Down, Victim::Another),
    (Moment::Back, Victim::Moving),
    (Moment::Back, Victim::Another),
];
const BROKERS: &[(Moment, Victim)] = &[
    (Moment::Begun, Victim::Another),
    (Moment::Leaving, Victim::Moving),
    (Moment::Down, Victim::Another),
    (Moment::Back, Victim::Moving),
    (Moment::Back, Victim::Another),
];
const DISKS: &[(Moment, Victim)] = &[
    (Moment::Begun, Victim::Another),
    (Moment::Leaving, Victim::Moving),
    (Moment::Down, Victim::Another),
    (Moment::Back, Victim::Moving),
];
/// Whoever ended for want of room has had its turn by that: the others come first.
const SMALL_DISKS: &[(Moment, Victim)] = &[
    (Moment::Begun, Victim::Another),
    (Moment::Down, Victim::Another),
    (Moment::Leaving, Victim::Moving),
    (Moment::Down, Victim::Moving),
    (Moment::Back, Victim::Moving),
];

/// Every fault at every moment.
const ALL: &[(RollFault, &[(Moment, Victim)])] = &[
    (RollFault::KillControlPlane, WITHOUT_VICTIM),
    (RollFault::PauseControlPlane, WITHOUT_VICTIM),
    (RollFault::KillAgent, AGENTS),
    (RollFault::PauseAgent, AGENTS),
    (RollFault::KillBroker, BROKERS),
    (RollFault::PauseBroker, BROKERS),
    (RollFault::StoreAway, WITHOUT_VICTIM),
    (RollFault::ClockStep, WITHOUT_VICTIM),
    (RollFault::SlowDisk, DISKS),
    (RollFault::FullDisk, SMALL_DISKS),
];

/// What the long run tries together: each fits into a few rolls.
const GROUPS: [(&str, &[RollFault]); 4] = [
    (
        "control_plane",
        &[
            RollFault::KillControlPlane,
            RollFault::PauseControlPlane,
            RollFault::StoreAway,
            RollFault::ClockStep,
        ],
    ),
    ("agents", &[RollFault::KillAgent, RollFault::PauseAgent]),
    ("brokers", &[RollFault::KillBroker, RollFault::PauseBroker]),
    ("disks", &[RollFault::SlowDisk, RollFault::FullDisk]),
];

/// Parts of the tour by name, each with its cases: what `CASTELLAN_ROLL_LUCK` chooses
/// (`FullDisk`, `FullDisk at Back` or `all`); else every case, or a single one.
pub fn parts(every: bool) -> Vec<(&'static str, Vec<Case>)> {
    if let Ok(kind) = std::env::var("CASTELLAN_ROLL_LUCK") {
        return vec![("chosen", chosen(&kind))];
    }
    if !every {
        return vec![("any", vec![any()])];
    }
    let of = |kinds: &[RollFault]| all().filter(|case| kinds.contains(&case.fault)).collect();
    GROUPS.map(|(name, kinds)| (name, of(kinds))).into()
}

fn all() -> impl Iterator<Item = Case> {
    let of_one = |&(fault, when): &(RollFault, &'static [(Moment, Victim)])| {
        when.iter().map(move |&(moment, victim)| Case { fault, moment, victim })
    };
    ALL.iter().flat_map(of_one)
}

fn chosen(kind: &str) -> Vec<Case> {
    let is_it = |case: &Case| {
        let Case { fault, moment, .. } = case;
        ["all".to_owned(), format!("{fault:?}"), format!("{fault:?} at {moment:?}")]
            .iter()
            .any(|name| name == kind)
    };
    let of_it: Vec<Case> = all().filter(is_it).collect();
    assert!(!of_it.is_empty(), "CASTELLAN_ROLL_LUCK names no kind of fault: {kind}");
    of_it
}

/// Another one every time, as `CASTELLAN_SEED` says.
fn any() -> Case {
    let given = std::env::var("CASTELLAN_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: usize = given.unwrap_or_else(|| usize::try_from(std::process::id()).unwrap());
    eprintln!("CASTELLAN_SEED={seed}");
    // Putting a server on a small disk and back takes a minute of its own.
    let quick: Vec<Case> = all().filter(|case| case.fault != RollFault::FullDisk).collect();
    quick[seed % quick.len()]
}
