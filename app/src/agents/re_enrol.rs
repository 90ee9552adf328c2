//! A new identity for the agent of one server, by the operator's word.

use crate::{App, Error, Operator, Result, audit};
use model::{InstanceId, Server};
use store::{instances, servers};

/// Revokes the certificate of a server's agent at once, whoever holds a copy of its key.
/// The engine hands a new token to the server's directory, by which its agent comes back;
/// the broker goes on. `server` is a name or a number.
pub async fn re_enrol(
    operator: Operator,
    app: &App,
    instance: InstanceId,
    server: &str,
) -> Result<Server> {
    let now = app.now();
    let mut work = app.store().begin().await?;
    let found = instances::find(&mut work, instance).await?;
    let Some(found) = found.filter(|it| it.deleted_at.is_none()) else {
        return Err(Error::Refused(format!("There is no instance {instance}")));
    };
    let all = servers::list_bare(&mut work, instance).await?;
    let is_meant = |it: &&Server| it.name == server || server.parse() == Ok(it.number);
    let Some(meant) = all.iter().find(is_meant) else {
        let names = all.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ");
        let sentence = format!("Instance {instance} has no server {server}; there are {names}");
        return Err(Error::Refused(sentence));
    };
    servers::raise_incarnation(&mut work, meant.id, now).await?;
    instances::wake(&mut work, instance, now).await?;
    let about = [("id", instance.to_string()), ("server", meant.name.clone())];
    let actor = operator.acting_on(found.account_id);
    audit::write(&mut work, actor, now, "server.re-enrol", &about).await?;
    work.commit().await?;
    Ok(meant.clone())
}
