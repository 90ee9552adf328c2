//! Decodes a reply without reserving memory for what it merely announces.
//!
//! `kafka-protocol` reserves room for a list as soon as it has read the list's length. A
//! length of two thousand million in a frame of forty bytes would abort the process. The
//! codec reads through a trait, so it is handed [`Checked`] bytes, which look at each
//! length first. Together with the limit on frames this bounds what a reply can cost.
//!
//! In the versions that we speak (see `versions`) all lengths are varints, and all varints
//! are lengths, counts or the small numbers of tagged fields. A list and a byte string
//! look alike, but only after the length of a byte string does the codec ask for that many
//! bytes. So for a length beyond [`MAX_ELEMENTS`] the codec is given 0: if it then asks for
//! no bytes it gets all of them, and if it asks for anything else it fails. SaslHandshake
//! alone has no flexible version; its one number of four bytes is the length of its list.

use super::versions;
use bytes::{Buf, Bytes, TryGetError};
use kafka_protocol::protocol::buf::{ByteBuf, NotEnoughBytesError};
use kafka_protocol::protocol::{Decodable, Request};

/// So many elements cost next to nothing, whether they are there or not.
const HARMLESS: usize = 1 << 10;
/// More elements than any list of a cluster has.
const MAX_ELEMENTS: usize = 1 << 20;
/// The varint of an empty list or byte string; 0 is null.
const EMPTY: u8 = 1;
const LONGEST_VARINT: usize = 5;

/// Decodes the reply to a request of that version, or says why it can't be read.
pub(super) fn decode<R: Request>(body: &Bytes, version: i16) -> Result<R::Response, String> {
    let is_flexible = versions::is_flexible::<R>(version);
    let mut bytes = Checked { bytes: body.clone(), is_flexible, rest_of_varint: 0, withheld: None };
    let reply = R::Response::decode(&mut bytes, version).map_err(|error| error.to_string())?;
    if bytes.withheld.is_some() {
        return Err("it announces more than it holds".to_owned());
    }
    Ok(reply)
}

struct Checked {
    bytes: Bytes,
    is_flexible: bool,
    /// How many more bytes belong to the varint that is being read.
    rest_of_varint: usize,
    /// So many bytes were announced, and the codec was told of none. Until it asks for
    /// them nothing is left for it.
    withheld: Option<usize>,
}

impl Checked {
    fn is_credible(&self, announced: usize) -> bool {
        let holds = announced <= self.bytes.len() && announced <= MAX_ELEMENTS;
        holds || announced <= HARMLESS
    }

    /// The length that the varint at the front announces, and how many bytes it has.
    fn announced(&self) -> (usize, usize) {
        let (mut number, mut width) = (0_u64, 0);
        for byte in self.bytes.iter().take(LONGEST_VARINT) {
            number |= u64::from(byte & 0x7f) << (7 * width);
            width += 1;
            if *byte < 0x80 {
                break;
            }
        }
        (usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1), width)
    }
}

impl Buf for Checked {
    fn remaining(&self) -> usize {
        if self.withheld.is_some() { 0 } else { self.bytes.len() }
    }

    fn chunk(&self) -> &[u8] {
        if self.withheld.is_some() { &[] } else { &self.bytes }
    }

    fn advance(&mut self, count: usize) {
        self.rest_of_varint = 0;
        self.bytes.advance(count);
    }

    fn try_get_u8(&mut self) -> Result<u8, TryGetError> {
        if !self.has_remaining() {
            return Err(TryGetError { requested: 1, available: 0 });
        }
        if self.rest_of_varint > 0 {
            self.rest_of_varint -= 1;
            return Ok(self.bytes.get_u8());
        }
        let (announced, width) = self.announced();
        if self.is_credible(announced) {
            self.rest_of_varint = width - 1;
            return Ok(self.bytes.get_u8());
        }
        self.bytes.advance(width);
        self.withheld = Some(announced);
        Ok(EMPTY)
    }

    fn try_get_i32(&mut self) -> Result<i32, TryGetError> {
        let available = self.remaining();
        let requested = size_of::<i32>();
        if available < requested {
            return Err(TryGetError { requested, available });
        }
        self.rest_of_varint = 0;
        let number = self.bytes.get_i32();
        match usize::try_from(number) {
            Ok(requested) if !self.is_flexible && !self.is_credible(requested) => {
                Err(TryGetError { requested, available })
            }
            _ => Ok(number),
        }
    }
}

impl ByteBuf for Checked {
    fn peek_bytes(&mut self, range: std::ops::Range<usize>) -> Bytes {
        self.bytes.slice(range)
    }

    fn get_bytes(&mut self, size: usize) -> Bytes {
        self.rest_of_varint = 0;
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
