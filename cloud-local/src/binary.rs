//! The copy of our own program that agents run.
//!
//! Each release has a copy named by its content, and `current` points at the
//! newest: an upgrade or a clean-up of the installed binary never pulls the
//! program from under a running agent. A copy is whole or absent, and is removed
//! once it is neither the newest nor anybody's program.

use crate::LocalError;
use crate::layout::{Layout, hidden};
use host::ProcessId;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// Starts the name of each copy.
const COPY: &str = "castellan-";

#[derive(Clone, Debug)]
pub(crate) struct AgentBinary {
    path: PathBuf,
}

impl AgentBinary {
    /// Copies the program unless its copy is there, and points `current` at it.
    pub(crate) fn install(layout: &Layout, program: &Path) -> Result<Self, LocalError> {
        let digest = digest(program).map_err(LocalError::at(program))?;
        let path = layout.bin().join(format!("{COPY}{digest}"));
        if !path.exists() {
            copy(program, &path).map_err(LocalError::at(&path))?;
        }
        let current = layout.bin().join("current");
        point(&current, &path).map_err(LocalError::at(&current))?;
        Ok(Self { path })
    }

    /// Removes the copies of other releases that none of these processes was
    /// started from. A copy that stays costs room and nothing else.
    pub(crate) fn remove_others(&self, layout: &Layout, users: &[ProcessId]) {
        let used: Vec<String> = users.iter().flat_map(ProcessId::command_line).collect();
        for entry in fs::read_dir(layout.bin()).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_copy = entry.file_name().to_string_lossy().starts_with(COPY);
            let is_used = used.iter().any(|argument| Path::new(argument) == path);
            if is_copy && path != self.path && !is_used {
                match fs::remove_file(&path) {
                    Ok(()) => tracing::info!(path = %path.display(), "removed an old release"),
                    Err(error) => {
                        tracing::warn!(%error, path = %path.display(), "an old release stays");
                    }
                }
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a process was started from another copy. A script has its
    /// interpreter first, so every argument counts. One that becomes another program in
    /// this very moment has none: who knows which.
    pub(crate) fn is_other_than_in(&self, process: &ProcessId) -> bool {
        let arguments = process.command_line();
        let is_this = arguments.iter().any(|argument| Path::new(argument) == self.path);
        !arguments.is_empty() && !is_this
    }
}

fn digest(program: &Path) -> io::Result<String> {
    let mut file = File::open(program)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    let digest = hasher.finalize();
    Ok(digest.iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
}

fn copy(program: &Path, path: &Path) -> io::Result<()> {
    let half = hidden(path, "new");
    fs::copy(program, &half)?;
    fs::set_permissions(&half, fs::Permissions::from_mode(0o755))?;
    File::open(&half)?.sync_all()?;
    fs::rename(&half, path)?;
    path.parent().map_or(Ok(()), host::sync_dir)
}

fn point(link: &Path, target: &Path) -> io::Result<()> {
    let name = target.file_name().unwrap_or_default();
    if fs::read_link(link).is_ok_and(|present| present.as_os_str() == name) {
        return Ok(());
    }
    let half = hidden(link, "new");
    let _ = fs::remove_file(&half);
    symlink(name, &half)?;
    fs::rename(&half, link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_release_gets_its_own_copy_and_the_old_one_stays() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::make(&directory.path().join("data")).unwrap();
        let program = directory.path().join("program");
        fs::write(&program, "one").unwrap();
        let one = AgentBinary::install(&layout, &program).unwrap();
        let same = AgentBinary::install(&layout, &program).unwrap();
        assert_eq!(one.path(), same.path());
        fs::write(&program, "two").unwrap();
        let two = AgentBinary::install(&layout, &program).unwrap();
        assert_ne!(one.path(), two.path());
        assert_eq!(fs::read_to_string(one.path()).unwrap(), "one");
        assert_eq!(fs::read_to_string(layout.bin().join("current")).unwrap(), "two");
        let mode = fs::metadata(two.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
}
