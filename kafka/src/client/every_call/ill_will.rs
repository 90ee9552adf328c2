//! Answers that are cut off, damaged, made up or never come: each ends the call.

use super::answers::good;
use super::calls::{Run, all};
use super::connect;
use crate::client::Error;
use crate::client::fake::{Asked, Reply};
use model::{Entropy, SeededEntropy};
use std::time::Duration;
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_millis(50);
/// So many answers of one call are made worse, each on its own.
const ANSWERS: usize = 6;

type Running = Vec<(String, JoinHandle<Result<(), Error>>)>;

/// Waits until all have ended, which is all they must.
async fn end(name: &str, running: Running) {
    for (which, running) in running {
        let ended = tokio::time::timeout(Duration::from_mins(1), running).await;
        let ended = ended.unwrap_or_else(|_| panic!("{name} hangs on {which}"));
        assert!(ended.is_ok(), "{name} panics on {which}");
    }
}

fn framed(body: &[u8]) -> Reply {
    Reply::Frame([&i32::try_from(body.len()).unwrap().to_be_bytes(), body].concat())
}

/// The body of a good answer, with the request's number at its front.
fn body(asked: &Asked) -> Vec<u8> {
    let Reply::Frame(frame) = good(asked) else { panic!("a good broker answers") };
    frame[4..].to_vec()
}

/// How long each of a call's first answers is.
async fn lengths(run: &Run) -> Vec<usize> {
    let (noting, mut noted) = tokio::sync::mpsc::unbounded_channel();
    let connection = connect(PATIENCE, move |asked| {
        // Whoever counted may have gone by the last one.
        let _ = noting.send(body(asked).len());
        good(asked)
    });
    let _ = run(connection.await).await;
    let mut lengths = Vec::new();
    while let Ok(length) = noted.try_recv() {
        lengths.push(length);
    }
    lengths.truncate(ANSWERS);
    lengths
}

/// Runs a call once for each byte of each of its answers, with that one made worse.
async fn made_worse(
    name: &str,
    run: &Run,
    worse: impl Fn(&mut Vec<u8>, usize) + Copy + Send + 'static,
) {
    for (which, length) in lengths(run).await.into_iter().enumerate() {
        let mut running = Running::new();
        for at in 0..length {
            let mut asks = 0;
            let connection = connect(PATIENCE, move |asked| {
                asks += 1;
                if asks != which + 1 {
                    return good(asked);
                }
                let mut body = body(asked);
                worse(&mut body, at);
                framed(&body)
            });
            running
                .push((format!("answer {which}, byte {at}"), tokio::spawn(run(connection.await))));
        }
        end(name, running).await;
    }
}

#[tokio::test]
async fn every_byte_of_every_answer_may_be_wrong() {
    for (name, run) in all() {
        for wrong in [0x01, 0x80, 0xff] {
            made_worse(name, &run, move |body, at| {
                if let Some(byte) = body.get_mut(at) {
                    *byte ^= wrong;
                }
            })
            .await;
        }
    }
}

/// It ends too early, but says that it is whole.
#[tokio::test]
async fn every_answer_may_be_cut_off_anywhere() {
    for (name, run) in all() {
        made_worse(name, &run, Vec::truncate).await;
    }
}

#[tokio::test]
async fn answers_that_announce_too_much_are_not_read() {
    for (name, run) in all() {
        for size in [i32::MAX, (1 << 20) + 1, -1, i32::MIN] {
            let connection = connect(PATIENCE, move |_| Reply::Frame(size.to_be_bytes().to_vec()));
            let error = run(connection.await).await.unwrap_err();
            assert!(matches!(error, Error::Oversize { .. }), "{name}, {size} bytes: {error}");
        }
    }
}

/// What brokers of ill will, or a wire that is cut, may send.
fn bad(asked: &Asked, number: usize, dice: &SeededEntropy) -> Reply {
    let roll = |sides: usize| {
        let mut bytes = [0; 4];
        dice.fill(&mut bytes);
        u32::from_le_bytes(bytes) as usize % sides
    };
    let mut body = body(asked);
    match number % 4 {
        0 => Reply::Silence,
        1 => Reply::HangUp,
        // Several lengths, counts and codes at once are anything.
        2 => {
            for _ in 0..=roll(4) {
                let at = 4 + roll(body.len().saturating_sub(4).max(1));
                if let Some(byte) = body.get_mut(at) {
                    *byte = u8::try_from(roll(256)).unwrap();
                }
            }
            framed(&body)
        }
        // The answer to this very request, but nothing else is right.
        _ => {
            body.resize(4 + roll(200), 0);
            dice.fill(&mut body[4..]);
            framed(&body)
        }
    }
}

#[tokio::test]
async fn no_answer_makes_a_call_panic_or_hang() {
    for (name, run) in all() {
        let mut running = Running::new();
        for number in 0..160 {
            let dice = SeededEntropy::new(u64::try_from(number).unwrap());
            let mut asks = 0;
            let connection = connect(PATIENCE, move |asked| {
                asks += 1;
                // The first few may be fine, so that later ones are reached too.
                if asks <= number / 40 { good(asked) } else { bad(asked, number, &dice) }
            });
            running.push((format!("answer {number}"), tokio::spawn(run(connection.await))));
        }
        end(name, running).await;
    }
}
