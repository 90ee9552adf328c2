//! What a support bundle tells of an instance: what should be, what was seen,
//! and what its servers say.
//!
//! Rows are written out field by field, so that a new secret column does not
//! slip in by itself.

use super::archive::Piece;
use super::break_glass::BrokenGlass;
use super::logs;
use super::redact::Redactor;
use anyhow::Result;
use kafka::client::{BrokerView, ClusterView, Quorum, Replica};
use model::{Action, ActionStep, Disk, DiskId, Instance, InstanceId, Vpc};
use serde_json::{Value, json};
use store::{AuditLine, FirewallIntent, FirewallProgress, Reader, ServerRecord, Store};
use wire::agent::DesiredBroker;

/// Older ones are seldom about what is wrong today.
const MOST_ACTIONS: u32 = 100;

/// Everything that the store and this host's disks hold of the instance.
pub async fn collect(opened: &BrokenGlass, redactor: &Redactor) -> Result<Vec<Piece>> {
    let mut reader = opened.store.reader();
    let id = opened.instance.id;
    let vpc = store::vpcs::find(&mut reader, opened.instance.vpc_id).await?;
    let disks = store::disks::list(&mut reader, id).await?;
    let audit = store::audit::list(&mut reader, opened.instance.account_id).await?;
    let named = id.0.to_string();
    let audit: Vec<Value> =
        audit.iter().filter(|line| is_about(line, &named)).map(audit_line).collect();

    let document = |path: &str, document: &Value| piece(path, document, redactor);
    let mut pieces = vec![
        document("instance.json", &instance(&opened.instance, vpc.as_ref())),
        document("firewall.json", &firewall(&mut reader, id).await?),
        document("disks.json", &disks.iter().map(disk).collect()),
        document("audit.json", &audit.into()),
        document("actions.json", &actions(&opened.store, id).await?),
    ];
    for record in &opened.servers {
        let disk = disks.iter().find(|disk| disk.server_id == record.server.id);
        pieces.extend(server_pieces(opened, record, disk.map(|disk| disk.id), redactor));
    }
    Ok(pieces)
}

/// The rules as they shall be, and which of them each server has.
async fn firewall(reader: &mut Reader, id: InstanceId) -> Result<Value> {
    let FirewallIntent { firewall, revision } = store::firewalls::find(reader, id).await?;
    let servers = store::firewalls::progress(reader, id).await?;
    let server = |it: &FirewallProgress| json!({"name": it.name, "revision": it.revision, "enforced": it.enforced});
    let servers: Vec<Value> = servers.iter().map(server).collect();
    Ok(json!({"rules": firewall.rules(), "revision": revision, "servers": servers}))
}

/// A document as a file, cleaned.
pub fn piece(path: &str, document: &Value, redactor: &Redactor) -> Piece {
    Piece::new(path, format!("{:#}\n", redactor.json(document)))
}

fn server_pieces(
    opened: &BrokenGlass,
    record: &ServerRecord,
    disk: Option<DiskId>,
    redactor: &Redactor,
) -> Vec<Piece> {
    let at = |name: &str| format!("servers/{}/{name}", record.server.number);
    let mut pieces = vec![piece(&at("server.json"), &server(record), redactor)];
    if let Some(mut desired) = parsed(record.desired.as_deref()) {
        // It stands beside this, as the file that it is.
        desired.as_object_mut().map(|fields| fields.remove("broker"));
        pieces.push(piece(&at("desired.json"), &desired, redactor));
    }
    if let Some(report) = parsed(record.report.as_deref()) {
        pieces.push(piece(&at("report.json"), &report, redactor));
    }
    let rendered = record.broker.as_deref().map(serde_json::from_str::<DesiredBroker>);
    if let Some(Ok(broker)) = rendered {
        let text = |name: &str, text: &str| Piece::new(at(name), redactor.text(text));
        pieces.push(text("server.properties", &broker.properties));
        pieces.push(text(&broker.logging_file, &broker.logging));
        pieces.push(text("jvm-flags", &broker.jvm_flags.join("\n")));
    }
    if record.server.host_id != opened.host_id {
        let elsewhere = format!("They are on host {}.\n", record.server.host_id);
        pieces.push(Piece::new(at("logs/absent"), elsewhere));
        return pieces;
    }
    let directory = opened.logs_dir(record.server.id, disk);
    // The broker's logs, and the agent's beside them.
    for inner in ["logs", ""] {
        match logs::tails(&directory, inner) {
            Ok(logs) => pieces.extend(logs.into_iter().map(|log| {
                Piece::new(at(&format!("logs/{}", log.name)), redactor.text(&log.text))
            })),
            Err(error) => pieces.push(Piece::new(at("logs/absent"), format!("{error}\n"))),
        }
    }
    pieces
}

