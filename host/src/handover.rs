//! Handing a process that listens over to another process of this host.
//!
//! The process that has its input decides what becomes of it, and it sees the end of its
//! input when the last one that has it ends. So the input is what is handed over, through a
//! socket in a directory: the kernel says who asks there.

use crate::Input;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Interest};
use tokio::net::{UnixListener, UnixStream};

const SOCKET: &str = "socket";
/// What a question may have at most, and an answer.
const QUESTION: u64 = 1 << 20;
const ANSWER: usize = 64 << 10;

/// Where processes of this host ask for one.
#[derive(Debug)]
pub struct Handover(UnixListener);

/// A process that asks.
#[derive(Debug)]
pub struct Asker {
    stream: BufReader<UnixStream>,
    pub pid: i32,
    pub uid: u32,
}

impl Handover {
    /// Listens in the directory, which belongs to us alone. Every user may ask who can pass
    /// through it.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let path = directory.join(SOCKET);
        crate::remove_tree(&path)?;
        let (_held, short) = short_path(directory)?;
        let listener = UnixListener::bind(short)?;
        fs::set_permissions(&path, Permissions::from_mode(0o666))?;
        Ok(Self(listener))
    }

    /// The next one. Can be dropped at any point.
    pub async fn asker(&self) -> io::Result<Asker> {
        let (stream, _) = self.0.accept().await?;
        let who = stream.peer_cred()?;
        let pid = who.pid().ok_or(ErrorKind::Unsupported)?;
        Ok(Asker { stream: BufReader::new(stream), pid, uid: who.uid() })
    }
}

impl Asker {
    /// What it asks for: one line.
    pub async fn question(&mut self) -> io::Result<String> {
        let mut line = String::new();
        (&mut self.stream).take(QUESTION).read_line(&mut line).await?;
        Ok(line)
    }

    /// Hands the input over, with some words. Ours is gone in any case.
    pub async fn give(self, words: &str, input: Input) -> io::Result<()> {
        let stream = self.stream.into_inner();
        let send = || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut with = SendAncillaryBuffer::new(&mut space);
            let pipes = [input.pipe()];
            with.push(SendAncillaryMessage::ScmRights(&pipes));
            let words = [IoSlice::new(words.as_bytes())];
            Ok(sendmsg(stream.as_fd(), &words, &mut with, SendFlags::NOSIGNAL)?)
        };
        let length = stream.async_io(Interest::WRITABLE, send).await?;
        if length == words.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
    }
}

/// Asks in that directory with one line, and returns what is handed over, with its words. None
/// if there is nothing for us. Can be dropped at any point.
pub async fn ask(directory: &Path, question: &str) -> io::Result<Option<(String, Input)>> {
    let (_held, short) = short_path(directory)?;
    let mut stream = UnixStream::connect(short).await?;
    stream.write_all(question.as_bytes()).await?;
    stream.write_all(b"\n").await?;
    let (words, pipe) = stream.async_io(Interest::READABLE, || receive(&stream)).await?;
    let Some(pipe) = pipe else { return Ok(None) };
    Ok(Some((words, Input::new(pipe)?)))
}

fn receive(stream: &UnixStream) -> io::Result<(String, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let mut words = vec![0; ANSWER];
    let received = recvmsg(
        stream.as_fd(),
        &mut [IoSliceMut::new(&mut words)],
        &mut with,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    words.truncate(received.bytes);
    let words = String::from_utf8(words).map_err(|_| ErrorKind::InvalidData)?;
    let pipe = with.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut pipes) => pipes.next(),
        _ => None,
    });
    Ok((words, pipe))
}

/// A path of the socket that is short enough for one, whatever the directory's is: good while
/// the descriptor is held.
fn short_path(directory: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let held = openat(CWD, directory, flags, Mode::empty())?;
    let path = Path::new("/proc/self/fd").join(held.as_raw_fd().to_string()).join(SOCKET);
    Ok((held, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProcessId, Spawn};

    #[tokio::test]
    async fn a_process_ends_with_the_last_that_has_its_input() {
        let place = tempfile::tempdir().unwrap();
        // Longer than the address of a socket may be.
        let directory = place.path().join("d".repeat(200));
        fs::create_dir(&directory).unwrap();
        let script = "read word; echo heard $word; cat";
        let spawn = Spawn {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![],
            directory: directory.clone(),
            output: directory.join("output"),
        };
        let handover = Handover::open(&directory).unwrap();
        let (process, input, ended) = spawn.start_listening(None).unwrap();
        let give = async {
            let mut asker = handover.asker().await.unwrap();
            let own = ProcessId::own();
            assert_eq!((asker.pid, Some(asker.uid)), (own.pid, own.uid()));
            assert_eq!(asker.question().await.unwrap(), "one of those\n");
            asker.give("here it is", input).await.unwrap();
            let mut second = handover.asker().await.unwrap();
            second.question().await.unwrap();
        };
        let take = async {
            let (words, input) = ask(&directory, "one of those").await.unwrap().unwrap();
            assert_eq!(words, "here it is");
            assert!(ask(&directory, "another").await.unwrap().is_none());
            input
        };
        let ((), mut input) = tokio::join!(give, take);
        input.say("hello\n").await.unwrap();
        assert!(process.is_alive());
        drop(input);
        ended.await;
        assert_eq!(fs::read_to_string(directory.join("output")).unwrap(), "heard hello\n");
    }

    #[tokio::test]
    async fn without_a_socket_there_is_nothing_to_ask() {
        let place = tempfile::tempdir().unwrap();
        let refused = ask(place.path(), "one").await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
    }
}
