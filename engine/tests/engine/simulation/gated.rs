//! What a control plane reaches of replicas, voters and settings, with a gate around each
//! effect. What the ground has to see before Kafka does it is looked at first.

use super::gate::Effect;
use super::hands::Hands;
use async_trait::async_trait;
use kafka::client::{
    Admin as _, Altered, Assignment, ChangedSettings, Changes, Cluster, Error, NewVoter, Placement,
    PlacementView, Reassignment, Setting, Settings, SettingsOf, TopicPartition, Voters,
};
use std::collections::BTreeMap;
use uuid::Uuid;

#[async_trait]
impl Placement for Hands {
    async fn read_placement(&self, cluster: &Cluster) -> Result<PlacementView, Error> {
        let call = self.kafka.placement().read_placement(cluster);
        self.ask(Effect::ReadPlacement, call).await
    }

    async fn reassign(&self, cluster: &Cluster, to: &[Assignment]) -> Result<Altered, Error> {
        self.ask(Effect::Reassign, self.kafka.placement().reassign(cluster, to)).await
    }

    async fn cancel_reassignments(
        &self,
        cluster: &Cluster,
        of: &[TopicPartition],
    ) -> Result<Altered, Error> {
        let call = self.kafka.placement().cancel_reassignments(cluster, of);
        self.ask(Effect::CancelCopies, call).await
    }

    async fn list_reassignments(&self, cluster: &Cluster) -> Result<Vec<Reassignment>, Error> {
        self.kafka.placement().list_reassignments(cluster).await
    }
}

#[async_trait]
impl Voters for Hands {
    async fn add_voter(&self, cluster: &Cluster, voter: &NewVoter) -> Result<bool, Error> {
        self.ask(Effect::AddVoter, self.kafka.voters().add_voter(cluster, voter)).await
    }

    async fn remove_voter(
        &self,
        cluster: &Cluster,
        id: i32,
        directory: Uuid,
    ) -> Result<bool, Error> {
        let call = self.kafka.voters().remove_voter(cluster, id, directory);
        self.ask(Effect::RemoveVoter, call).await
    }

    async fn unregister_broker(&self, cluster: &Cluster, broker: i32) -> Result<bool, Error> {
        let call = async {
            self.ground.lock().unwrap().is_forgotten(broker);
            self.kafka.voters().unregister_broker(cluster, broker).await
        };
        self.ask(Effect::Unregister, call).await
    }
}

#[async_trait]
impl Settings for Hands {
    async fn describe_settings(&self, cluster: &Cluster) -> Result<Vec<Setting>, Error> {
        self.kafka.settings().describe_settings(cluster).await
    }

    async fn check_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error> {
        self.kafka.settings().check_settings(cluster, changes).await
    }

    async fn change_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error> {
        let call = self.kafka.settings().change_settings(cluster, changes);
        self.ask(Effect::ChangeSettings, call).await
    }

    async fn describe_settings_of(
        &self,
        cluster: &Cluster,
        of: &[SettingsOf],
    ) -> Result<BTreeMap<SettingsOf, Vec<Setting>>, Error> {
        self.kafka.settings().describe_settings_of(cluster, of).await
    }

    async fn change_settings_of(
        &self,
        cluster: &Cluster,
        changes: &BTreeMap<SettingsOf, Changes>,
    ) -> Result<ChangedSettings, Error> {
        let call = self.kafka.settings().change_settings_of(cluster, changes);
        self.ask(Effect::ChangeSettings, call).await
    }
}
