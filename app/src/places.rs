//! What use cases ask of the cloud of a region: whether it has room, and where servers may be.

use crate::Error;
use async_trait::async_trait;
pub use cloud::{Addresses, Clouds, Neighbourhood, NoPlace, Place, Places};
use model::Plan;
use std::sync::Arc;

/// What a customer is answered where a region can't take an instance. The reason tells of
/// the host and of other customers, so it is for the operator's log alone.
const NO_ROOM: &str = "This region has no room for that plan now; choose a smaller plan or disk, \
                       delete an instance, or ask the operator";

/// Why a new instance can't be promised.
#[derive(Debug, thiserror::Error)]
pub enum NoRoom {
    /// A sentence for the operator, with the numbers.
    #[error("{0}")]
    Refused(String),
    /// Nobody knows whether there is room.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<NoRoom> for Error {
    fn from(why: NoRoom) -> Self {
        match why {
            NoRoom::Refused(reason) => {
                tracing::warn!(reason, "a region has no room for what was asked");
                Error::Refused(NO_ROOM.into())
            }
            NoRoom::Store(error) => error.into(),
        }
    }
}

impl From<NoPlace> for Error {
    fn from(NoPlace(reason): NoPlace) -> Self {
        NoRoom::Refused(reason).into()
    }
}

/// Whether a cloud can hold what is ordered.
#[async_trait]
pub trait Room: Send + Sync {
    /// Fails unless there is room for all servers of the `plan`, each with a disk of
    /// so many gigabytes.
    async fn check(&self, plan: &Plan, disk_gb: u32) -> Result<(), NoRoom>;

    /// Fails unless there is room for what an instance is to become, instead of what it is.
    async fn check_growth(&self, growth: &Growth<'_>) -> Result<(), NoRoom>;
}

/// An instance as it is and as it is to become.
#[derive(Clone, Copy, Debug)]
pub struct Growth<'a> {
    /// None: the plan that it has is no longer in the catalogue.
    pub from: Option<&'a Plan>,
    pub servers_before: u32,
    /// Gigabytes of each server.
    pub disk_before: u32,
    pub plan: &'a Plan,
    pub disk_gb: u32,
}

/// A cloud as use cases know it: they ask, and never make anything there.
#[derive(Clone)]
pub struct RegionCloud {
    pub places: Arc<dyn Places>,
    /// None: whether there is room is not asked.
    pub room: Option<Arc<dyn Room>>,
}
