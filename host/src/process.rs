//! Starting, recognising, watching and ending processes.

use crate::confine;
use crate::foreign::{open_log, read_beneath};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use procfs::process::Process;
use procfs::{ProcError, ProcResult};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe::Sender;
use tokio::time::sleep;

/// Between looks at a process that can't be watched.
const LOOK: Duration = Duration::from_millis(200);

/// Names one process for ever: a reused pid has another start time, and a
/// reboot has another boot id.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ProcessId {
    pub pid: i32,
    /// Clock ticks since boot.
    pub start_time: u64,
    pub boot_id: String,
}

impl ProcessId {
    /// The identity of a process that runs now. None if there is none.
    pub fn from_pid(pid: i32) -> Option<Self> {
        let (identity, state) = Self::look(pid).ok()?;
        (!matches!(state, 'Z' | 'X')).then_some(identity)
    }

    /// The identity of whatever has this pid, ended or not, and its state.
    fn look(pid: i32) -> ProcResult<(Self, char)> {
        let stat = Process::new(pid)?.stat()?;
        Ok((Self { pid, start_time: stat.starttime, boot_id: boot_id()? }, stat.state))
    }

    pub fn own() -> Self {
        let pid = i32::try_from(std::process::id()).expect("Linux pids are positive i32");
        Self::from_pid(pid).expect("this process runs")
    }

    /// Reads an identity written by [`ProcessId::save`]; none if there is no
    /// such file or it is not whole. A link is none.
    pub fn load(path: &Path) -> Option<Self> {
        let name = Path::new(path.file_name()?);
        serde_json::from_slice(&read_beneath(path.parent()?, name).ok()?).ok()
    }

    pub fn save(&self, path: &Path) -> io::Result<()> {
        crate::write_atomic(path, &serde_json::to_vec(self).expect("plain data serialises"))
    }

    /// The uid that it was started with; none if it has ended.
    pub fn uid(&self) -> Option<u32> {
        let uid = Process::new(self.pid).ok()?.status().ok()?.ruid;
        self.is_alive().then_some(uid)
    }

    pub fn is_alive(&self) -> bool {
        Self::from_pid(self.pid).as_ref() == Some(self)
    }

    /// Whether it has certainly ended. One that can't be looked at, as when we have no file
    /// descriptor left, may still run.
    pub fn has_ended(&self) -> bool {
        match Self::look(self.pid) {
            Ok((found, state)) => found != *self || matches!(state, 'Z' | 'X'),
            Err(error) => matches!(error, ProcError::NotFound(_)),
        }
    }

    /// Sends a signal, if it is still the same process.
    pub fn signal(&self, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        match self.descriptor(pid) {
            Ok(process) => pidfd_send_signal(process, signal).is_ok(),
            // Here the pid could be reused right after the look, which is less bad than a
            // process that can't be ended.
            Err(_) => self.is_alive() && kill_process(pid, signal).is_ok(),
        }
    }

    /// SIGTERM: asks it to end.
    pub fn terminate(&self) -> bool {
        self.signal(Signal::TERM)
    }

    /// SIGKILL: ends it.
    pub fn kill(&self) -> bool {
        self.signal(Signal::KILL)
    }

