//! The simulated cloud keeps every cloud's promises, also when it misbehaves.

use async_trait::async_trait;
use cloud::conformance::{Subject, suite};
use cloud::{Call, Cloud, DiskSpec, Effect, Epoch, Fault, Outcome, Owner, Remedy, SimulatedCloud};
use model::{DiskId, InstanceId, Secret, ServerId};

struct Simulated(SimulatedCloud);

#[async_trait]
impl Subject for Simulated {
    fn cloud(&self) -> &dyn Cloud {
        &self.0
    }
    async fn kill_agent(&self, server: ServerId) {
        self.0.kill_agent(server);
    }
    async fn lose_disk(&self, disk: DiskId) {
        self.0.lose_disk(disk);
    }
    async fn write_on_disk(&self, disk: DiskId) {
        self.0.write_on_disk(disk);
    }
    async fn has_data(&self, disk: DiskId) -> bool {
        self.0.disk_has_data(disk)
    }
    async fn agent_is_alive(&self, server: ServerId) -> bool {
        self.0.agent_is_alive(server)
    }
    /// It remembers everything for ever, whoever else there is.
    async fn add_another(&self) {}
    async fn token(&self, server: ServerId) -> Option<Secret> {
        self.0.server(server)?.token
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.0.made_twice(), [], "made twice: {:?}", self.0.effects());
        }
    }
}

#[tokio::test]
async fn it_conforms() {
    suite(async || Simulated(SimulatedCloud::new())).await;
}

#[tokio::test]
async fn it_conforms_with_a_third_of_the_calls_going_wrong() {
    for seed in 0..20 {
        println!("seed {seed}");
        suite(async || Simulated(SimulatedCloud::seeded(seed, 33))).await;
    }
}

#[tokio::test]
async fn a_lost_reply_comes_after_its_effect() {
    let cloud = SimulatedCloud::new();
    let disk = DiskSpec {
        id: "00000000-0000-4000-8000-000000000001".parse().unwrap(),
        instance_id: InstanceId(1),
        server_id: ServerId(2),
        size_gb: 1,
    };
    let by = Owner { instance_id: InstanceId(1), epoch: Epoch { store: 1, lease: 1 } };
    cloud.fail_next(Call::EnsureDisk, Fault::Pending, 1);
    cloud.fail_next(Call::EnsureDisk, Fault::LostReply, 1);
    cloud.fail_next(Call::EnsureDisk, Fault::GiveUp, 1);
    assert!(matches!(cloud.ensure_disk(&by, &disk).await, Outcome::Pending { .. }));
    assert_eq!(cloud.effects(), []);
    let lost = cloud.ensure_disk(&by, &disk).await;
    assert!(matches!(lost, Outcome::Failed { remedy: Remedy::Retry, .. }), "{lost:?}");
    assert_eq!(cloud.effects(), [Effect::DiskMade(disk.id)]);
    let refused = cloud.ensure_disk(&by, &disk).await;
    assert!(matches!(refused, Outcome::Failed { remedy: Remedy::GiveUp, .. }), "{refused:?}");
    assert_eq!(cloud.ensure_disk(&by, &disk).await, Outcome::Ready(()));
    assert_eq!(cloud.effects(), [Effect::DiskMade(disk.id)]);
    assert_eq!(cloud.made_twice(), []);
}
