//! Batch after batch over a connection that is kept, for systems that take lines and answer
//! nothing.
//!
//! Such a system confirms no line. A batch is done once the host at the other end of the
//! connection, which is a proxy's where there is one, has acknowledged all of its bytes. What
//! that host holds and its program has not read is lost with the program. So the last batch is
//! kept, and sent again unless the connection was closed in good order after it, which says that it
//! was read to its end. A farewell of TLS alone does not say so: the kernel resets a connection
//! with unread bytes after it as well, and lists it no more.

use crate::about::Timed;
use crate::batch::{Dialect, cut};
use crate::budget::Budget;
use crate::outcome::Outcome;
use egress::{Caller, Connection, Fault, Place};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};

/// Of a batch; there is one in a round trip.
pub const BATCH: usize = 128 << 10;
/// After the last batch: a connection that is refused for a reason of TLS, or whose other side
/// has gone, fails only then.
const AFTERTHOUGHT: Duration = Duration::from_millis(50);
/// Before each batch: how long to look whether the connection has ended.
const GREETING: Duration = Duration::from_millis(1);
/// Between two looks at what was acknowledged: the first pause, which doubles, and the longest.
/// A look reads all connections of this machine, and in 5 ms most batches have arrived.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LOOK: Duration = Duration::from_millis(200);
/// For the farewell.
const FAREWELL: Duration = Duration::from_secs(1);

/// A connection, and what was sent over it last.
#[derive(Default)]
pub struct Link {
    connection: Option<Connection>,
    last: Vec<u8>,
}

/// RFC 5425 asks for a farewell: without one, a receiver takes the connection for cut off.
impl Drop for Link {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                // Nobody is left to whom it could be told.
                let _ = timeout(FAREWELL, connection.stream.shutdown()).await;
            });
        }
    }
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
        budget: &Budget,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        while outcome.done < items.len() {
            let batch = cut(dialect, &items[outcome.done..], usize::MAX, budget.now());
            let (taken, never) = (batch.taken, batch.never());
            let is_last = outcome.done + taken == items.len();
            let linger = if is_last { AFTERTHOUGHT } else { Duration::ZERO };
            let written = self.write(caller, place, batch.body, linger);
            if let Err(trouble) = budget.bound(&place.to_string(), written).await {
                outcome.trouble = Some(trouble);
                break;
            }
            outcome.done += taken;
            outcome.dropped += never;
        }
        outcome
    }

    /// Connection and last batch are out of their places until the other side has this one: if
    /// it is given up half-way, the connection is of no use, and a receiver that is slow gets
    /// no more than it has to.
    async fn write(
        &mut self,
        caller: &Caller,
        place: &Place,
        body: Vec<u8>,
        linger: Duration,
    ) -> Result<(), Fault> {
        let (mut connection, is_new) = match self.living().await {
            Some(connection) => (connection, false),
            None => (caller.connect(place).await?, true),
        };
        let last = std::mem::take(&mut self.last);
        let again = if is_new { &*last } else { &[] };
        match deliver(&mut connection, [again, &body], linger).await {
            // What is closed in good order was read.
            Ok(false) => Ok(()),
            Ok(true) => {
                self.connection = Some(connection);
                self.last = body;
                Ok(())
            }
            Err(fault) => {
                self.last = last;
                Err(fault)
            }
        }
    }

    /// The connection, if its other side is still there.
    async fn living(&mut self) -> Option<Connection> {
        let mut connection = self.connection.take()?;
        match gone_within(&mut connection, GREETING).await {
            None => return Some(connection),
            Some(End::Closed) if was_read(&connection).await => self.last.clear(),
            Some(End::Closed | End::Broken(_)) => {}
        }
        None
    }
}

/// Whether a connection whose other side has closed it is still there, and so was not reset
/// after that. Where the kernel doesn't say, it was not read.
async fn was_read(connection: &Connection) -> bool {
    let mut pause = FIRST_LOOK;
    // As for a delivery, one list without it says little.
    loop {
        match connection.unacknowledged().await {
            Ok(Some(left)) => return left == 0,
            Ok(None) if pause < LOOK => sleep(pause).await,
            Ok(None) | Err(_) => return false,
        }
        pause *= 2;
    }
}

/// Writes these and waits until the other side has acknowledged them, and lingers so long at least.
/// False: it has closed the connection, in good order.
async fn deliver(
    connection: &mut Connection,
    bodies: [&[u8]; 2],
    linger: Duration,
) -> Result<bool, Fault> {
    let begun = Instant::now();
    let written = async {
        for body in bodies {
            connection.stream.write_all(body).await?;
        }
        connection.stream.flush().await
    };
    written.await.map_err(|error| Fault::from_transfer_error(&error))?;
    let (mut pause, mut end) = (FIRST_LOOK.max(linger), None);
    loop {
        match end {
            None => end = gone_within(connection, pause).await,
            Some(_) => sleep(pause).await,
        }
        if let Some(End::Broken(error)) = &end {
            return Err(Fault::from_transfer_error(error));
        }
        let left = connection.unacknowledged().await;
        // The kernel's list is read in pieces while it changes, so a connection that is not in
        // it may be in the next one.
        match (left.map_err(|error| Fault::from_transfer_error(&error))?, &end) {
            (Some(0), Some(_)) => return Ok(false),
            (Some(0), None) if begun.elapsed() >= linger => return Ok(true),
            (_, Some(_)) if pause == LOOK => return Err(Fault::BrokeOff),
            _ => pause = (pause * 2).min(LOOK),
        }
    }
}

/// How the connection ended, if it does within this time. What the other side sends is thrown
/// away.
async fn gone_within(connection: &mut Connection, patience: Duration) -> Option<End> {
    let mut space = [0; 1024];
    let ended = async {
        loop {
            match connection.stream.read(&mut space).await {
                Ok(0) => return End::Closed,
                Ok(_) => {}
                Err(error) => return End::from_error(error),
            }
        }
    };
    timeout(patience, ended).await.ok()
}

impl End {
    /// Many close without the farewell that TLS has for it.
    fn from_error(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Closed,
            _ => Self::Broken(error),
        }
    }
}
