//! Prices of histories from before histories were kept.

use crate::{App, Result};
use model::{Catalogue, Cents};
use store::history;

/// Gives entries without a price the catalogue's. Done before anything is
/// billed; does nothing the second time.
pub async fn settle_prices(app: &App) -> Result<()> {
    if history::unpriced(&mut app.store().reader()).await?.is_empty() {
        return Ok(());
    }
    let mut work = app.store().begin().await?;
    for plan in history::unpriced(&mut work).await? {
        let built_in = Catalogue::built_in();
        let offered = app.catalogue.plan(&plan.0).or_else(|| built_in.plan(&plan.0));
        if offered.is_none() {
            tracing::error!(%plan, "no catalogue knows its price; instances on it are billed 0");
        }
        let price = offered.map_or(Cents(0), |plan| plan.price_cents(None));
        history::set_missing_price(&mut work, &plan, price).await?;
    }
    Ok(work.commit().await?)
}
