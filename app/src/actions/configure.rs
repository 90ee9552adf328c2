//! Other settings of all brokers, some of which need each of them restarted.

use super::launches;
use super::open::replaced_by;
use super::record::{Asking, record, write_line};
use super::scene::Scene;
use crate::{App, InstanceAccess, Result};
use model::ActionKind;
use std::collections::BTreeMap;
use store::{Work, instances, servers};

type Values = BTreeMap<String, String>;

/// Writes down what differs from what was chosen before; the engine follows.
/// `at_start` are those of them that brokers read when they start.
pub(crate) async fn configure(
    access: &InstanceAccess,
    app: &App,
    chosen: &Values,
    at_start: &Values,
) -> Result<()> {
    let mut work = app.store().begin().await?;
    let scene = Scene::load(access, app, &mut work).await?;
    scene.ready()?;
    let before = &scene.instance.settings;
    let is_new = |(name, value): &(&String, &String)| before.get(*name) != Some(value);
    let new: Vec<String> =
        chosen.iter().filter(is_new).map(|(name, value)| format!("{name}={value}")).collect();
    if new.is_empty() {
        return Ok(());
    }
    let mut settings = before.clone();
    settings.extend(chosen.clone());
    let id = scene.instance.id;
    instances::set_settings(&mut work, id, &settings).await?;
    let about = ("settings", new.join(", "));
    if at_start.iter().any(|setting| is_new(&setting)) {
        let kind = ActionKind::Configure;
        let replaced = replaced_by(access, &mut work, &scene.instance, kind, &[]).await?;
        start_anew(&mut work, &scene).await?;
        let generation = instances::raise(&mut work, id, app.now()).await?;
        let asking = Asking { kind, event: "config.update", servers: &[], generation, replaced };
        record(&mut work, access, app, &scene.instance, asking, Some(about)).await?;
    } else {
        instances::wake(&mut work, id, app.now()).await?;
        let asker = access.asker(&mut work).await?;
        write_line(&mut work, &asker, app, &scene.instance, "config.update", Some(about)).await?;
    }
    work.commit().await.map_err(Into::into)
}

/// Every broker that runs, with a new configuration; the others start with it.
pub(super) async fn start_anew(work: &mut Work, scene: &Scene) -> Result<()> {
    servers::forget_brokers(work, scene.instance.id).await?;
    for record in servers::list(work, scene.instance.id).await? {
        if !record.server.wanted.is_stopped() {
            launches::raise(work, &record).await?;
        }
    }
    Ok(())
}
