//! The local cloud keeps every cloud's promises.

mod support;

use cloud::conformance::suite;
use support::Local;

#[tokio::test]
async fn it_conforms() {
    suite(Local::new).await;
}
