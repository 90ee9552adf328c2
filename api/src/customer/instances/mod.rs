//! `/api/instances`.

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
