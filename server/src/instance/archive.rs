//! Texts as one compressed file.

use flate2::Compression;
use flate2::write::GzEncoder;
use model::Timestamp;
use std::io;
use tar::{Builder, Header};

/// One file of a bundle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    pub path: String,
    pub text: String,
}

impl Piece {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// All pieces under one directory, as a `.tar.gz`.
pub fn pack(directory: &str, pieces: &[Piece], at: Timestamp) -> io::Result<Vec<u8>> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for piece in pieces {
        let mut header = Header::new_gnu();
        header.set_size(piece.text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(u64::try_from(at.as_second()).unwrap_or_default());
        tar.append_data(&mut header, format!("{directory}/{}", piece.path), piece.text.as_bytes())?;
    }
    tar.into_inner()?.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_is_packed_is_found() {
        let pieces = [Piece::new("a.json", "{}"), Piece::new("servers/1/b.log", "line\n")];
        let at = "2026-11-15T00:00:00Z".parse().unwrap();
        let packed = pack("bundle", &pieces, at).unwrap();
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let mut found = Vec::new();
        for entry in tar.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            found.push(Piece { path: path.replace("bundle/", ""), text });
        }
        assert_eq!(found, pieces);
    }
}
