//! What every instance begins with: one recipient, and alarms that nobody
//! should have to think of.

use crate::Result;
use model::{AlarmSpec, AlarmType, Instance, RecipientOptions, RecipientType, Secret};
use store::{NewRecipient, Work, alarms, recipients};

/// In the transaction that makes the instance. `team` is the e-mail that the
/// account signed up with.
pub async fn set_up(work: &mut Work, instance: &Instance, shared: bool, team: &str) -> Result<()> {
    let recipient = NewRecipient {
        kind: RecipientType::Email,
        value: Secret::new(team),
        name: "Default".into(),
        options: RecipientOptions::default(),
    };
    recipients::insert(work, instance.id, &recipient).await?;
    let of_servers = [
        AlarmSpec::first(AlarmType::Cpu, Some(90), Some(600)),
        AlarmSpec::first(AlarmType::Memory, Some(90), Some(600)),
        AlarmSpec::first(AlarmType::Disk, Some(5), Some(600)),
    ];
    let none_of_them = shared || instance.no_default_alarms;
    let of_servers = of_servers.into_iter().filter(|_| !none_of_them);
    for what in of_servers.chain([AlarmSpec::first(AlarmType::Notice, None, None)]) {
        alarms::insert(work, instance.id, what).await?;
    }
    Ok(())
}
