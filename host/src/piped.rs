//! A program that we talk with while it runs, line by line.
//!
//! It is there for us alone: it sees the end of its input when we end in any
//! way, and it is killed when the handle is dropped. It has a session of its
//! own, so that a Ctrl-C in our terminal is ours to answer.

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};

pub struct Piped {
    /// None once we have nothing more to say.
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    child: Box<dyn ChildWrapper>,
}

impl Piped {
    /// Starts it; what it says on standard error goes to that file.
    pub fn start(program: &Path, arguments: &[String], errors: &Path) -> io::Result<Self> {
        let mut command = crate::process::without_secrets(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(errors)?)
            .kill_on_drop(true);
        let mut child = CommandWrap::from(command).wrap(ProcessSession).spawn()?;
        let input = child.stdin().take();
        let output = child.stdout().take().expect("it is piped");
        Ok(Self { input, output: BufReader::new(output).lines(), child })
    }

    /// Says a line to it.
    pub async fn say(&mut self, line: &str) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(format!("{line}\n").as_bytes()).await?;
        input.flush().await
    }

    /// The next line it says; none once it has nothing more to say. A caller
    /// that stops waiting loses nothing.
    pub async fn hear(&mut self) -> io::Result<Option<String>> {
        self.output.next_line().await
    }

    /// Lets it see the end of its input, and waits for its end.
    pub async fn end(mut self) -> io::Result<ExitStatus> {
        self.input = None;
        self.child.wait().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_environment;

    const ECHO: &str = "while read line; do echo \"heard $line\"; done; exit 4";

    fn shell(script: &str, errors: &Path) -> Piped {
        Piped::start(Path::new("/bin/sh"), &["-c".to_owned(), script.to_owned()], errors).unwrap()
    }

    #[tokio::test]
    async fn lines_go_both_ways_and_the_end_of_input_ends_it() {
        let directory = tempfile::tempdir().unwrap();
        let mut piped = shell(ECHO, &directory.path().join("errors"));
        for word in ["one", "two"] {
            piped.say(word).await.unwrap();
            assert_eq!(piped.hear().await.unwrap(), Some(format!("heard {word}")));
        }
        assert_eq!(piped.end().await.unwrap().code(), Some(4));
    }

    #[tokio::test]
    async fn one_that_is_dropped_ends() {
        let directory = tempfile::tempdir().unwrap();
        let mark = directory.path().to_string_lossy().into_owned();
        let script = format!("export PIPED_TEST_MARK={mark}; echo up; exec sleep 1000");
        let mut piped = shell(&script, &directory.path().join("errors"));
        assert_eq!(piped.hear().await.unwrap().as_deref(), Some("up"));
        let running = loop {
            // The variable shows once the shell has become the program.
            if let [one] = &with_environment("PIPED_TEST_MARK", &mark)[..] {
                break one.clone();
            }
            tokio::task::yield_now().await;
        };
        let watch = running.watch().unwrap();
        drop(piped);
        tokio::time::timeout(std::time::Duration::from_secs(20), watch.ended())
            .await
            .expect("it ends");
    }
}
