//! What a server's broker shall do while its cluster runs.

/// `launch` counts the starts that were asked for: a broker that was started for a lower
/// one is started anew. It is kept while the broker is stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    Running { launch: i64 },
    Stopped { launch: i64 },
}

impl Default for Wanted {
    fn default() -> Self {
        Self::Running { launch: 0 }
    }
}

impl Wanted {
    pub fn launch(self) -> i64 {
        let (Self::Running { launch } | Self::Stopped { launch }) = self;
        launch
    }

    pub fn is_stopped(self) -> bool {
        matches!(self, Self::Stopped { .. })
    }

    /// Has the broker started anew. `known` is the highest launch that its agent was told
    /// or told of: after a restore that may be more than the row says. None: the broker is
    /// stopped, so there is nothing to restart.
    pub fn restart(self, known: i64) -> Option<Self> {
        let Self::Running { launch } = self else { return None };
        Some(Self::Running { launch: launch.max(known) + 1 })
    }

    /// Takes restarts back that have not begun: a start that was made or told stays.
    #[must_use]
    pub fn take_back(self, begun: i64) -> Self {
        match self {
            Self::Running { launch } => Self::Running { launch: launch.min(begun) },
            Self::Stopped { launch } => Self::Stopped { launch: launch.min(begun) },
        }
    }

    /// None: it is stopped already.
    pub fn stop(self) -> Option<Self> {
        let Self::Running { launch } = self else { return None };
        Some(Self::Stopped { launch })
    }

    /// None: it shall run already.
    pub fn start(self) -> Option<Self> {
        let Self::Stopped { launch } = self else { return None };
        Some(Self::Running { launch })
    }
}

#[cfg(test)]
mod tests {
    use super::Wanted::{self, Running, Stopped};

    #[test]
    fn only_legal_moves_are_made() {
        let check = |from: Wanted, by: fn(Wanted) -> Option<Wanted>, to: Option<Wanted>| {
            assert_eq!(by(from), to);
        };
        let (one, stopped) = (Running { launch: 1 }, Stopped { launch: 1 });
        check(one, |it| it.restart(0), Some(Running { launch: 2 }));
        // A restored row may know of fewer starts than the agent.
        check(one, |it| it.restart(7), Some(Running { launch: 8 }));
        check(stopped, |it| it.restart(7), None);
        check(one, Wanted::stop, Some(stopped));
        check(stopped, Wanted::stop, None);
        check(stopped, Wanted::start, Some(one));
        check(one, Wanted::start, None);
        check(one, |it| Some(it.take_back(0)), Some(Running { launch: 0 }));
        check(one, |it| Some(it.take_back(5)), Some(one));
        check(stopped, |it| Some(it.take_back(0)), Some(Stopped { launch: 0 }));
    }
}
