//! Batch after batch over a connection that is kept, for systems that take lines and say
//! nothing.
//!
//! Nobody confirms a line, so what is known is what the kernel knows: bytes that the other side
//! has not acknowledged are in its buffer, which is small, and a connection where they stay
//! there for long breaks. What may still be there is kept here as well and sent again over the
//! next connection. So a line may come twice after a connection broke, and is lost only with
//! the receiver that took it, or if this process ends right before the connection does.

use crate::about::Timed;
use crate::batch::{Dialect, cut};
use crate::drive::PATIENCE;
use crate::outcome::{Outcome, Trouble};
use egress::{Caller, Connection, Fault, Place, UNACKNOWLEDGED, UNACKNOWLEDGED_FOR};
use model::Timestamp;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};
use tokio::time::{Instant, timeout};

/// Of a batch; some of them are in doubt at a time.
pub const BATCH: usize = 64 << 10;
/// After a batch was written: a connection that is refused for a reason of TLS, or whose other
/// side has gone, says so only then.
const AFTERTHOUGHT: Duration = Duration::from_millis(50);
/// If the other side closes the connection in good order, what was on its way then is in doubt,
/// and nothing that was written before.
const ON_ITS_WAY: Duration = Duration::from_secs(2);

/// A connection, and what may not have arrived.
#[derive(Default)]
pub struct Link {
    connection: Option<Connection>,
    doubtful: VecDeque<Written>,
}

struct Written {
    at: Instant,
    body: Vec<u8>,
}

enum End {
    /// The other side closed it in good order.
    Closed,
    Broken(io::Error),
}

impl Link {
    /// Sends all of them, or as many as it can.
    pub async fn send<T: Timed>(
        &mut self,
        caller: &Caller,
        place: &Place,
        dialect: &impl Dialect<T>,
        items: &[T],
        now: Timestamp,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        // A call that is given up half-way has done nothing, so that all of it comes again.
        let mut fresh = VecDeque::new();
        while outcome.done < items.len() {
            let batch = cut(dialect, &items[outcome.done..], usize::MAX, now);
            let (taken, never) = (batch.taken, batch.never());
            let is_last = outcome.done + taken == items.len();
            let written =
                timeout(PATIENCE, self.write(caller, place, &fresh, &batch.body, is_last));
            let silent = Err(Fault::Silent(PATIENCE.as_secs()));
            if let Err(fault) = written.await.unwrap_or(silent) {
                outcome.trouble = Some(Trouble::of(&place.to_string(), &fault));
                break;
            }
            outcome.done += taken;
            outcome.dropped += never;
            fresh.push_back(Written { at: Instant::now(), body: batch.body });
            forget(&mut fresh);
        }
        self.doubtful.append(&mut fresh);
        forget(&mut self.doubtful);
        outcome
    }

    /// The connection is out of its place until all is written: one that is left in the middle
    /// of a line is of no use.
    async fn write(
        &mut self,
        caller: &Caller,
        place: &Place,
        fresh: &VecDeque<Written>,
        body: &[u8],
        is_last: bool,
    ) -> Result<(), Fault> {
        let mut connection = match self.living(fresh.is_empty()).await {
            Some(connection) => connection,
            None => self.connect(caller, place, fresh).await?,
        };
        write_all(&mut connection, body).await?;
        if is_last && let Some(end) = gone_within(&mut connection, AFTERTHOUGHT).await {
            return Err(end.fault());
        }
        self.connection = Some(connection);
        Ok(())
    }

    /// The connection, if its other side is still there.
    async fn living(&mut self, is_first: bool) -> Option<Connection> {
        let mut connection = self.connection.take()?;
        let Some(end) = gone(&mut connection).await else {
            forget(&mut self.doubtful);
            return Some(connection);
        };
        if matches!(end, End::Closed) && is_first {
            self.doubtful.retain(|written| written.at.elapsed() < ON_ITS_WAY);
        }
        None
    }

    /// A new one, with what may not have arrived over the last.
    async fn connect(
        &mut self,
        caller: &Caller,
        place: &Place,
        fresh: &VecDeque<Written>,
    ) -> Result<Connection, Fault> {
        let mut connection = caller.connect(place).await?;
        for written in self.doubtful.iter_mut() {
            write_all(&mut connection, &written.body).await?;
            written.at = Instant::now();
        }
        for written in fresh {
            write_all(&mut connection, &written.body).await?;
        }
        Ok(connection)
    }
}

/// What the other side has acknowledged by now: everything but so much, and what is recent.
fn forget(written: &mut VecDeque<Written>) {
    let mut bytes: usize = written.iter().map(|it| it.body.len()).sum();
    while let Some(first) = written.front() {
        bytes -= first.body.len();
        if bytes < UNACKNOWLEDGED && first.at.elapsed() <= UNACKNOWLEDGED_FOR {
            break;
        }
        written.pop_front();
    }
}

async fn write_all(connection: &mut Connection, body: &[u8]) -> Result<(), Fault> {
    let written = async {
        connection.write_all(body).await?;
        connection.flush().await
    };
    written.await.map_err(|error| Fault::of_talking(&error))
}

/// How the connection ended, if it has. What the other side says is of no interest.
async fn gone(connection: &mut Connection) -> Option<End> {
    let mut space = [0; 1024];
    poll_fn(|context| {
        loop {
            let mut space = ReadBuf::new(&mut space);
            match Pin::new(&mut *connection).poll_read(context, &mut space) {
                Poll::Pending => return Poll::Ready(None),
                Poll::Ready(Ok(())) if space.filled().is_empty() => {
                    return Poll::Ready(Some(End::Closed));
                }
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Some(End::of(error))),
            }
        }
    })
    .await
}

async fn gone_within(connection: &mut Connection, patience: Duration) -> Option<End> {
    let mut space = [0; 1024];
    let ended = async {
        loop {
            match connection.read(&mut space).await {
                Ok(0) => return End::Closed,
                Ok(_) => {}
                Err(error) => return End::of(error),
            }
        }
    };
    timeout(patience, ended).await.ok()
}

impl End {
    /// Many close without the farewell that TLS has for it.
    fn of(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Closed,
            _ => Self::Broken(error),
        }
    }

    fn fault(&self) -> Fault {
        match self {
            Self::Closed => Fault::BrokeOff,
            Self::Broken(error) => Fault::of_talking(error),
        }
    }
}
