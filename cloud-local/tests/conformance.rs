//! The local cloud keeps every cloud's promises.

mod support;

use cloud::conformance::suite;
use support::Local;

#[tokio::test]
async fn it_conforms() {
    suite(Local::new).await;
}

#[tokio::test]
async fn it_conforms_with_uids_for_instances() {
    if host::testing::has_uids() {
        suite(Local::separate).await;
    }
}
