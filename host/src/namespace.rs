//! Work in a network namespace: a thread of its own enters it, and what it starts stays there.
//! The caller's thread never leaves its own.

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread;

/// Does it in the namespace of that file, or where we are if none is given.
pub fn within<T: Send>(
    namespace: Option<&Path>,
    work: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let Some(namespace) = namespace else { return work() };
    thread::scope(|threads| {
        let done = threads.spawn(|| {
            enter(namespace)?;
            work()
        });
        done.join().unwrap_or_else(|_| Err(io::Error::other("work in a namespace failed")))
    })
}

/// Moves the calling thread, which must end soon: threads that it starts are there as well.
pub(crate) fn enter(namespace: &Path) -> io::Result<()> {
    let file = File::open(namespace)?;
    Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// Runs a short-lived program in a namespace to its end, with that text as its input.
pub fn run_within(
    namespace: Option<&Path>,
    program: &str,
    arguments: &[&str],
    input: &str,
) -> io::Result<Output> {
    within(namespace, || {
        #[expect(clippy::disallowed_methods, reason = "host is the one home of spawning")]
        let mut command = std::process::Command::new(program);
        // Its words are read by us, so they must be those that we know.
        command.env_clear().env("PATH", PROGRAMS).env("LC_ALL", "C").args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipe = child.stdin.take();
        thread::scope(|threads| {
            threads.spawn(move || {
                // One that ends without reading all of it has said why.
                pipe.map(|mut pipe| pipe.write_all(input.as_bytes()))
            });
            child.wait_with_output()
        })
    })
}

/// Where administrators' programs are, also where a service's path leaves them out.
const PROGRAMS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_hears_and_is_heard() {
        let long = "a line\n".repeat(50_000);
        let output = run_within(None, "cat", &[], &long).unwrap();
        assert!(output.status.success() && output.stdout == long.as_bytes());
        // One that does not listen is no failure.
        let output = run_within(None, "sh", &["-c", "echo no >&2; exit 3"], &long).unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(3), &b"no\n"[..]));
    }

    #[test]
    fn a_namespace_that_is_none_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(within(Some(file.path()), || Ok(())).is_err());
        assert!(within(Some(Path::new("/nowhere")), || Ok(())).is_err());
    }
}
