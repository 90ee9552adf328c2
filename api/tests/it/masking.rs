//! A monitor sees every document without its secrets, on every route.

use crate::call::Call;
use crate::coverage::{LOG_TOKEN, METRICS_KEY, Things, WEBHOOK, WEBHOOK_SECRET};
use crate::keys_of_systems::{self, Filled, KEY};
use crate::world::World;
use api::routes;
use model::Role;
use serde_json::{Value, json};

#[tokio::test]
async fn no_route_shows_a_monitor_a_secret() {
    let world = World::new().await;
    let things = Things::make(&world).await;
    let instance = &things.instance;
    let monitor = world.member(Role::Monitor, &[]).await;
    let (password, apikey) = (instance.password.expose(), instance.apikey.expose());
    let secrets = [password, apikey, WEBHOOK, WEBHOOK_SECRET, LOG_TOKEN, METRICS_KEY];
    // Once it is updated, its options are shown, too.
    let recipient = things.path("/api/instances/{id}/alarms/recipients/{recipient_id}");
    let update = Call::put(&recipient).json(&json!({"type": "webhook", "value": WEBHOOK}));
    assert_eq!(update.key(&world.key).send(&world.customer).await.status, 200);
    let mut shown_to_admin = 0;
    for route in routes::customer().iter().filter(|route| route.method == "GET") {
        let path = things.path(&route.path);
        let masked = Call::get(&path).key(&monitor).send(&world.customer).await;
        // What a monitor may not read at all, the coverage test knows.
        assert!([200, 403].contains(&masked.status.as_u16()), "{path}: {}", masked.text);
        for secret in secrets {
            assert!(!masked.text.contains(secret), "{path}: {}", masked.text);
        }
        let whole = Call::get(&path).key(&world.key).send(&world.customer).await;
        if secrets.iter().any(|secret| whole.text.contains(secret)) {
            shown_to_admin += 1;
            assert_eq!(whole.header("cache-control"), "no-store", "{path}");
            assert_eq!(masked.header("cache-control"), "no-store", "{path}");
            insta::assert_snapshot!(
                format!("masked{}", route.path.replace(['/', '{', '}'], "_")),
                masked.shown(&[instance])
            );
        }
    }
    // Read, details, and both reads of recipients and of each kind of integrations.
    assert_eq!(shown_to_admin, 8, "of all documents that hold secrets");
}

#[tokio::test]
async fn every_key_of_every_system_is_masked() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let monitor = world.member(Role::Monitor, &[]).await;
    let integrations = format!("/api/instances/{}/integrations", instance.id);
    for Filled { kind, system, settings, keys } in keys_of_systems::all() {
        let create = Call::post(&format!("{integrations}/{kind}/{system}")).key(&world.key);
        let made = create.json(&json!(settings)).send(&world.customer).await;
        assert_eq!(made.status, 201, "{kind} {system}: {}", made.text);
        let made = made.json();
        assert_eq!(made["config"], json!(settings));
        let one = format!("{integrations}/{kind}/{}", made["id"]);
        let again = Call::put(&one).key(&world.key).json(&json!(settings));
        assert_eq!(again.send(&world.customer).await.status, 204);
        let test = Call::post(&format!("{one}/test")).key(&world.key).send(&world.customer).await;
        assert_eq!(test.status, 200, "{}", test.text);
        assert!(!test.text.contains(KEY), "{}", test.text);

        let mut masked = settings;
        for key in keys {
            masked[key] = Value::from("");
        }
        let read = async |path: &str| Call::get(path).key(&monitor).send(&world.customer).await;
        let shown = read(&one).await;
        assert_eq!((shown.status.as_u16(), &shown.json()["config"]), (200, &json!(masked)));
        let list = read(&format!("{integrations}/{kind}")).await;
        assert_eq!(list.json().as_array().unwrap().last().unwrap()["config"], json!(masked));
        assert!(!format!("{}{}", shown.text, list.text).contains(KEY), "{}", list.text);
    }
    for line in world.audit().await {
        assert!(!line.contains(KEY), "{line}");
    }
}
