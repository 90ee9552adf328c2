//! Reading an answer without making room for what it merely announces.
//!
//! The codec reserves memory for a list as soon as it has read how long it is. A
//! length of two thousand million in a frame of forty bytes would end the process:
//! running out of memory is no error that can be caught. But it reads through a
//! trait, so it is handed [`Wary`] bytes, which look at every number that may be a
//! length before the codec does. An honest answer is read as it is, one that
//! announces more than it holds is an error, and nothing is ever reserved for more
//! than [`AT_MOST`] elements.
//!
//! A length is not marked as one, and three things tell it from other numbers:
//! - Of the short form (seven bits a byte) all are lengths and counts, and the
//!   numbers of tagged fields, which are small.
//! - After the length of text or bytes the codec asks for just that many bytes. So it
//!   is told of none, and gets all of them when it asks for none; if it asks for
//!   anything else, the number was a list's.
//! - A number of four bytes may be anything. In place of an incredible one the codec
//!   gets one that no length can have, and fails if it takes it for one. If it does
//!   not, all lengths are known to be right, and it reads the answer once more.

use bytes::{Buf, Bytes, TryGetError};
use kafka_protocol::protocol::Decodable;
use kafka_protocol::protocol::buf::{ByteBuf, NotEnoughBytesError};

/// So many elements cost next to nothing, whether they are there or not.
const HARMLESS: usize = 1 << 10;
/// More elements than any list of a cluster has.
const AT_MOST: usize = 1 << 20;
/// Neither a length nor the mark of what is null.
const NO_LENGTH: i32 = -2;
/// The empty list, text or bytes in the short form, where 0 is null.
const EMPTY: u8 = 1;
/// Bytes of the longest number of the short form.
const LONGEST: usize = 5;

/// An answer of that version, or why it is none.
pub(super) fn decode<T: Decodable>(body: &Bytes, version: i16) -> Result<T, String> {
    let mut bytes = Wary::new(body.clone(), Belief::Doubt);
    let answer = T::decode(&mut bytes, version).map_err(|error| error.to_string())?;
    if bytes.withheld.is_some() {
        return Err("it announces more than it holds".to_owned());
    }
    if !bytes.replaced {
        return Ok(answer);
    }
    let mut bytes = Wary::new(body.clone(), Belief::Proven);
    T::decode(&mut bytes, version).map_err(|error| error.to_string())
}

#[derive(PartialEq, Eq)]
enum Belief {
    Doubt,
    /// All lengths were looked at before.
    Proven,
}

struct Wary {
    bytes: Bytes,
    belief: Belief,
    /// How many more bytes belong to the number that is being read.
    rest_of_number: usize,
    /// So many bytes were announced, and the codec was told of none. Until it asks
    /// for them nothing is left for it.
    withheld: Option<usize>,
    /// Whether a number was replaced by [`NO_LENGTH`].
    replaced: bool,
}

impl Wary {
    fn new(bytes: Bytes, belief: Belief) -> Self {
        Self { bytes, belief, rest_of_number: 0, withheld: None, replaced: false }
    }

    fn is_credible(&self, announced: usize) -> bool {
        let holds = announced <= self.bytes.len() && announced <= AT_MOST;
        holds || announced <= HARMLESS || self.belief == Belief::Proven
    }

    /// What the number of the short form that begins here announces, and in how many
    /// bytes.
    fn announced(&self) -> (usize, usize) {
        let (mut number, mut width) = (0_u64, 0);
        for byte in self.bytes.iter().take(LONGEST) {
            number |= u64::from(byte & 0x7f) << (7 * width);
            width += 1;
            if *byte < 0x80 {
                break;
            }
        }
        (usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1), width)
    }

    fn missing(&self, requested: usize) -> TryGetError {
        TryGetError { requested, available: self.remaining() }
    }
}

impl Buf for Wary {
    fn remaining(&self) -> usize {
        if self.withheld.is_some() { 0 } else { self.bytes.len() }
    }

    fn chunk(&self) -> &[u8] {
        if self.withheld.is_some() { &[] } else { &self.bytes }
    }

    fn advance(&mut self, count: usize) {
        self.rest_of_number = 0;
        self.bytes.advance(count);
    }

    fn try_get_u8(&mut self) -> Result<u8, TryGetError> {
        if !self.has_remaining() {
            return Err(self.missing(1));
        }
        if self.rest_of_number > 0 {
            self.rest_of_number -= 1;
            return Ok(self.bytes.get_u8());
        }
        let (announced, width) = self.announced();
        if self.is_credible(announced) {
            self.rest_of_number = width - 1;
            return Ok(self.bytes.get_u8());
        }
        self.bytes.advance(width);
        self.withheld = Some(announced);
        Ok(EMPTY)
    }

    fn try_get_i32(&mut self) -> Result<i32, TryGetError> {
        if self.remaining() < size_of::<i32>() {
            return Err(self.missing(size_of::<i32>()));
        }
        self.rest_of_number = 0;
        let number = self.bytes.get_i32();
        if usize::try_from(number).is_ok_and(|announced| !self.is_credible(announced)) {
            self.replaced = true;
            return Ok(NO_LENGTH);
        }
        Ok(number)
    }
}

impl ByteBuf for Wary {
    fn peek_bytes(&mut self, range: std::ops::Range<usize>) -> Bytes {
        self.bytes.slice(range)
    }

    fn get_bytes(&mut self, size: usize) -> Bytes {
        self.rest_of_number = 0;
        self.bytes.split_to(size)
    }

    fn try_get_bytes(&mut self, size: usize) -> Result<Bytes, NotEnoughBytesError> {
        let size = match self.withheld {
            Some(withheld) if size == 0 => withheld,
            Some(_) => return Err(NotEnoughBytesError),
            None => size,
        };
        if self.bytes.len() < size {
            return Err(NotEnoughBytesError);
        }
        self.withheld = None;
        Ok(self.get_bytes(size))
    }
}

#[cfg(test)]
mod tests;
