//! `/api/instances`.

pub mod account;
pub mod actions;
pub mod create;
pub mod delete;
pub mod list;
pub mod read;
pub mod update;

/// What list and read both say of an instance.
fn entry(instance: &model::Instance) -> wire::customer::InstanceEntry {
    wire::customer::InstanceEntry {
        id: instance.id.0,
        plan: instance.plan.to_string(),
        region: instance.region.to_string(),
        name: instance.name.to_string(),
        tags: instance.tags.as_slice().to_vec(),
        providerid: instance.provider_id.to_string(),
    }
}

fn example() -> wire::customer::InstanceEntry {
    wire::customer::InstanceEntry {
        id: 7,
        plan: "mouse-1".into(),
        region: "local::this-machine".into(),
        name: "orders".into(),
        tags: vec!["prod".into()],
        providerid: "0c2a4a5e-4f0b-4d0e-9a53-2d0d2f7c1b9a".into(),
    }
}
