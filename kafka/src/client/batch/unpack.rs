//! Unpacking what producers packed, within a bound: whoever writes to a topic
//! decides what is in it, and a small batch may unpack to any size.

use bytes::{Buf, Bytes};
use kafka_protocol::records::Compression;
use std::io::Read;

/// The most that one batch may unpack to.
pub(super) const MOST: usize = 16 << 20;

/// How Java's snappy begins a stream of blocks: its name and two versions.
const SNAPPY_STREAM: &[u8] = b"\x82SNAPPY\x00";
const SNAPPY_HEADER: usize = 16;

pub(super) fn unpack(packed: Bytes, by: Compression) -> Result<Bytes, String> {
    match by {
        Compression::None => Ok(packed),
        Compression::Gzip => read(flate2::read::GzDecoder::new(packed.reader())),
        Compression::Lz4 => read(lz4_flex::frame::FrameDecoder::new(packed.reader())),
        Compression::Zstd => read(
            ruzstd::decoding::StreamingDecoder::new(packed.reader())
                .map_err(|error| error.to_string())?,
        ),
        Compression::Snappy => snappy(packed),
    }
}

fn read(from: impl Read) -> Result<Bytes, String> {
    let mut unpacked = Vec::new();
    let most = u64::try_from(MOST).unwrap_or(u64::MAX);
    from.take(most + 1).read_to_end(&mut unpacked).map_err(|error| error.to_string())?;
    fits(unpacked.len())?;
    Ok(unpacked.into())
}

fn fits(bytes: usize) -> Result<(), String> {
    if bytes <= MOST {
        return Ok(());
    }
    Err(format!("it unpacks to more than {} MiB", MOST >> 20))
}

/// A stream of blocks, or one block without anything around it.
fn snappy(mut packed: Bytes) -> Result<Bytes, String> {
    if !packed.starts_with(SNAPPY_STREAM) || packed.len() < SNAPPY_HEADER {
        return block(&packed).map(Bytes::from);
    }
    packed.advance(SNAPPY_HEADER);
    let mut unpacked = Vec::new();
    while packed.has_remaining() {
        let length = packed.try_get_u32().map_err(|error| error.to_string())?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > packed.len() {
            return Err("a block is cut off".to_owned());
        }
        unpacked.extend(block(&packed.split_to(length))?);
        fits(unpacked.len())?;
    }
    Ok(unpacked.into())
}

fn block(packed: &[u8]) -> Result<Vec<u8>, String> {
    let length = snap::raw::decompress_len(packed).map_err(|error| error.to_string())?;
    fits(length)?;
    snap::raw::Decoder::new().decompress_vec(packed).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &[u8] = b"a text, a text, a text that is there more than once, a text";

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn lz4(data: &[u8]) -> Vec<u8> {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(vec![]);
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(data: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn raw_snappy(data: &[u8]) -> Vec<u8> {
        snap::raw::Encoder::new().compress_vec(data).unwrap()
    }

    fn java_snappy(data: &[u8]) -> Vec<u8> {
        let mut stream = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01".to_vec();
        for piece in data.chunks(20) {
            let block = raw_snappy(piece);
            stream.extend(u32::try_from(block.len()).unwrap().to_be_bytes());
            stream.extend(block);
        }
        stream
    }

    type Packer = fn(&[u8]) -> Vec<u8>;

    const ALL: [(Compression, Packer); 5] = [
        (Compression::Gzip, gzip),
        (Compression::Lz4, lz4),
        (Compression::Zstd, zstd),
        (Compression::Snappy, raw_snappy),
        (Compression::Snappy, java_snappy),
    ];

    #[test]
    fn what_was_packed_is_unpacked() {
        for (by, pack) in ALL {
            assert_eq!(unpack(pack(TEXT).into(), by).unwrap(), TEXT, "{by:?}");
        }
        assert_eq!(unpack(Bytes::from_static(TEXT), Compression::None).unwrap(), TEXT);
    }

    #[test]
    fn what_is_cut_off_or_wrong_is_an_error_or_less() {
        for (by, pack) in ALL {
            let packed = pack(TEXT);
            for end in 0..packed.len() {
                if let Ok(unpacked) = unpack(packed[..end].to_vec().into(), by) {
                    assert!(TEXT.starts_with(&unpacked), "{by:?} cut at {end}");
                }
            }
            for at in 0..packed.len() {
                let mut wrong = packed.clone();
                wrong[at] ^= 0x5a;
                drop(unpack(wrong.into(), by));
            }
        }
    }

    #[test]
    fn what_would_fill_the_memory_is_refused() {
        let much = vec![0; MOST + 1];
        for (by, pack) in [ALL[0], ALL[1], ALL[3]] {
            let error = unpack(pack(&much).into(), by).unwrap_err();
            assert_eq!(error, "it unpacks to more than 16 MiB", "{by:?}");
        }
    }
}
