//! For tests alone: whether this machine can have networks. A test that is left out fails,
//! unless `CASTELLAN_MAY_SKIP` names `networks`.

/// Whether networks can be made here. If not, the test is left out.
pub fn has_networks() -> bool {
    let missing = crate::missing();
    if let Some(missing) = &missing {
        host::testing::skip("networks", missing);
    }
    missing.is_none()
}
