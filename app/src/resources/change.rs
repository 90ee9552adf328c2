//! A change of a cluster, with what the audit log says of it.

use crate::{App, Error, InstanceAccess, Result, audit};

/// The most bytes of each line's extras.
const ATTEMPT: usize = 2048;
const OUTCOME: usize = 512;

/// Runs the effect between two lines of the audit log: that it is attempted, and what
/// became of it. Kafka has no part in our transactions, so a line that says
/// `attempted` alone means that the outcome is unknown. `about` says what is changed;
/// the second line may cut it short, because the first one has it.
pub(crate) async fn change<T>(
    access: &InstanceAccess,
    app: &App,
    event: &str,
    about: &[(&str, String)],
    effect: impl Future<Output = Result<T>>,
) -> Result<T> {
    Box::pin(write(access, app, event, about, "attempted".into(), ATTEMPT)).await?;
    let outcome = effect.await;
    let ended = match &outcome {
        Ok(_) => "done".to_owned(),
        Err(Error::Internal(_) | Error::Away(_) | Error::Unknown(_)) => "unknown".to_owned(),
        Err(error @ Error::Partly { .. }) => format!("partly ({error})"),
        Err(error) => format!("refused ({error})"),
    };
    // The change has been made or not: a store that is away now does not turn
    // that round.
    if let Err(error) = Box::pin(write(access, app, event, about, ended, OUTCOME)).await {
        tracing::warn!(%event, %error, "the outcome of a change is not in the audit log");
    }
    outcome
}

async fn write(
    access: &InstanceAccess,
    app: &App,
    event: &str,
    about: &[(&str, String)],
    outcome: String,
    most: usize,
) -> Result<()> {
    let instance = &access.instance;
    let mut work = app.store().begin().await?;
    let asker = access.asker(&mut work).await?;
    let mut extras = vec![("id", instance.id.to_string()), ("name", instance.name.to_string())];
    extras.extend(about.iter().cloned());
    extras.push(("outcome", outcome));
    audit::write_within(&mut work, &asker, app.now(), event, &extras, most).await?;
    work.commit().await.map_err(Into::into)
}
