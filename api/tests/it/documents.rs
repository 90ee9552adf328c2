//! Desired states and reports as text, whole but for what a test says of them.

use model::Server;
use serde_json::{Value, json};

/// A desired state of the first Castellan, with these fields besides.
pub fn desired(server: &Server, fields: &Value) -> String {
    let whole = json!({
        "revision": 9, "server_id": server.id, "incarnation": server.incarnation,
        "instance_id": server.instance_id, "node_id": server.node_id, "cluster_id": "cluster",
        "disk": {"id": "00000000-0000-4000-8000-000000000011", "directory_id": "directory"},
        "run": "running",
    });
    with(whole, fields)
}

/// A report of the first agent, whose broker runs, with these fields besides.
pub fn report(server: &Server, fields: &Value) -> String {
    let whole = json!({
        "incarnation": server.incarnation, "agent_version": "0.1.0", "revision": 9,
        "phase": "running",
    });
    with(whole, fields)
}

fn with(mut whole: Value, fields: &Value) -> String {
    for (name, value) in fields.as_object().unwrap() {
        whole[name] = value.clone();
    }
    whole.to_string()
}
