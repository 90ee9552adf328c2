//! What a process gives up that must reach nothing but its own files: root's
//! uid, every group, every capability, and the chance to gain any.
//!
//! Capabilities and `no_new_privs` belong to a thread, so they are given up in
//! a thread of its own, and the child that it starts has none of them.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use std::ffi::OsString;
use std::io;
use std::thread;

/// The variables that a confined process has of ours, besides those it is
/// started with. Others may hold the operator's secrets.
const PASSED_ON: [&str; 8] =
    ["PATH", "JAVA_HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "RUST_LOG", "CASTELLAN_TEST_CLOCK"];

/// Whether this process may start others under another uid.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// What root needs to start processes under other uids and look after them, and does not
/// have here, as in a container.
pub fn missing_capabilities() -> Vec<&'static str> {
    const NEEDED: [(CapabilitySet, &str); 8] = [
        (CapabilitySet::CHOWN, "CAP_CHOWN"),
        (CapabilitySet::DAC_OVERRIDE, "CAP_DAC_OVERRIDE"),
        (CapabilitySet::FOWNER, "CAP_FOWNER"),
        (CapabilitySet::KILL, "CAP_KILL"),
        (CapabilitySet::SETGID, "CAP_SETGID"),
        (CapabilitySet::SETUID, "CAP_SETUID"),
        (CapabilitySet::SETPCAP, "CAP_SETPCAP"),
        (CapabilitySet::SYS_PTRACE, "CAP_SYS_PTRACE"),
    ];
    let has = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    let missing = NEEDED.iter().filter(|(one, _)| !has.contains(*one));
    missing.map(|(_, name)| *name).collect()
}

pub(crate) fn environment() -> Vec<(&'static str, OsString)> {
    PASSED_ON.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))).collect()
}

/// Runs it in a thread that has given up what a child must not have. Only the
/// change of uid is left, which the child makes before its program begins.
pub(crate) fn without_privileges<T: Send>(
    start: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    thread::scope(|threads| {
        let started = threads.spawn(|| {
            give_up()?;
            start()
        });
        started.join().unwrap_or_else(|_| Err(io::Error::other("starting a process failed")))
    })
}

pub(crate) fn give_up() -> io::Result<()> {
    for bit in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit)) {
            // The kernel knows no more of them.
            Err(Errno::INVAL) => break,
            other => other?,
        }
    }
    let CapabilitySets { effective, permitted, .. } = capabilities(None)?;
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective, permitted, inheritable })?;
    clear_ambient_capability_set()?;
    Ok(set_no_new_privs(true)?)
}

#[cfg(test)]
mod tests {
    use crate::{Spawn, testing};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    use std::path::Path;

    const UID: u32 = 1_900_000_123;

    /// Runs a shell's script as the user, in a directory of theirs.
    async fn run(directory: &Path, script: &str) -> String {
        let spawn = Spawn {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![("GIVEN".into(), "to it".into())],
            directory: directory.into(),
            output: directory.join("output"),
        };
        let (_, ended) = spawn.start_as(UID).unwrap();
        ended.await;
        fs::read_to_string(directory.join("output")).unwrap()
    }

    fn home(place: &Path) -> std::path::PathBuf {
        fs::set_permissions(place, fs::Permissions::from_mode(0o711)).unwrap();
        let home = place.join("home");
        crate::create_private_dir(&home).unwrap();
        chown(&home, Some(UID), Some(UID)).unwrap();
        home
    }

    #[tokio::test]
    async fn a_confined_process_has_a_uid_and_nothing_else() {
        if !testing::has_uids() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let home = home(place.path());
        fs::write(place.path().join("secret"), "root's").unwrap();
        fs::set_permissions(place.path().join("secret"), fs::Permissions::from_mode(0o600))
            .unwrap();
        let said = run(&home, "cat /proc/self/status; env; cat ../secret; ls ..; echo end").await;
        let ids = format!("\t{UID}").repeat(4);
        for line in [format!("Uid:{ids}"), format!("Gid:{ids}"), "Groups:\t ".into()] {
            assert!(said.lines().any(|said| said == line), "{line}: {said}");
        }
        for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert!(said.contains(&format!("{set}:\t0000000000000000\n")), "{set}: {said}");
        }
        assert!(said.contains("NoNewPrivs:\t1") && said.contains("GIVEN=to it"), "{said}");
        assert!(!said.contains("CARGO") && !said.contains("HOME="), "{said}");
        assert!(
            !said.contains("root's") && said.matches("ermission denied").count() == 2,
            "{said}"
        );
        // This process is what it was.
        let own = fs::read_to_string("/proc/self/status").unwrap();
        assert!(!own.contains("CapBnd:\t0000000000000000") && !own.contains("NoNewPrivs:\t1"));
    }

    #[tokio::test]
    async fn a_log_that_leads_elsewhere_is_not_followed() {
        if !testing::has_uids() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let home = home(place.path());
        let target = place.path().join("root's");
        fs::write(&target, "kept").unwrap();
        let log = home.join("output");
        symlink(&target, &log).unwrap();
        assert_eq!(run(&home, "echo one").await, "one\n");
        assert_eq!(run(&home, "echo two").await, "one\ntwo\n");
        fs::remove_file(&log).unwrap();
        fs::hard_link(&target, &log).unwrap();
        assert_eq!(run(&home, "echo three").await, "three\n");
        fs::remove_file(&log).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &log, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(run(&home, "echo four").await, "four\n");
        assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    }
}
