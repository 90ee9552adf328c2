//! Whether a broker that runs still answers its own agent. Pure.
//!
//! One look without an answer says little: a long collection of garbage, or a host
//! that is short of everything, is over by the next. Three in a row are a broker that
//! hangs.

use crate::board::Silence;
use jiff::Timestamp;

/// So many looks in vain, ten seconds apart.
const IN_VAIN: u32 = 3;

/// What the last looks at a broker came to.
#[derive(Default)]
pub struct Answers {
    /// The first of the looks in vain.
    silence: Option<Silence>,
    in_vain: u32,
}

impl Answers {
    /// Notes a look at the broker with this pid; none if there was no broker to
    /// ask. Returns the silence that is worth telling.
    pub fn heard(&mut self, asked: Option<i32>, answered: bool, at: Timestamp) -> Option<Silence> {
        let Some(pid) = asked.filter(|_| !answered) else {
            *self = Self::default();
            return None;
        };
        if self.silence.is_none_or(|silence| silence.pid != pid) {
            *self = Self { silence: Some(Silence { pid, since: at }), in_vain: 0 };
        }
        self.in_vain = self.in_vain.saturating_add(1);
        self.silence.filter(|_| self.in_vain >= IN_VAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn three_looks_in_vain_are_told_with_the_first() {
        let mut answers = Answers::default();
        let silence = Some(Silence { pid: 7, since: at(10) });
        assert_eq!(answers.heard(Some(7), false, at(10)), None);
        assert_eq!(answers.heard(Some(7), false, at(20)), None);
        assert_eq!(answers.heard(Some(7), false, at(30)), silence);
        assert_eq!(answers.heard(Some(7), false, at(40)), silence);
        assert_eq!(answers.heard(Some(7), true, at(50)), None, "it answers again");
        assert_eq!(answers.heard(Some(7), false, at(60)), None, "counted anew");
    }

    #[test]
    fn another_process_is_counted_for_itself() {
        let mut answers = Answers::default();
        for second in [10, 20, 30] {
            answers.heard(Some(7), false, at(second));
        }
        assert_eq!(answers.heard(Some(8), false, at(40)), None);
        assert_eq!(answers.heard(None, false, at(50)), None, "nobody was asked");
        assert_eq!(answers.heard(Some(8), false, at(60)), None);
        assert_eq!(answers.heard(Some(8), false, at(70)), None);
        let silence = Some(Silence { pid: 8, since: at(60) });
        assert_eq!(answers.heard(Some(8), false, at(80)), silence);
    }
}
