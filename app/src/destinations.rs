//! Which addresses may be called: asked of who calls them, without knowing how.

use async_trait::async_trait;
use model::Url;

/// Implemented by the composition root from what sends.
#[async_trait]
pub trait Destinations: Send + Sync {
    /// Whether this address may be called. An error says why not, as what is
    /// said of a field.
    async fn may_call(&self, url: &Url) -> Result<(), String>;
}

/// For who saves none, and for tests.
pub struct Anywhere;

#[async_trait]
impl Destinations for Anywhere {
    async fn may_call(&self, _url: &Url) -> Result<(), String> {
        Ok(())
    }
}
