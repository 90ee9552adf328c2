//! At each hop of each way one broker, or each from then on, sends what is cut off,
//! damaged, made up, of another request, an error or nothing at all.

use super::brokers::{Fake, Hop, LONG};
use super::good::{good, with_code};
use super::ways::{self, ALL, Way};
use super::{Running, end, run};
use crate::client::fake::{Asked, Reply};
use kafka_protocol::messages::ApiKey;
use model::{Entropy, SeededEntropy};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// For what is answered at once, whatever the answer is.
const PATIENCE: Duration = Duration::from_secs(2);
/// For what is never answered.
const SHORT: Duration = Duration::from_millis(100);
/// Every how many bytes one is hit, another one at each hop; `every_call` hits all.
const STEP: usize = 5;
const LENGTH: usize = 4;
/// Where the number of the request ends, and what is about the answer itself begins.
const HEAD: usize = 8;

/// The frame of a good answer.
pub fn frame(hop: &Hop, asked: &Asked) -> Vec<u8> {
    let Reply::Frame(frame) = good(hop.broker, asked) else { panic!("a good broker answers") };
    frame
}

fn framed(body: &[u8]) -> Reply {
    Reply::Frame([&i32::try_from(body.len()).unwrap().to_be_bytes(), body].concat())
}

/// How long the frame of each hop is while all is well.
async fn lengths(way: Way) -> Vec<usize> {
    let lengths: Arc<Mutex<Vec<usize>>> = Arc::default();
    let noted = Arc::clone(&lengths);
    let fake = Fake::known(LONG, move |hop, asked| {
        let frame = frame(hop, asked);
        noted.lock().unwrap().push(frame.len());
        Reply::Frame(frame)
    });
    way(&fake.await).await.unwrap();
    lengths.lock().unwrap().clone()
}

/// Goes each way again and again, with another byte of another answer made worse.
async fn made_worse(worse: fn(&mut Vec<u8>, usize)) {
    for (name, way) in ALL {
        for (number, length) in lengths(*way).await.into_iter().enumerate() {
            let mut running = Running::new();
            for at in (number % STEP..length - LENGTH).step_by(STEP) {
                let fake = Fake::known(PATIENCE, move |hop, asked| {
                    let mut body = frame(hop, asked).split_off(LENGTH);
                    if hop.number == number {
                        worse(&mut body, at);
                    }
                    framed(&body)
                });
                let running_now = tokio::spawn(run(*way, fake.await));
                running.push((format!("hop {number}, byte {at}"), running_now));
            }
            end(name, running).await;
        }
    }
}

#[tokio::test]
async fn an_answer_may_be_wrong_at_every_hop() {
    made_worse(|body, at| {
        if let Some(byte) = body.get_mut(at) {
            *byte ^= [0x01, 0x80, 0xff][at % 3];
        }
    })
    .await;
}

/// It ends too early, but says that it is whole.
#[tokio::test]
async fn an_answer_may_be_cut_off_at_every_hop() {
    made_worse(Vec::truncate).await;
}

const FAULTS: usize = 16;

/// What brokers of ill will, or a wire that is cut, may send for this frame.
pub fn fault(number: usize, mut frame: Vec<u8>, dice: &SeededEntropy) -> Reply {
    let announced = |size: i32| Reply::Frame(size.to_be_bytes().to_vec());
    let half = frame.len() / 2;
    match number {
        0 => Reply::Silence,
        1 => Reply::HangUp,
        2 => Reply::Frame(frame[..half].to_vec()),
        3 => Reply::Torn(frame[..half].to_vec()),
        4 => Reply::Torn(frame[..2].to_vec()),
        5 => announced(i32::MAX),
        6 => announced((1 << 20) + 1),
        7 => announced(-1),
        8 => announced(0),
        // It announces one byte more than ever comes.
        9 => {
            frame[LENGTH - 1] = frame[LENGTH - 1].wrapping_add(1);
            Reply::Frame(frame)
        }
        // The answer to another request, to none at all, and two to the same.
        10 => {
            frame[HEAD - 1] = frame[HEAD - 1].wrapping_sub(1);
            Reply::Frame(frame)
        }
        11 => {
            frame[LENGTH..HEAD].copy_from_slice(&i32::MIN.to_be_bytes());
            Reply::Frame(frame)
        }
        12 => Reply::Frame(frame.repeat(2)),
        // As other versions are laid out: one byte less in front, or one more.
        13 => {
            frame.remove(HEAD);
            framed(&frame[LENGTH..])
        }
        14 => {
            frame.insert(HEAD, 0);
            framed(&frame[LENGTH..])
        }
        // The answer to this very request, but nothing else is right.
        _ => {
            dice.fill(&mut frame[HEAD..]);
            Reply::Frame(frame)
        }
    }
}

/// The first `count` hops are well.
async fn faulty(count: usize, kind: usize, from_then_on: bool) -> Fake {
    let seed = u64::try_from(count * FAULTS + kind).unwrap();
    let dice = SeededEntropy::new(seed);
    Fake::known(SHORT, move |hop, asked| {
        let frame = frame(hop, asked);
        let hit = if from_then_on { hop.number >= count } else { hop.number == count };
        if hit { fault(kind, frame, &dice) } else { Reply::Frame(frame) }
    })
    .await
}

#[tokio::test]
async fn a_broker_may_fail_in_every_manner_at_every_hop() {
    for (name, way) in ALL {
        let hops = lengths(*way).await.len();
        let mut running = Running::new();
        for (hop, kind) in (0..hops).flat_map(|hop| (0..FAULTS).map(move |kind| (hop, kind))) {
            // Every other time it is all brokers, and not this one once.
            let from_then_on = (hop + kind).is_multiple_of(2);
            let fake = faulty(hop, kind, from_then_on).await;
            let which = format!("hop {hop}, fault {kind}, from then on: {from_then_on}");
            running.push((which, tokio::spawn(run(*way, fake))));
        }
        end(name, running).await;
    }
}

/// Each call at brokers, on a way that makes it.
const CALLS: &[(ApiKey, Way)] = &[
    (ApiKey::Metadata, ways::find_partitions),
    (ApiKey::ListGroups, ways::list_groups),
    (ApiKey::DescribeGroups, ways::list_groups),
    (ApiKey::ConsumerGroupDescribe, ways::list_groups),
    (ApiKey::OffsetFetch, ways::describe_group),
    (ApiKey::FindCoordinator, ways::delete_group),
    (ApiKey::DeleteGroups, ways::delete_group),
    (ApiKey::ListOffsets, ways::find_offsets),
    (ApiKey::OffsetCommit, ways::reset_group),
    (ApiKey::Fetch, ways::read_newest),
    (ApiKey::Produce, ways::write),
    (ApiKey::DescribeLogDirs, ways::describe_log_dirs),
];

#[tokio::test]
async fn every_code_of_every_call_ends_the_way() {
    for (key, way) in CALLS {
        let mut running = Running::new();
        for code in (-1..=135).chain([9_999, i16::MIN, i16::MAX]) {
            let fake = Fake::known(LONG, move |hop, asked| {
                with_code(hop.broker, asked, if hop.key == *key { code } else { 0 })
            });
            running.push((format!("code {code}"), tokio::spawn(run(*way, fake.await))));
        }
        end(&format!("{key:?}"), running).await;
    }
}
