//! `PUT /api/instances/<ID>`.

use super::actions::{DRY_RUN, dry_run, planned};
use crate::about::{About, Counts, Input};
use crate::answer::Answer;
use crate::auth::CustomerKey;
use crate::body::{Body, Fields, Query};
use crate::path::Id;
use app::Right;
use app::instances::{self, InstanceChanges};
use axum::Json;
use wire::customer::{UpdateInstance, Updated};

const SAVED: &str = "Changes saved";
const BEGUN: &str = "Your cluster is being reconfigured…";
const DRY: &str = "Nothing was changed; this is what would be done";

pub async fn handle(
    CustomerKey(caller, app): CustomerKey,
    Id(id): Id,
    query: Query,
    body: Body,
) -> Answer<Updated> {
    let (asked, dry_run) = (body.ask(changes), query.ask(dry_run));
    Ok(Json(match instances::update(&caller, &app, id, asked, dry_run).await? {
        instances::Updated::Saved => said(SAVED),
        instances::Updated::Begun(_) => said(BEGUN),
        instances::Updated::Planned(preview) => {
            Updated { planned: Some(planned(preview)), ..said(DRY) }
        }
    }))
}

fn said(message: &str) -> Updated {
    Updated { message: message.into(), planned: None }
}

fn changes(fields: &mut Fields) -> InstanceChanges {
    InstanceChanges {
        name: fields.text("name"),
        plan: fields.text("plan"),
        nodes: fields.integer("nodes"),
        tags: fields.list_or_none("tags"),
        disk_size: fields.size("disk_size"),
        kafka_version: fields.text("kafka_version"),
        region: fields.text("region"),
        vpc_id: fields.integer("vpc_id"),
        vpc_subnet: fields.text("vpc_subnet"),
        raise_replication: fields.flag("raise_replication"),
        accept_single_copy: fields.flag("accept_single_copy"),
    }
}

pub fn about() -> About {
    let (name, tags) = (Some("orders".into()), Some(vec!["prod".into()]));
    let asked = UpdateInstance { name, tags, ..UpdateInstance::default() };
    About::new("Change an instance: its name and tags, and its servers while clients go on")
        .needs(Right::ChangeInstances)
        .query(&[DRY_RUN])
        .body(&FIELDS, &asked)
        .at_least_one(&[
            ("name", Counts::Given),
            ("tags", Counts::EvenNull),
            ("plan", Counts::Given),
            ("nodes", Counts::Given),
            ("disk_size", Counts::Given),
        ])
        .refuses(
            "Of 3 servers one would be left, with one copy of everything; if that is meant, \
                  send accept_single_copy: true",
        )
        .json(
            "It is changed, or servers follow: `configured` is false until they have",
            &said(SAVED),
        )
}

/// Those that can change. The others may be sent as they are, because clients do.
const FIELDS: [Input; 7] = [
    Input::plain("name", "1 to 64 characters").at_most(64),
    Input::tags("tags", "Null or an empty list clears them; for admin and devops"),
    Input::text("plan", "A name of /api/plans"),
    Input::integer("nodes", "Wins over the number in the plan's name").at_least(1).at_most(99),
    Input::integer("disk_size", "Gigabytes of each server, never fewer; 0: as before").at_least(0),
    Input::flag(
        "raise_replication",
        "False: topics of one replica keep it when one server becomes several",
    ),
    Input::flag("accept_single_copy", "One server may be left, with one copy of everything"),
];
