//! `PUT /api/instances/<ID>/disk`.

use super::actions::dry_run;
use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::Changing;
use crate::body::{Body, Fields, Query};
use app::instances::{self, DiskChange};
use app::{Error, Right};
use axum::Json;
use wire::customer::{Message, ResizeDisk};

const BEGUN: &str = "Disk resize started.";
const ALREADY: &str = "The disks have that size already";

pub async fn handle(Changing(access, app): Changing, query: Query, body: Body) -> Answer<Message> {
    if query.ask(dry_run).checked()?.0 {
        let instead = "is not for this call; PUT the instance with disk_size and ?dry_run=true";
        return Err(Error::field("dry_run", instead).into());
    }
    let action = instances::resize_disk(&access, &app, body.ask(change)).await?;
    let message = if action.is_some() { BEGUN } else { ALREADY };
    Ok(Json(Message { message: message.into() }))
}

fn change(fields: &mut Fields) -> DiskChange {
    DiskChange {
        extra_disk_size: fields.integer("extra_disk_size"),
        allow_downtime: fields.flag("allow_downtime"),
    }
}

pub fn about() -> About {
    About::new("Give every server a larger disk, while its broker runs on")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &ResizeDisk { extra_disk_size: 25 })
        .refuses("Not available on shared plans")
        .json("Accepted; `nodes` tells when they have it", &Message { message: BEGUN.into() })
}

const FIELDS: [Input; 2] = [
    Input::integer("extra_disk_size", "Gigabytes of each server on top of the plan's")
        .required()
        .at_least(0),
    Input::flag("allow_downtime", "Taken from clients that send it; no server stops for this"),
];
