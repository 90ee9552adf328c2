//! What can go wrong while samples are taken or alarms are judged.

pub type Result<T> = std::result::Result<T, Error>;

/// One variant for each thing that callers treat differently.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A cluster could not be asked about its consumer groups.
    #[error(transparent)]
    Reach(#[from] reach::Error),
}