fn parsed(document: Option<&str>) -> Option<Value> {
    serde_json::from_str(document?).ok()
}

fn is_about(line: &AuditLine, id: &str) -> bool {
    let names_it = |(name, value)| matches!(name, "id" | "instance" | "instance_id") && value == id;
    store::audit::split_extras(&line.extras).into_iter().any(names_it)
}

fn audit_line(line: &AuditLine) -> Value {
    json!({
        "at": line.at, "event": line.event, "source": line.source, "user": line.user,
        "extras": line.extras,
    })
}

/// The journal: what was asked for last, newest first, and how it went.
async fn actions(store: &Store, id: InstanceId) -> Result<Value> {
    let mut reader = store.reader();
    let mut journal = Vec::new();
    for row in store::actions::list(&mut reader, id, MOST_ACTIONS).await? {
        let steps = store::actions::steps(&mut reader, row.id).await?;
        journal.push(action(&row, &steps));
    }
    Ok(journal.into())
}

fn action(row: &Action, steps: &[ActionStep]) -> Value {
    let step = |step: &ActionStep| json!({ "at": step.at, "text": step.text });
    json!({
        "id": row.id, "kind": row.kind.as_str(), "state": row.state().as_str(),
        "servers": row.servers, "asked_by": row.asked_by, "source": row.source,
        "asked_at": row.asked_at, "generation": row.generation,
        "cancelled_at": row.cancelled_at, "ended_at": row.ended_at, "superseded_by": row.superseded_by,
        "steps": steps.iter().map(step).collect::<Value>(),
    })
}

fn instance(row: &Instance, vpc: Option<&Vpc>) -> Value {
    json!({
        "id": row.id, "account_id": row.account_id, "provider_id": row.provider_id,
        "name": row.name.as_str(), "plan": row.plan, "region": row.region, "nodes": row.nodes,
        "kafka_version": row.kafka_version, "disk_size": row.disk_size, "tags": row.tags,
        "vpc_id": row.vpc_id, "subnet": vpc.map(|vpc| vpc.subnet.to_string()), "username": row.username,
        "hostname": row.hostname, "cluster_id": row.cluster_id, "created_at": row.created_at,
        "deleted_at": row.deleted_at, "stopped": row.stopped, "generation": row.generation,
        "ready": row.ready(), "configured": row.configured(),
        "observed_generation": row.progress.observed_generation,
        "network_made": row.progress.network_made,
        "credentials_set": row.progress.credentials_set,
        "anonymous_let_in": row.progress.anonymous_let_in, "ready_at": row.progress.ready_at,
        "status": row.progress.status(), "failures": row.progress.failures,
    })
}

fn server(record: &ServerRecord) -> Value {
    let row = &record.server;
    json!({
        "id": row.id, "number": row.number, "node_id": row.node_id,
        "incarnation": row.incarnation, "roles": row.roles, "name": row.name,
        "kafka_version": row.kafka_version, "host_id": row.host_id, "zone": row.zone,
        "private_ip": row.private_ip, "listeners": row.listeners, "state": row.state.as_str(),
        "enrolled_at": row.enrolled_at, "last_seen": row.last_seen,
        "certificate_generation": row.certificate_generation, "revision": record.revision,
        "enrolment_open_until": record.token.as_ref().map(|token| token.expires_at),
    })
}

fn disk(row: &Disk) -> Value {
    json!({
        "id": row.id, "server_id": row.server_id, "size_gb": row.size_gb,
        "directory_id": row.directory_id, "founding": row.founding, "state": row.state,
    })
}

/// The quorum as its leader sees it.
pub fn quorum(seen: &Quorum) -> Value {
    let replica = |replica: &Replica| {
        json!({
            "id": replica.id, "directory": replica.directory.map(|id| id.to_string()),
            "log_end_offset": replica.log_end_offset, "last_caught_up": replica.last_caught_up,
        })
    };
    json!({
        "leader": seen.leader, "leader_epoch": seen.leader_epoch,
        "high_watermark": seen.high_watermark,
        "voters": seen.voters.iter().map(replica).collect::<Value>(),
        "observers": seen.observers.iter().map(replica).collect::<Value>(),
    })
}

/// The brokers as one of them sees them.
pub fn cluster(seen: &ClusterView) -> Value {
    let broker = |broker: &BrokerView| {
        json!({
            "id": broker.id, "endpoint": broker.endpoint.to_string(), "rack": broker.rack,
            "fenced": broker.fenced,
        })
    };
    json!({
        "cluster_id": seen.cluster_id, "controller_id": seen.controller_id,
        "brokers": seen.brokers.iter().map(broker).collect::<Value>(),
    })
}
