//! Unpacking what producers packed, within a bound: whoever writes to a topic
//! decides what is in it, and a small batch may unpack to any size.

use bytes::{Buf, Bytes};
use kafka_protocol::records::Compression;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
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
        Compression::Zstd => zstd(packed),
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
    Err(too_much())
}

fn too_much() -> String {
    format!("it unpacks to more than {} MiB", MOST >> 20)
}

/// Block by block, because a decoder that is read from gives no byte away before a
/// whole window is full, and a packer that tries hard announces one of 128 MiB
/// however little it packs.
fn zstd(packed: Bytes) -> Result<Bytes, String> {
    let mut packed = packed.reader();
    let mut decoder = FrameDecoder::new();
    decoder.init(&mut packed).map_err(|error| error.to_string())?;
    let enough = BlockDecodingStrategy::UptoBytes(MOST + 1);
    let ended = decoder.decode_blocks(&mut packed, enough).map_err(|error| error.to_string())?;
    if !ended {
        return Err(too_much());
    }
    let unpacked = decoder.collect().unwrap_or_default();
    fits(unpacked.len())?;
    Ok(unpacked.into())
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

    /// The header of a block that repeats one byte 128 Ki times.
    const RUN: u32 = ((128 << 10) << 3) | (1 << 1);
    const LAST: u32 = 1;

    /// A frame with a window of 128 MiB, as the highest levels of compression make them.
    fn zstd_of_a_large_window(blocks: &[u32]) -> Vec<u8> {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3];
        for block in blocks {
            frame.extend(&block.to_le_bytes()[..3]);
            frame.push(b'x');
        }
        frame
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
        // Nobody looks at what comes after the most: that the frame is cut off there
        // would be told otherwise.
        let endless = zstd_of_a_large_window(&[RUN; 129]);
        let error = unpack(endless.into(), Compression::Zstd).unwrap_err();
        assert_eq!(error, "it unpacks to more than 16 MiB");
    }

    #[test]
    fn little_that_was_packed_with_a_large_window_is_unpacked() {
        let frame = zstd_of_a_large_window(&[RUN, RUN, RUN | LAST]);
        let unpacked = unpack(frame.into(), Compression::Zstd).unwrap();
        assert_eq!(unpacked.len(), 3 * 128 * 1024);
        assert!(unpacked.iter().all(|byte| *byte == b'x'));
    }
}
