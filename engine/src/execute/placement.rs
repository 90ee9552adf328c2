//! Reading where all replicas are and who votes, and noting how far they have moved.

use crate::load::Copying;
use crate::pass::{Done, Pass};
use crate::world::{Placed, World, throttle};
use crate::{Engine, PassError};
use model::{MoveProgress, Resize, Server, SignedDuration, Timestamp};
use mover::Progress;
use reach::{Ours, Placement};
use std::sync::Arc;
use std::time::Duration;
use store::resizes;

/// What has moved is noted this often.
const NOTE_AFTER: SignedDuration = SignedDuration::from_secs(5);
/// After a gap this long, as while a cluster is stopped, it is unknown which copies stood still.
const UNSEEN: SignedDuration = SignedDuration::from_mins(1);

impl Engine {
    pub(super) async fn place(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        match self.read_placement(world).await {
            Ok(Some(placed)) => {
                self.note_move(pass, world, &placed).await?;
                Ok(Done::Placed(Arc::new(placed)))
            }
            Ok(None) => Ok(Done::Progress),
            Err(PassError::Reach(reach::Error::Kafka(error))) => {
                Ok(Done::LookFailed(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    /// None: nothing changes any more.
    pub(super) async fn read_placement(&self, world: &World) -> Result<Option<Placed>, PassError> {
        let id = world.instance.id;
        let servers = asked(world);
        let Placement { cluster, view } = self.reach.placement(id, &servers, &ours(world)).await?;
        let through = self.reach.cluster(id, &servers).await?;
        let quorum =
            self.reach.admin().describe_quorum(&through).await.map_err(reach::Error::from)?;
        let present = throttle(&view).unwrap_or_else(|| self.settings.move_throttle.first());
        let rate = self.next_rate(world, present, Copying::read(world, &cluster));
        Ok(Placed::new(world, view, cluster, quorum, rate))
    }

    async fn note_move(
        &self,
        pass: &Pass,
        world: &World,
        placed: &Placed,
    ) -> Result<(), PassError> {
        let Some(resize) = &world.resize else { return Ok(()) };
        let Some(progress) = progress(resize, placed, self.clock.now()) else { return Ok(()) };
        let mut work = self.guarded(pass).await?;
        resizes::set_progress(&mut work, world.instance.id, &progress).await?;
        Ok(work.commit().await?)
    }
}

/// Servers that run come first. Those that leave and don't run are not asked: what Kafka
/// knows of a broker that no row names counts as leaving.
fn asked(world: &World) -> Vec<Server> {
    let may_answer = |server: &Server| {
        let mut views = world.servers.iter();
        !server.is_leaving() || views.any(|view| view.server.id == server.id && view.is_up())
    };
    world.running_first().into_iter().filter(may_answer).collect()
}

fn ours(world: &World) -> Ours {
    let leaving = world.servers.iter().filter(|view| view.server.is_leaving());
    Ours {
        leaving: leaving.map(|view| view.server.node_id).collect(),
        disk_bytes: world.disk_bytes(),
    }
}

/// None: nothing new that is worth a write.
fn progress(resize: &Resize, placed: &Placed, now: Timestamp) -> Option<MoveProgress> {
    let (left, partitions_left) = (placed.plan.bytes_left(), placed.partitions_left());
    let Some(known) = resize.progress else {
        return Some(MoveProgress {
            bytes_done: 0,
            bytes_left: left,
            began_at: now,
            observed_at: now,
            moved_at: Some(now),
            partitions_left,
            bytes_per_second: None,
            ready_at: None,
            fading: [0.0; 3],
        });
    };
    let passed = now.duration_since(known.observed_at);
    if passed < NOTE_AFTER && (left == known.bytes_left || left > 0) {
        return None;
    }
    let done = known.bytes_done + known.bytes_left.saturating_sub(left);
    let is_less = left < known.bytes_left || partitions_left < known.partitions_left;
    let moves_on = is_less || !placed.is_moving() || passed > UNSEEN;
    let passed = Duration::try_from(passed).unwrap_or_default();
    let elapsed = Duration::try_from(known.observed_at.duration_since(known.began_at));
    let before = Progress::resume(
        known.bytes_done,
        known.bytes_left,
        elapsed.unwrap_or_default(),
        known.fading,
    );
    let next = before.observe(passed, done, left);
    let time_left = next.time_left().and_then(|it| SignedDuration::try_from(it).ok());
    Some(MoveProgress {
        bytes_done: done,
        bytes_left: left,
        began_at: known.began_at,
        observed_at: now,
        moved_at: known.moved_at.filter(|_| !moves_on).or(Some(now)),
        partitions_left,
        bytes_per_second: next.rate().map(whole),
        ready_at: time_left.and_then(|left| now.checked_add(left).ok()),
        fading: next.fading(),
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is no less than nothing, and people need no fractions of bytes"
)]
fn whole(rate: f64) -> u64 {
    rate as u64
}
