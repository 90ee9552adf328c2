//! Kafka's framing: four bytes of length, then that many bytes.

use super::Stream;
use bytes::{Bytes, BytesMut};
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("a frame of {0} bytes")]
    Oversize(i64),
}

/// Writes one frame and reads the next one. A stream on which this failed or
/// was cancelled holds half a frame and must be dropped.
pub(super) async fn exchange(
    stream: &mut dyn Stream,
    request: &[u8],
    limit: usize,
) -> Result<Bytes, FrameError> {
    write(stream, request).await?;
    read(stream, limit).await
}

async fn write(stream: &mut dyn Stream, body: &[u8]) -> Result<(), FrameError> {
    let length = i32::try_from(body.len()).map_err(|_| FrameError::Oversize(size_of_body(body)))?;
    // One buffer, so that it is one TLS record and one packet.
    let mut frame = BytesMut::with_capacity(4 + body.len());
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(body);
    stream.write_all(&frame).await?;
    stream.flush().await?;
    Ok(())
}

async fn read(stream: &mut dyn Stream, limit: usize) -> Result<Bytes, FrameError> {
    let announced = stream.read_i32().await?;
    let length = usize::try_from(announced)
        .ok()
        .filter(|length| *length <= limit)
        .ok_or(FrameError::Oversize(announced.into()))?;
    let mut body = BytesMut::zeroed(length);
    stream.read_exact(&mut body).await?;
    Ok(body.freeze())
}

fn size_of_body(body: &[u8]) -> i64 {
    i64::try_from(body.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answer(bytes: &[u8]) -> Result<Bytes, FrameError> {
        let (mut ours, mut theirs) = tokio::io::duplex(64);
        theirs.write_all(bytes).await.unwrap();
        drop(theirs);
        read(&mut ours, 8).await
    }

    #[tokio::test]
    async fn a_frame_is_read_whole_or_not_at_all() {
        assert_eq!(answer(b"\0\0\0\x03abc").await.unwrap(), "abc");
        assert!(matches!(answer(b"\0\0\0\x04abc").await, Err(FrameError::Io(_))));
        assert!(matches!(answer(b"\0\0\0\x09").await, Err(FrameError::Oversize(9))));
        assert!(matches!(answer(b"\xff\xff\xff\xff").await, Err(FrameError::Oversize(-1))));
    }
}
