//! A small Java program of ours as a guest in somebody else's JVM.
//!
//! What agents count of a server is its agent, its broker and their children, and
//! nobody can become the child of a process from outside. So what shall burn and
//! eat inside a server goes into its broker: it is compiled, packed and handed over
//! as a Java agent by the tools of the JVM's own JDK. The guest stays for as long as
//! there is a file in a directory of its own, and says there when it has gone. It
//! touches nothing of its host's.

use crate::{FaultError, Undo};
use host::ProcessId;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

const TOOLS: [&str; 3] = ["javac", "jar", "jcmd"];
/// While it is there, the guest stays. It holds what the guest is told.
const HOLD: &str = "hold";
/// Made by the guest when it goes.
const ENDED: &str = "ended";
/// What `jcmd` prints of a guest that was let in.
const LET_IN: &str = "return code: 0";
const LOOK: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Guest {
    /// Of the fault, for people.
    pub what: &'static str,
    /// Of its class in the package `castellan.faults`.
    pub name: &'static str,
    pub source: &'static str,
}

/// On return its `agentmain` has returned. It goes when it is undone; one whose JVM
/// has ended has gone.
pub async fn inject(jvm: &ProcessId, guest: &Guest, told: &str) -> Result<Undo, FaultError> {
    let tools = tools(jvm, guest)?;
    let temporary = std::env::temp_dir();
    // Whatever fails from here on removes it, and so the guest.
    let directory = tempfile::tempdir().map_err(FaultError::at(&temporary))?;
    let jar = pack(&tools, guest, directory.path()).await?;
    write(&directory.path().join(HOLD), told)?;
    // The JVM may be another user's, and reads and writes there.
    if let Some(uid) = jvm.uid() {
        let given = host::give_away(directory.path(), uid, &[]);
        given.map_err(FaultError::at(directory.path()))?;
    }
    if !jvm.is_alive() {
        return Err(FaultError::Ended(jvm.pid));
    }
    let (pid, jar, home) = (jvm.pid.to_string(), text(&jar), text(directory.path()));
    let arguments = [&*pid, "JVMTI.agent_load", &*jar, &*home];
    let said = run(&tools.join("jcmd"), guest, &arguments).await?;
    if !said.lines().any(|line| line.trim() == LET_IN) {
        return Err(FaultError::unavailable(guest.what, said.trim()));
    }
    let jvm = jvm.clone();
    Ok(Box::new(move || leave(&jvm, directory.path())))
}

/// Where the JDK of a JVM has its tools. What is no JVM is left alone: the signal
/// that asks one to let somebody in ends any other program.
fn tools(jvm: &ProcessId, guest: &Guest) -> Result<PathBuf, FaultError> {
    let program = fs::read_link(format!("/proc/{}/exe", jvm.pid));
    let program = program.ok().filter(|_| jvm.is_alive()).ok_or(FaultError::Ended(jvm.pid))?;
    if !program.ends_with("bin/java") {
        let reason = format!("{} is no Java", program.display());
        return Err(FaultError::unavailable(guest.what, reason));
    }
    let directory = program.parent().unwrap_or(Path::new("/"));
    match TOOLS.iter().find(|tool| !directory.join(tool).exists()) {
        None => Ok(directory.into()),
        Some(tool) => {
            let reason = format!("{} has no {tool} beside it, as a JDK has", program.display());
            Err(FaultError::unavailable(guest.what, reason))
        }
    }
}

/// The jar with the guest.
async fn pack(tools: &Path, guest: &Guest, directory: &Path) -> Result<PathBuf, FaultError> {
    let at = |name: &str| directory.join(name);
    let (source, classes) = (at(&format!("{}.java", guest.name)), at("classes"));
    let (manifest, jar) = (at("manifest"), at("guest.jar"));
    write(&source, guest.source)?;
    write(&manifest, &format!("Agent-Class: castellan.faults.{}\n", guest.name))?;
    fs::create_dir(&classes).map_err(FaultError::at(&classes))?;
    let (source, classes) = (text(&source), text(&classes));
    run(&tools.join("javac"), guest, &["-d", &classes, &source]).await?;
    let (manifest, file) = (text(&manifest), text(&jar));
    let arguments = ["--create", "--file", &file, "--manifest", &manifest, "-C", &classes, "."];
    run(&tools.join("jar"), guest, &arguments).await?;
    Ok(jar)
}

/// What it prints.
async fn run(program: &Path, guest: &Guest, arguments: &[&str]) -> Result<String, FaultError> {
    let ran = host::run_output(program, arguments, None).await.map_err(FaultError::at(program))?;
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    if ran.status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(&ran.stderr);
    let reason = format!("{}: {}: {said}{errors}", program.display(), ran.status);
    Err(FaultError::unavailable(guest.what, reason))
}

/// Sends it away, and waits until it has gone.
fn leave(jvm: &ProcessId, directory: &Path) -> Result<(), FaultError> {
    let hold = directory.join(HOLD);
    fs::remove_file(&hold).map_err(FaultError::at(&hold))?;
    let deadline = Instant::now() + PATIENCE;
    while jvm.is_alive() && !directory.join(ENDED).exists() {
        if Instant::now() > deadline {
            return Err(FaultError::at(&hold)(ErrorKind::TimedOut.into()));
        }
        sleep(LOOK);
    }
    Ok(())
}

fn write(path: &Path, contents: &str) -> Result<(), FaultError> {
    fs::write(path, contents).map_err(FaultError::at(path))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
