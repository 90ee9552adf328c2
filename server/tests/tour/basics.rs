//! A cluster is made, is what the API says, lets in whom it should, and is gone without a
//! trace.

use crate::SERVERS;
use crate::shared::Tour;
use serde_json::{Value, json};
use test_support::installation::Installation;
use test_support::left_over::LeftOver;

/// A cluster that differs from the usual one by what is given.
pub async fn create(castellan: &Installation, more: &Value) -> Value {
    let mut body = json!({"name": "tour", "plan": "mouse-3", "region": "local::this-machine"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, created) = castellan.post("/api/instances", &body).await;
    assert_eq!(status, 200, "{created}");
    let id = created["id"].as_i64().unwrap();

    // Everything chosen is readable at once, before anything runs.
    let (_, planned) = castellan.get(&format!("/api/instances/{id}")).await;
    for field in ["ca", "apikey", "brokers", "username", "password", "url", "hostname_external"] {
        assert!(!planned[field].as_str().unwrap().is_empty(), "{field} in {planned}");
    }
    let ready = castellan.until_running(id).await;
    for field in ["ca", "apikey", "brokers", "username", "password", "url"] {
        assert_eq!(planned[field], ready[field], "{field} changed on the way");
    }
    ready
}

pub async fn details_agree(tour: &mut Tour) {
    let Tour { castellan, instance, id, .. } = tour;
    let (status, details) = castellan.get(&format!("/api/instances/{id}/details")).await;
    assert_eq!(status, 200, "{details}");
    assert_eq!(details["connections"]["sasl_scram"]["username"], instance["username"]);
    assert_eq!(details["servers"].as_array().unwrap().len(), SERVERS);
    let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!(cluster, json!({"name": "tour", "ready": true, "configured": true}));
}

pub async fn the_instance_key_opens_its_own_instance_alone(tour: &mut Tour) {
    let Tour { castellan, instance, id, .. } = tour;
    let key = instance["apikey"].as_str().unwrap();
    let (status, details) = castellan.instance_api("/api/details", key).await;
    assert_eq!((status, &details["name"]), (200, &json!("tour")));
    for noun in ["topics", "users", "acls", "config/kafka", "groups", "quotas", "nodes"] {
        let (status, told) = castellan.instance_api(&format!("/api/{noun}"), key).await;
        let path = format!("/api/instances/{id}/{noun}");
        assert_eq!((status, told), castellan.get(&path).await, "{noun}");
    }
    let (status, _) = castellan.instance_api("/api/details", &castellan.key).await;
    assert_eq!(status, 401);
}

pub async fn strangers_are_refused(tour: &mut Tour) {
    let Tour { castellan, kcat, .. } = tour;
    let refused = kcat.refused_with_password("wrong").await;
    assert!(refused.contains("uthentication failed"), "{refused}");
    let refused = kcat.refused_with_ca(&castellan.fleet_ca()).await;
    assert!(refused.contains("certificate verify failed"), "{refused}");
    let refused = kcat.refused_without_credentials().await;
    assert!(refused.contains("uthorization failed"), "{refused}");
}

pub async fn delete(castellan: &Installation, id: i64) {
    assert_eq!(castellan.delete(&format!("/api/instances/{id}")).await, 204);
    let (status, body) = castellan.get(&format!("/api/instances/{id}")).await;
    assert_eq!((status, body), (404, json!({"error": "Invalid ID"})));
    castellan.until_gone().await;
}

/// And nothing of the installation, once that is purged.
pub async fn nothing_is_left_once_it_is_deleted(tour: Tour) {
    let Tour { castellan, id, before, .. } = tour;
    delete(&castellan, id).await;
    let after = LeftOver::of(&castellan).await;
    assert_eq!(before, after, "something of the instance is left");
    castellan.purge().await;
}
