//! Identifiers. Numbers and UUIDs never travel bare, so that a server's id
//! can't be taken for an instance's.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = <$inner as FromStr>::Err;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

id!(
    /// One customer of the installation; owns users and instances.
    AccountId(Uuid)
);
id!(
    /// A person (or a machine) in an account's team.
    UserId(Uuid)
);
id!(
    /// A customer key's row; not the key itself.
    KeyId(Uuid)
);
id!(
    /// Somebody's being signed in to the console; not what their browser shows.
    SessionId(Uuid)
);
id!(
    /// A text that is good once for signing in; not the text itself.
    LoginTokenId(Uuid)
);
id!(
    /// A pending invitation to a team; not its token.
    InvitationId(Uuid)
);
id!(
    /// A message that waits to be sent. Never reused.
    MessageId(i64)
);
id!(
    /// A cluster. Never reused, also after deletion.
    InstanceId(i64)
);
id!(
    /// A private network of an account.
    VpcId(i64)
);
id!(
    /// One server of one instance. Never reused.
    ServerId(i64)
);
id!(
    /// Something that was asked of an instance. Never reused.
    ActionId(i64)
);
id!(
    /// An alarm, counted from 1 in its instance. Never reused there.
    AlarmId(i64)
);
id!(
    /// Something that an alarm has seen. Never reused.
    IncidentId(i64)
);
id!(
    /// Somebody to tell, counted from 1 in the instance. Never reused there.
    RecipientId(i64)
);
id!(
    /// A destination of logs or metrics, counted from 1 in the instance. Never reused there.
    IntegrationId(i64)
);
id!(
    /// A disk. The same id stands in the marker file on the disk itself.
    DiskId(Uuid)
);
id!(
    /// A machine of the local cloud's pool.
    HostId(Uuid)
);
id!(
    /// An invoice; not the number printed on it. Never reused.
    InvoiceId(i64)
);
