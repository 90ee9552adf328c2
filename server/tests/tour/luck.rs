//! Bad luck for a roll: what happens, when, and to whom; and which of it is
//! tried this time.

use std::fmt;

/// What goes wrong in the middle of a roll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Luck {
    KillControlPlane,
    KillAgent,
    KillBroker,
    PauseBroker,
    StoreAway,
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

/// Whom it hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    /// The server whose turn it is.
    Moving,
    Another,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    pub luck: Luck,
    pub moment: Moment,
    pub victim: Victim,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { luck, moment, victim } = self;
        write!(f, "{luck:?} at {moment:?}, {victim:?}")
    }
}

/// What happens in one roll, in the order of its moments: at most one before the first
/// server is touched, and then one a turn. A turn is left over, since one may go by
/// while what happened before is mended.
const ROLLS: &[&[(Luck, Moment, Victim)]] = &[
    &[
        (Luck::KillControlPlane, Moment::Begun, Victim::Another),
        (Luck::KillControlPlane, Moment::Down, Victim::Another),
        (Luck::KillControlPlane, Moment::Back, Victim::Another),
    ],
    &[
        (Luck::KillAgent, Moment::Begun, Victim::Another),
        (Luck::KillAgent, Moment::Leaving, Victim::Moving),
        (Luck::KillAgent, Moment::Down, Victim::Moving),
    ],
    &[
        (Luck::KillAgent, Moment::Down, Victim::Another),
        (Luck::KillAgent, Moment::Back, Victim::Moving),
    ],
    &[
        (Luck::KillAgent, Moment::Back, Victim::Another),
        (Luck::KillBroker, Moment::Back, Victim::Moving),
    ],
    &[
        (Luck::KillBroker, Moment::Begun, Victim::Another),
        (Luck::KillBroker, Moment::Leaving, Victim::Moving),
        (Luck::KillBroker, Moment::Down, Victim::Another),
    ],
    &[
        (Luck::PauseBroker, Moment::Begun, Victim::Another),
        (Luck::PauseBroker, Moment::Down, Victim::Another),
    ],
    &[
        (Luck::PauseBroker, Moment::Back, Victim::Another),
        (Luck::KillBroker, Moment::Back, Victim::Another),
    ],
    &[
        (Luck::StoreAway, Moment::Begun, Victim::Another),
        (Luck::StoreAway, Moment::Down, Victim::Another),
        (Luck::StoreAway, Moment::Back, Victim::Another),
    ],
    &[
        (Luck::FullDisk, Moment::Begun, Victim::Another),
        (Luck::FullDisk, Moment::Down, Victim::Another),
    ],
    // Whoever ended for want of room has had its turn by that.
    &[(Luck::FullDisk, Moment::Down, Victim::Moving)],
    &[(Luck::FullDisk, Moment::Back, Victim::Moving)],
];

/// The kind of luck that alone is tried, such as `FullDisk` or `FullDisk at Back`, and
/// nothing else of the tour.
pub fn chosen() -> Option<String> {
    std::env::var("CASTELLAN_ROLL_LUCK").ok()
}

/// One roll with one case, another one every time, as `CASTELLAN_SEED` says; all of them
/// in the long run, and those of one kind where that is chosen.
pub fn rolls() -> Vec<Vec<Case>> {
    let case = |&(luck, moment, victim): &(Luck, Moment, Victim)| Case { luck, moment, victim };
    let all = ROLLS.iter().map(|cases| cases.iter().map(case).collect::<Vec<Case>>());
    if let Some(kind) = chosen() {
        let is_it = |case: &Case| {
            let Case { luck, moment, .. } = case;
            [format!("{luck:?}"), format!("{luck:?} at {moment:?}")].contains(&kind)
        };
        let of_it = all.map(|cases| cases.into_iter().filter(is_it).collect::<Vec<Case>>());
        let of_it: Vec<Vec<Case>> = of_it.filter(|cases| !cases.is_empty()).collect();
        assert!(!of_it.is_empty(), "CASTELLAN_ROLL_LUCK names no kind of luck: {kind}");
        return of_it;
    }
    if std::env::var_os("CASTELLAN_TEST_ALL").is_some() {
        return all.collect();
    }
    let given = std::env::var("CASTELLAN_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: usize = given.unwrap_or_else(|| usize::try_from(std::process::id()).unwrap());
    println!("CASTELLAN_SEED={seed}");
    // Putting a server on a small disk and back takes a minute of its own.
    let quick: Vec<Case> = all.flatten().filter(|case| case.luck != Luck::FullDisk).collect();
    vec![vec![quick[seed % quick.len()]]]
}
