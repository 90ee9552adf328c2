//! The words of the product: ids, plans, instances, servers, disks, roles,
//! invoices, and the legal moves between their states.
//!
//! This crate never does I/O and knows no other crate of ours. Time and
//! randomness come in through [`Clock`] and [`Entropy`]; only a debug build lets
//! a test step the clock by a file.

mod account;
mod action;
pub mod agent;
mod alarm;
mod catalogue;
mod certificate;
mod certificate_life;
mod clock;
pub mod condition;
mod disk;
mod disk_guard;
mod email;
mod entropy;
mod expiring;
mod history;
mod id;
mod incident;
mod instance;
mod integration;
mod invoice;
mod kafka_version;
mod log_event;
mod mail;
mod money;
mod month;
mod name;
mod notification;
mod plan;
mod principal;
mod recipient;
mod region;
mod resize;
mod secret;
mod series;
mod server;
mod session;
#[cfg(debug_assertions)]
mod stepped;
mod subnet;
mod topic_name;
mod words;

pub use account::{Account, ApiKey, Invitation, Role, User};
pub use action::{Action, ActionKind, ActionState, ActionStep, UnknownAction};
pub use alarm::{Alarm, AlarmSpec, AlarmType, Measure};
pub use catalogue::{Catalogue, CatalogueError, Supported};
pub use certificate::{Certificate, NoSerial, Serial};
pub use certificate_life::{CertificateLife, NoCertificateLife};
pub use clock::{Clock, ManualClock, SystemClock};
pub use condition::{Condition, ConditionKind, Reason};
pub use disk::{DISK_GB, Disk, DiskState};
pub use disk_guard::{DiskGuard, DiskLevel, SLOW_BYTES_PER_SECOND, SlowedQuota};
pub use email::{Email, NoEmail, email_key, mailbox_key};
pub use entropy::{Entropy, OsEntropy, SeededEntropy, kafka_uuid};
pub use expiring::Expiring;
pub use history::{HistoryChange, HistoryEntry};
pub use id::{
    AccountId, ActionId, AlarmId, DiskId, HostId, IncidentId, InstanceId, IntegrationId,
    InvitationId, InvoiceId, KeyId, LoginTokenId, MessageId, RecipientId, ServerId, SessionId,
    UserId, VpcId,
};
pub use incident::Incident;
pub use instance::{Instance, InstanceProgress, Vpc};
pub use integration::{
    BadConfig, Field, Integration, IntegrationConfig, IntegrationKind, IntegrationSystem,
    MOST_INTEGRATIONS, parse_endpoint, split_headers, split_host_port,
};
pub use invoice::{Bill, Customer, Invoice, InvoiceLine, Seller};
pub use kafka_version::KafkaVersion;
pub use log_event::{LogEvent, LogLevel, LogSource};
pub use mail::{Mail, MailStanding, MessageLimits};
pub use money::{CURRENCY, Cents};
pub use month::{BadMonth, Month};
pub use name::{AccountName, InstanceName, KeyComment, NameError, PersonName, Tags};
pub use notification::{Maintenance, Notification, NotificationState, QueuedNotification};
pub use plan::{DiskOffer, Family, Plan, PlanName};
pub use principal::{NoUserName, UserName, is_reserved};
pub use recipient::{
    LastStatus, Recipient, RecipientAddress, RecipientOptions, RecipientType, Responder,
};
pub use region::{Region, RegionName};
pub use resize::{AgreedPrice, MoveProgress, Resize, ResizeMemory};
pub use secret::Secret;
pub use series::{GroupSeries, SAMPLE_SECONDS, Series, TopicSeries, UnknownSeries, until_sample};
pub use server::{Listener, Listeners, Membership, Server, ServerRole, ServerState, Wanted};
pub use session::{LoginPurpose, LoginToken, Session};
pub use subnet::{Subnet, SubnetError};
pub use topic_name::{NoTopicName, TopicName};
pub use words::UnknownWord;

pub use jiff::{SignedDuration, Timestamp};
pub use url::Url;
