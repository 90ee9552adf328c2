//! Kafka users of a cluster: by password, whom Kafka holds, and by certificate,
//! who are written down here.

mod create;
mod delete;
mod hold;

pub use create::{NewUser, NewUserAsked, create};
pub use delete::delete;
pub(crate) use hold::{hold, let_go};

use crate::access::{self, on_servers_of_its_own};
use crate::resources::Cluster;
use crate::{App, InstanceAccess, Problems, Result, audit};
use model::{InstanceId, UserName};
use store::{instances, ssl_users};

/// How a user proves who it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum UserType {
    Sasl,
    Ssl,
}

impl UserType {
    pub fn as_str(self) -> &'static str {
        match self {
            UserType::Sasl => "sasl",
            UserType::Ssl => "ssl",
        }
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct User {
    pub name: String,
    pub kind: UserType,
}

/// The name of somebody whom a customer lets in or gives rights; what is wrong is noted.
pub(crate) fn chosen_name(
    problems: &mut Problems,
    field: &str,
    given: Option<String>,
) -> Option<UserName> {
    let given = problems.required(field, given)?;
    let name = problems.take(field, UserName::parse(given))?;
    if name.is_reserved() {
        problems.add(field, "is reserved; choose another one");
    }
    if !name.fits_a_path() {
        problems.add(field, "must not be . or .., which no path can name; choose another one");
    }
    Some(name)
}

/// Whether a user of that name has a password. Any server that knows of one is believed:
/// another that was just restarted denies it until it has read what it missed.
pub(crate) async fn has_password(cluster: &Cluster<'_>, name: &UserName) -> Result<bool> {
    let name = name.as_str();
    let known = cluster.ask_each(|admin, alone| async move {
        Ok(!admin.describe_scram_user(&alone, name).await?.is_empty())
    });
    Ok(known.await?.contains(&true))
}

/// Everybody whom a customer may know of, by name.
async fn everybody(cluster: &Cluster<'_>, app: &App, id: InstanceId) -> Result<Vec<User>> {
    let passwords = cluster.ask(|admin, at| admin.users().list_scram_users(at)).await?;
    let certificates = ssl_users::list(&mut app.store().reader(), id).await?;
    let of = |kind| move |name| User { name, kind };
    let mut users: Vec<User> = passwords.into_iter().map(of(UserType::Sasl)).collect();
    users.extend(certificates.into_iter().map(of(UserType::Ssl)));
    users.retain(|user| !model::is_reserved(&user.name));
    users.sort();
    Ok(users)
}

/// By name; the default user is one of them.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<User>> {
    let cluster = Cluster::of_its_own(access, app).await?;
    everybody(&cluster, app, access.instance.id).await
}

/// Sets another password for the default user. The engine writes it into Kafka within
/// moments, or once enough controllers run; until then the old one is good.
pub async fn rotate_password(access: &InstanceAccess, app: &App) -> Result<()> {
    access.may_change()?;
    let mut work = app.store().begin().await?;
    let instance = access.still_there(&mut work).await?;
    on_servers_of_its_own(app, &instance)?;
    access::ready(&instance)?;
    instances::set_password(&mut work, instance.id, &app.entropy().password()).await?;
    instances::wake(&mut work, instance.id, app.now()).await?;
    let asker = access.asker(&mut work).await?;
    let extras = [("id", instance.id.to_string()), ("name", instance.name.to_string())];
    audit::write(&mut work, &asker, app.now(), "instance.rotate_password", &extras).await?;
    work.commit().await.map_err(Into::into)
}
