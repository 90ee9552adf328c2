//! A window as bytes.
//!
//! Columns one after another. Each value is written as what changed since the
//! one before it (their bits by exclusive or), and all first bytes stand before
//! all second ones: most of them are zero or alike then, and deflate makes little
//! of them. What can't be read is an error, never a panic and never gigabytes.

use crate::column::Column;
use crate::sample::{Measure, Of};
use crate::tier::Tier;
use crate::window::Window;
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};
use std::collections::BTreeMap;
use std::io::Read;

/// The first byte of what is packed this way.
const VERSION: u8 = 1;
/// Far beyond what the cap on topics lets through.
const LARGEST: u64 = 16 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnpackError {
    #[error("it was packed in a way that this Castellan does not know")]
    Version,
    #[error("it is not whole")]
    Broken,
}

pub fn pack(window: &Window) -> Vec<u8> {
    let mut plain = Vec::new();
    plain.extend(window.start.to_le_bytes());
    plain.extend(number(window.tier.step()).to_le_bytes());
    plain.extend(number(window.columns.len()).to_le_bytes());
    for ((measure, of), column) in &window.columns {
        let name = measure.to_string();
        plain.extend(number(name.len()).to_le_bytes());
        plain.extend(name.as_bytes());
        plain.push(match of {
            Of::Average => 0,
            Of::Max => 1,
        });
        plain.extend(column.present().to_le_bytes());
    }
    let changes: Vec<[u8; 4]> = window.columns.values().flat_map(changes).collect();
    for plane in 0..4 {
        plain.extend(changes.iter().map(|bytes| bytes[plane]));
    }
    let mut packed = vec![VERSION];
    DeflateEncoder::new(&*plain, Compression::default())
        .read_to_end(&mut packed)
        .expect("memory can be read and written");
    packed
}

fn number(count: impl TryInto<u32>) -> u32 {
    count.try_into().unwrap_or(u32::MAX)
}

fn changes(column: &Column) -> Vec<[u8; 4]> {
    let mut before = 0;
    let bits = column.values().iter().map(|value| value.to_bits());
    bits.map(|bits| (bits ^ std::mem::replace(&mut before, bits)).to_be_bytes()).collect()
}

/// Measures that only a newer Castellan knows are left out.
pub fn unpack(packed: &[u8]) -> Result<Window, UnpackError> {
    let (version, body) = packed.split_first().ok_or(UnpackError::Broken)?;
    if *version != VERSION {
        return Err(UnpackError::Version);
    }
    let mut plain = Vec::new();
    let mut inflated = DeflateDecoder::new(body).take(LARGEST);
    inflated.read_to_end(&mut plain).map_err(|_| UnpackError::Broken)?;
    let mut reader = Bytes(&plain);
    let start = i64::from_le_bytes(reader.array()?);
    let tier = Tier::of_step(i64::from(reader.number()?)).ok_or(UnpackError::Broken)?;
    let mut heads = Vec::new();
    for _ in 0..reader.number()? {
        heads.push(reader.head()?);
    }
    let columns = reader.columns(&heads)?;
    Ok(Window { start, tier, columns })
}

struct Head {
    /// None if it is not known here.
    measure: Option<Measure>,
    of: Of,
    present: u64,
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], UnpackError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(UnpackError::Broken)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], UnpackError> {
        self.take(N)?.try_into().map_err(|_| UnpackError::Broken)
    }

    fn number(&mut self) -> Result<u32, UnpackError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn head(&mut self) -> Result<Head, UnpackError> {
        let length = self.number()? as usize;
        let name = std::str::from_utf8(self.take(length)?).map_err(|_| UnpackError::Broken)?;
        let of = match self.array()? {
            [0] => Of::Average,
            [1] => Of::Max,
            _ => return Err(UnpackError::Broken),
        };
        let present = u64::from_le_bytes(self.array()?);
        Ok(Head { measure: Measure::parse(name), of, present })
    }

    /// The rest: the values of all columns, byte by byte.
    fn columns(self, heads: &[Head]) -> Result<BTreeMap<(Measure, Of), Column>, UnpackError> {
        let total: usize = heads.iter().map(|head| head.present.count_ones() as usize).sum();
        if self.0.len() != total * 4 {
            return Err(UnpackError::Broken);
        }
        let byte = |plane: usize, at: usize| self.0[plane * total + at];
        let (mut columns, mut at) = (BTreeMap::new(), 0);
        for head in heads {
            let count = head.present.count_ones() as usize;
            let mut before = 0;
            let values = (at..at + count).map(|at| {
                before ^= u32::from_be_bytes([0, 1, 2, 3].map(|plane| byte(plane, at)));
                f32::from_bits(before)
            });
            let column = Column::new(head.present, values.collect()).ok_or(UnpackError::Broken)?;
            at += count;
            if let Some(measure) = &head.measure {
                columns.insert((measure.clone(), head.of), column);
            }
        }
        Ok(columns)
    }
}
