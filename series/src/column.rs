//! One measure's points within a window: a bit for each slot, and the values
//! that are there. A gap takes no room.

use crate::window::SLOTS;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Column {
    /// The slots that have a value, the first in the lowest bit.
    present: u64,
    /// In the order of their slots.
    values: Vec<f32>,
}

impl Column {
    /// None if the values are not as many as the slots, or a slot is beyond the last.
    pub(crate) fn new(present: u64, values: Vec<f32>) -> Option<Self> {
        let fits = present >> SLOTS == 0 && present.count_ones() as usize == values.len();
        fits.then_some(Self { present, values })
    }

    pub(crate) fn present(&self) -> u64 {
        self.present
    }

    pub(crate) fn values(&self) -> &[f32] {
        &self.values
    }

    /// Whether that changes anything. What was there is replaced.
    pub fn set(&mut self, slot: usize, value: f32) -> bool {
        let (bit, rank) = (1u64 << slot, self.rank(slot));
        if self.present & bit == 0 {
            self.present |= bit;
            self.values.insert(rank, value);
            return true;
        }
        let before = std::mem::replace(&mut self.values[rank], value);
        before.to_bits() != value.to_bits()
    }

    pub fn get(&self, slot: usize) -> Option<f32> {
        (self.present & (1u64 << slot) != 0).then(|| self.values[self.rank(slot)])
    }

    /// Slots and values, in order.
    pub fn points(&self) -> impl Iterator<Item = (usize, f32)> {
        let slots = (0..SLOTS).filter(move |slot| self.present & (1u64 << slot) != 0);
        slots.zip(self.values.iter().copied())
    }

    /// How many values are before a slot.
    fn rank(&self, slot: usize) -> usize {
        (self.present & ((1u64 << slot) - 1)).count_ones() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_in_any_order_and_twice() {
        let mut column = Column::default();
        for (slot, value, is_new) in
            [(59, 1.0, true), (0, 2.0, true), (30, 3.0, true), (0, 2.0, false), (0, 4.0, true)]
        {
            assert_eq!(column.set(slot, value), is_new, "slot {slot}");
        }
        assert_eq!(column.points().collect::<Vec<_>>(), [(0, 4.0), (30, 3.0), (59, 1.0)]);
        assert_eq!([column.get(0), column.get(1), column.get(59)], [Some(4.0), None, Some(1.0)]);
    }

    #[test]
    fn a_column_that_does_not_add_up_is_none() {
        assert!(Column::new(0b101, vec![1.0, 2.0]).is_some());
        assert!(Column::new(0b101, vec![1.0]).is_none());
        assert!(Column::new(1 << 60, vec![1.0]).is_none());
    }
}
