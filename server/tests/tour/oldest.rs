//! What people do every day, on the oldest Kafka that can be ordered: an installation and a
//! cluster of its own.

use crate::basics::{create, delete};
use crate::{certified, groups, isolated, resources, rolled};
use serde_json::json;
use test_support::installation::Installation;
use test_support::kcat::Kcat;
use test_support::left_over::LeftOver;

pub async fn has_it_too() {
    let castellan = Installation::start().await;
    let before = LeftOver::of(&castellan).await;
    let oldest = kafka::versions::all()[0].version.to_string();
    let instance = create(&castellan, &json!({"kafka_version": oldest})).await;
    assert_eq!(instance["kafka_version"], oldest.as_str());
    Kcat::new(&castellan, &instance).await.write("SCRAM-SHA-256", "one").await;
    isolated::finds_no_way_out(&castellan).await;
    resources::are_what_kafka_has(&castellan, &instance).await;
    groups::are_what_kafka_has(&castellan, &instance).await;
    let certified = certified::come_in_until_they_are_revoked(&castellan, &instance).await;
    rolled::goes_in_order(&castellan, &instance).await;
    certified::stay_as_they_were(&castellan, &instance, &certified).await;
    resources::another_password(&castellan, &instance).await;
    delete(&castellan, instance["id"].as_i64().unwrap()).await;
    let after = LeftOver::of(&castellan).await;
    assert_eq!(before, after, "something of the instance is left");
    castellan.purge().await;
}