    /// SIGKILL, and waits for the end. One that was only told to go may make another file
    /// in a directory that is being removed.
    pub fn kill_for_good(&self) {
        self.kill();
        while self.is_alive() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A handle to wait for its end. None if it has ended already, and for no other reason:
    /// a broker without one would be taken for none.
    pub fn watch(&self) -> Option<Watch> {
        let pid = Pid::from_raw(self.pid).filter(|_| !self.has_ended())?;
        #[expect(deprecated, reason = "its successor is unsafe; an OwnedFd keeps I/O safety")]
        let descriptor = self.descriptor(pid).and_then(AsyncFd::new);
        Some(descriptor.map_or_else(|_| Watch::Looks(self.clone()), Watch::Descriptor))
    }

    /// Stands for this process and no other, also after its end.
    fn descriptor(&self, pid: Pid) -> io::Result<OwnedFd> {
        let descriptor = pidfd_open(pid, PidfdFlags::empty())?;
        // If ours is alive now, it was alive when the descriptor was opened, so
        // nobody else had the pid then.
        if self.is_alive() { Ok(descriptor) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// Waits for a process that need not be a child of ours.
#[derive(Debug)]
pub enum Watch {
    /// The kernel tells.
    Descriptor(AsyncFd<OwnedFd>),
    /// The kernel knows no descriptors of processes, refuses them, or we have no file
    /// descriptor left.
    Looks(ProcessId),
}

impl Watch {
    /// Returns once the process has ended.
    pub async fn ended(&self) {
        match self {
            // A pidfd turns readable when its process ends, and stays so.
            Self::Descriptor(descriptor) => drop(descriptor.readable().await),
            Self::Looks(process) => {
                while !process.has_ended() {
                    sleep(LOOK).await;
                }
            }
        }
    }
}

/// How a child ended, for a person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exit(pub String);

/// Variables of ours that hold keys and passwords: no program that we start gets
/// them.
const SECRETS: [&str; 4] = [
    "CASTELLAN_MASTER_KEY",
    "CASTELLAN_DATABASE_URL",
    "CASTELLAN_APIKEY",
    "CASTELLAN_CHECK_PASSWORD",
];

/// A process to start in a session of its own, so that neither our end nor a
/// Ctrl-C in our terminal ends it. Output goes to a file, and input is empty unless it is
/// started to listen.
#[derive(Clone, Debug)]
pub struct Spawn {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    pub directory: PathBuf,
    /// Standard output and error are appended here.
    pub output: PathBuf,
}

impl Spawn {
    /// Starts it. The returned future ends with the child and takes its exit
    /// status; dropping it leaves the child running.
    pub fn start(
        &self,
    ) -> io::Result<(ProcessId, impl Future<Output = Exit> + Send + 'static + use<>)> {
        followed(self.spawn(None, Stdio::null(), None)?)
    }

    /// Starts it in a network namespace, as that user if one is given. What it starts is in
    /// there as well. Takes root.
    pub fn start_within(
        &self,
        namespace: &Path,
        uid: Option<u32>,
    ) -> io::Result<(ProcessId, impl Future<Output = Exit> + Send + 'static + use<>)> {
        followed(self.spawn(uid, Stdio::null(), Some(namespace))?)
    }

    /// The same for a process that we say something to, as that user if one is given. It sees
    /// the end of its input when what we say it with is dropped, and when we end in any way.
    pub fn start_listening(
        &self,
        uid: Option<u32>,
    ) -> io::Result<(ProcessId, Input, impl Future<Output = Exit> + Send + 'static + use<>)> {
        let mut child = self.spawn(uid, Stdio::piped(), None)?;
        let input = child.stdin().take().expect("it is piped").into_owned_fd()?;
        let (process, ended) = followed(child)?;
        Ok((process, Input::new(input)?, ended))
    }

    /// Starts it as that user, who is in a group of the same number and no other:
    /// without capabilities, without a way to gain any, and with few of our
    /// variables. Takes root. The output file may lie in a directory of that user.
    pub fn start_as(
        &self,
        uid: u32,
    ) -> io::Result<(ProcessId, impl Future<Output = Exit> + Send + 'static + use<>)> {
        followed(self.spawn(Some(uid), Stdio::null(), None)?)
    }

    fn spawn(
        &self,
        uid: Option<u32>,
        input: Stdio,
        namespace: Option<&Path>,
    ) -> io::Result<Box<dyn ChildWrapper>> {
        let runtime = tokio::runtime::Handle::current();
        let start = |mut command: CommandWrap| {
            crate::within(namespace, || {
                let _runtime = runtime.enter();
                command.spawn()
            })
        };
        let Some(uid) = uid else {
            let output = OpenOptions::new().create(true).append(true).open(&self.output)?;
            let mut command = self.command(output)?;
            command.envs(self.variables()).stdin(input);
            let mut command = CommandWrap::from(command);
            command.wrap(ProcessSession);
            return start(command);
        };
        let mut command = self.command(open_log(&self.output, uid)?)?;
        command.env_clear().envs(confine::environment()).envs(self.variables()).stdin(input);
        // The standard library drops root's other groups with root's uid.
        command.uid(uid).gid(uid);
        let mut command = CommandWrap::from(command);
        command.wrap(ProcessSession);
        // A thread starts with what the one that starts it has given up.
        confine::without_privileges(|| start(command))
    }

    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn command(&self, output: File) -> io::Result<tokio::process::Command> {
        let mut command = without_secrets(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.directory)
            .stdout(output.try_clone()?)
            .stderr(output)
            .kill_on_drop(false);
        Ok(command)
    }
}

/// The input of a process that was started to listen, by us or by another process that
/// handed it over ([`crate::Handover`]).
#[derive(Debug)]
pub struct Input(Sender);

impl Input {
    pub(crate) fn new(pipe: OwnedFd) -> io::Result<Self> {
        Sender::from_owned_fd(pipe).map(Self)
    }

    pub(crate) fn pipe(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Says something to it, whole or not at all if it is shorter than a page. An error if it
    /// does not listen any more.
    pub async fn say(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes()).await?;
        self.0.flush().await
    }
}

/// A program of which the keys and passwords in our environment are kept.
pub(crate) fn without_secrets(program: &Path) -> tokio::process::Command {
    #[expect(clippy::disallowed_methods, reason = "this is the one home of spawning")]
    let mut command = tokio::process::Command::new(program);
    for secret in SECRETS {
        command.env_remove(secret);
    }
    command
}

/// A child with its identity, and how it ends.
fn followed(
    mut child: Box<dyn ChildWrapper>,
) -> io::Result<(ProcessId, impl Future<Output = Exit> + Send + 'static + use<>)> {
    // A child that has ended already keeps its entry until we take its
    // status, so even its identity and exit are known.
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).expect("its end is not awaited");
    let identity = match ProcessId::look(pid) {
        Ok((identity, _)) => identity,
        Err(error) => {
            // Nobody would know that it runs.
            child.start_kill()?;
            while child.try_wait()?.is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let words = format!("the new process can't be seen in /proc: {error}");
            return Err(io::Error::other(words));
        }
    };
    let ended = async move {
        match child.wait().await {
            Ok(status) => Exit(status.to_string()),
            Err(error) => Exit(format!("unknown exit: {error}")),
        }
    };
    Ok((identity, ended))
}

/// Runs a short-lived command to its end and returns what it printed.
pub async fn run_output(
    program: &Path,
    arguments: &[&str],
    directory: Option<&Path>,
) -> io::Result<Output> {
    let mut command = without_secrets(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    command.output().await
}

/// Runs a command to its end and hands over each line it prints, of standard
/// output and error alike, while it runs.
pub async fn run_lines(
    program: &Path,
    arguments: &[&str],
    directory: &Path,
    mut on_line: impl FnMut(&str),
) -> io::Result<ExitStatus> {
    let mut command = without_secrets(program);
    command
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let mut output = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut errors = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let (mut output_open, mut errors_open) = (true, true);
    while output_open || errors_open {
        let (line, open) = tokio::select! {
            line = output.next_line(), if output_open => (line?, &mut output_open),
            line = errors.next_line(), if errors_open => (line?, &mut errors_open),
        };
        match line {
            Some(line) => on_line(&line),
            None => *open = false,
        }
    }
    child.wait().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper(directory: &Path) -> Spawn {
        Spawn {
            program: "/bin/sleep".into(),
            arguments: vec!["1000".into()],
            environment: vec![],
            directory: directory.into(),
            output: directory.join("output"),
        }
    }

    #[tokio::test]
    async fn a_process_is_found_again_by_its_identity_and_watched_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let (identity, ended) = sleeper(directory.path()).start().unwrap();
        let file = directory.path().join("pid");
        identity.save(&file).unwrap();

        let found = ProcessId::load(&file).unwrap();
        assert!(found.is_alive());
        let watch = found.watch().unwrap();
        assert!(found.kill());
        watch.ended().await;
        assert_eq!(ended.await, Exit("signal: 9 (SIGKILL)".into()));
        assert!(!found.is_alive());
        assert!(found.watch().is_none());
    }

    #[tokio::test]
    async fn a_reused_pid_is_not_taken_for_the_old_process() {
        let directory = tempfile::tempdir().unwrap();
        let (identity, ended) = sleeper(directory.path()).start().unwrap();
        let other = ProcessId { start_time: identity.start_time - 1, ..identity.clone() };
        assert!(!other.is_alive());
        assert!(!other.kill(), "a stranger must not be killed");
        assert!(identity.is_alive());
        identity.kill();
        ended.await;
    }

    /// A pid that is checked and then signalled could be reused in between.
    #[tokio::test]
    async fn what_is_signalled_is_the_process_that_was_checked() {
        let directory = tempfile::tempdir().unwrap();
        let (identity, ended) = sleeper(directory.path()).start().unwrap();
        let pid = Pid::from_raw(identity.pid).unwrap();
        let checked = identity.descriptor(pid).unwrap();
        assert_eq!(pidfd_send_signal(&checked, Signal::KILL), Ok(()));
        ended.await;
        assert_eq!(pidfd_send_signal(&checked, Signal::KILL), Err(rustix::io::Errno::SRCH));
        assert!(identity.descriptor(pid).is_err());
    }

    /// An agent that took such a broker for none would start a second one on its disk. The
    /// test runs itself once more with few file descriptors, since other tests need theirs.
    #[tokio::test]
    async fn a_live_process_is_watched_however_few_file_descriptors_are_left() {
        const INNER: &str = "HOST_TEST_FEW_FILES";
        let directory = tempfile::tempdir().unwrap();
        let sleeper = sleeper(directory.path());
        if std::env::var_os(INNER).is_none() {
            let test = "process::tests::\
                        a_live_process_is_watched_however_few_file_descriptors_are_left";
            let program = std::env::current_exe().unwrap();
            let script = format!("ulimit -n 64; exec '{}' --exact {test}", program.display());
            let spawn = Spawn {
                program: "/bin/sh".into(),
                arguments: vec!["-c".into(), script],
                environment: vec![(INNER.into(), String::new())],
                ..sleeper
            };
            let exit = spawn.start().unwrap().1.await;
            let said = fs::read_to_string(directory.path().join("output")).unwrap();
            assert_eq!(exit.0, "exit status: 0", "{said}");
            assert!(said.contains("1 passed"), "{said}");
            return;
        }
        let (identity, ended) = sleeper.start().unwrap();
        let mut taken: Vec<File> =
            std::iter::from_fn(|| File::open("/dev/null").ok()).take(100).collect();
        assert!(taken.len() < 64, "there is no limit");
        for _ in 0..6 {
            let free = 64 - taken.len();
            let watch = identity.watch();
            assert!(watch.is_some() && !identity.has_ended(), "{free}");
            taken.pop();
        }
        // As on a kernel that has no descriptors of processes.
        let watch = Watch::Looks(identity.clone());
        assert!(tokio::time::timeout(LOOK * 2, watch.ended()).await.is_err());
        assert!(identity.kill());
        watch.ended().await;
        ended.await;
    }

    /// The test runs itself once more with secrets in its environment, since a process can't
    /// change its own.
    #[tokio::test]
    async fn no_program_is_started_with_our_keys_and_passwords() {
        const INNER: &str = "HOST_TEST_INNER";
        let directory = tempfile::tempdir().unwrap();
        if std::env::var_os(INNER).is_none() {
            let name = "process::tests::no_program_is_started_with_our_keys_and_passwords";
            let secrets = SECRETS.into_iter().chain([INNER]);
            let spawn = Spawn {
                program: std::env::current_exe().unwrap(),
                arguments: ["--exact", name, "--nocapture"].map(String::from).into(),
                environment: secrets.map(|secret| (secret.into(), "s3cret".into())).collect(),
                ..sleeper(directory.path())
            };
            let (_, ended) = spawn.start().unwrap();
            let exit = ended.await;
            let said = fs::read_to_string(directory.path().join("output")).unwrap();
            assert_eq!(exit.0, "exit status: 0", "{said}");
            assert!(said.contains("1 passed"), "{said}");
            return;
        }
        assert!(std::env::var_os(SECRETS[0]).is_some());
        let check = |said: &str| {
            assert!(said.contains(INNER) && !SECRETS.iter().any(|it| said.contains(it)), "{said}");
        };
        let env = Path::new("/usr/bin/env");
        let output = run_output(env, &[], None).await.unwrap();
        check(&String::from_utf8_lossy(&output.stdout));
        let mut lines = String::new();
        let add = |line: &str| lines = format!("{lines}{line}\n");
        run_lines(env, &[], directory.path(), add).await.unwrap();
        check(&lines);
        let spawn = Spawn { program: env.into(), arguments: vec![], ..sleeper(directory.path()) };
        spawn.start().unwrap().1.await;
        check(&fs::read_to_string(directory.path().join("output")).unwrap());
        let mut piped = crate::Piped::start(env, &[], &directory.path().join("errors")).unwrap();
        let mut lines = String::new();
        while let Some(line) = piped.hear().await.unwrap() {
            lines = format!("{lines}{line}\n");
        }
        check(&lines);
    }

    #[tokio::test]
    async fn one_that_listens_hears_us_and_our_end() {
        let directory = tempfile::tempdir().unwrap();
        let script = "while read line; do echo heard $line; done; echo over; exit 4";
        let spawn = Spawn {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            ..sleeper(directory.path())
        };
        let (process, mut input, ended) = spawn.start_listening(None).unwrap();
        input.say("one\n").await.unwrap();
        assert!(process.is_alive());
        drop(input);
        assert_eq!(ended.await, Exit("exit status: 4".into()));
        let said = fs::read_to_string(directory.path().join("output")).unwrap();
        assert_eq!(said, "heard one\nover\n");
    }

    #[tokio::test]
    async fn lines_of_both_outputs_are_handed_over() {
        let mut lines = Vec::new();
        let script = ["-c", "echo one; echo two >&2; exit 3"];
        let directory = tempfile::tempdir().unwrap();
        let program = Path::new("/bin/sh");
        let status =
            run_lines(program, &script, directory.path(), |line| lines.push(line.to_owned()));
        assert_eq!(status.await.unwrap().code(), Some(3));
        lines.sort();
        assert_eq!(lines, ["one", "two"]);
    }
}
