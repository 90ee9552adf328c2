//! `/api/vpcs`.

pub mod create;
pub mod delete;
pub mod list;
pub mod read;
pub mod update;

use app::vpcs::{PLAN, VpcView};
use wire::customer::Vpc;

fn document(view: VpcView) -> Vpc {
    let VpcView { vpc, instances } = view;
    Vpc {
        id: vpc.id.0,
        name: vpc.name,
        plan: PLAN.into(),
        subnet: vpc.subnet.to_string(),
        region: vpc.region.0,
        tags: vpc.tags.into(),
        providerid: vpc.provider_id.to_string(),
        instances: instances.into_iter().map(|id| id.0).collect(),
    }
}

fn example() -> Vpc {
    Vpc {
        id: 3,
        name: "production".into(),
        plan: PLAN.into(),
        subnet: "10.56.72.0/24".into(),
        region: "local::this-machine".into(),
        tags: vec!["prod".into()],
        providerid: "7f0c6f4c-3a5a-4f0e-8c53-1d0d2f7c1b9a".into(),
        instances: vec![7],
    }
}
