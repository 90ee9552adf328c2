//! A monitor sees every document without its secrets, on every route.

use crate::call::Call;
use crate::coverage::{LOG_TOKEN, METRICS_KEY, Things, WEBHOOK, WEBHOOK_SECRET};
use crate::world::World;
use api::routes;
use model::Role;
use serde_json::json;

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
