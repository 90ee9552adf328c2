//! Many instances of many accounts, written straight into the store: what they
//! are made of is what a create writes, but nobody makes them.

use super::plane::Plane;
use crate::on_record;
use anyhow::{Context, Result};
use model::{
    Account, AccountId, ApiKey, Clock, Disk, DiskId, DiskState, Entropy, HostId, Instance,
    InstanceId, InstanceName, InstanceProgress, KafkaVersion, KeyId, Listener, Listeners,
    Membership, OsEntropy, PlanName, Reason, RegionName, Role, Secret, Server, ServerId,
    ServerRole, ServerState, SystemClock, Tags, Timestamp, User, UserId, Vpc, VpcId, Wanted,
    kafka_uuid,
};
use std::collections::BTreeMap;
use std::fs;
use store::{
    AuthorityKind, NewAccount, Store, Work, accounts, apikeys, authorities, disks, instances,
    servers, vpcs,
};

/// Instances in one transaction.
const BATCH: usize = 500;
const REGION: &str = "local::this-machine";
const VERSION: KafkaVersion = KafkaVersion::new(4, 3, 1);

pub struct Fleet {
    store: Store,
    /// No host of this store, so that no engine works on what nobody made.
    host: HostId,
    certificate: String,
    owners: Vec<Owner>,
    /// An instance and the place of its owner.
    instances: Vec<(i64, usize)>,
}

pub struct Owner {
    pub account: AccountId,
    key: Secret,
}

impl Fleet {
    pub async fn new(plane: &Plane, accounts: usize) -> Result<Self> {
        let store = open(plane).await?;
        let certificate = fs::read_to_string(plane.data().join("fleet-ca.pem"))?;
        let host = HostId(OsEntropy.uuid());
        let mut fleet = Self { store, host, certificate, owners: vec![], instances: vec![] };
        let mut work = fleet.store.begin().await?;
        for number in 0..accounts {
            fleet.owners.push(owner(&mut work, number).await?);
        }
        work.commit().await?;
        Ok(fleet)
    }

    /// Until there are so many, dealt out to the accounts in turn.
    pub async fn grow(&mut self, count: usize) -> Result<()> {
        while self.instances.len() < count {
            let mut work = self.store.begin().await?;
            for number in self.instances.len()..count.min(self.instances.len() + BATCH) {
                let owner = number % self.owners.len();
                let id = self.instance(&mut work, self.owners[owner].account).await?;
                self.instances.push((id, owner));
            }
            work.commit().await?;
        }
        Ok(())
    }

    /// The key of a new account with so many instances.
    pub async fn owner_of(&mut self, count: usize) -> Result<Secret> {
        let mut work = self.store.begin().await?;
        let owner = owner(&mut work, self.owners.len()).await?;
        for _ in 0..count {
            self.instance(&mut work, owner.account).await?;
        }
        work.commit().await?;
        Ok(owner.key)
    }

    /// Instances from all over the fleet with their owners' keys.
    pub fn spread(&self, count: usize) -> Vec<(i64, &Secret)> {
        let step = self.instances.len().div_ceil(count).max(1);
        let picked = self.instances.iter().step_by(step);
        picked.map(|(id, owner)| (*id, &self.owners[*owner].key)).collect()
    }

    async fn instance(&self, work: &mut Work, account: AccountId) -> Result<i64> {
        let now = SystemClock.now();
        let id = InstanceId(work.next("instances").await?);
        let vpc_id = VpcId(work.next("vpcs").await?);
        vpcs::insert(work, &vpc(vpc_id, account, id, now)).await?;
        let instance = instance(id, account, vpc_id, now);
        instances::insert(work, &instance).await?;
        instances::rest(work, id, 0, Timestamp::MAX).await?;
        let key = Secret::new("x".repeat(240));
        for kind in AuthorityKind::ALL {
            authorities::insert(work, id, kind, &self.certificate, &key).await?;
        }
        let server_id = ServerId(work.next("servers").await?);
        servers::insert(work, &server(server_id, id, self.host, &instance.username)).await?;
        disks::insert(work, &disk(id, server_id)).await?;
        Ok(id.0)
    }
}

pub async fn open(plane: &Plane) -> Result<Store> {
    on_record::open(&plane.data()).await
}

pub async fn owner(work: &mut Work, number: usize) -> Result<Owner> {
    let created_at = SystemClock.now();
    let account = AccountId(OsEntropy.uuid());
    let email = format!("owner-{number}@example.test");
    let user = UserId(OsEntropy.uuid());
    let new = NewAccount {
        account: Account { id: account, name: email.clone(), email: email.clone(), created_at },
        owner: User {
            id: user,
            account_id: account,
            email,
            name: String::new(),
            tfa_enabled: false,
            role: Role::Admin,
            tags: Tags::default(),
            created_at,
        },
    };
    accounts::insert(work, &new).await?;
    let key = OsEntropy.key();
    let row = ApiKey {
        id: KeyId(OsEntropy.uuid()),
        user_id: user,
        role: Role::Admin,
        tags: Tags::default(),
        comment: String::new(),
        created_at,
        expires_at: None,
        last_used_at: None,
        last_used_from: None,
    };
    apikeys::insert(work, &row, &key).await.context("a key is new")?;
    Ok(Owner { account, key })
}

pub fn vpc(id: VpcId, account_id: AccountId, maker: InstanceId, created_at: Timestamp) -> Vpc {
    Vpc {
        id,
        account_id,
        name: "bench".into(),
        region: RegionName(REGION.into()),
        subnet: "10.192.0.0/24".parse().expect("a private range"),
        tags: Tags::default(),
        provider_id: OsEntropy.uuid(),
        made_for: Some(maker),
        created_at,
        deleted_at: None,
    }
}

pub fn instance(
    id: InstanceId,
    account_id: AccountId,
    vpc_id: VpcId,
    created_at: Timestamp,
) -> Instance {
    Instance {
        id,
        account_id,
        provider_id: OsEntropy.uuid(),
        name: InstanceName::parse("bench").expect("a good name"),
        plan: PlanName("mouse-1".into()),
        region: RegionName(REGION.into()),
        nodes: 1,
        kafka_version: VERSION,
        disk_size: None,
        tags: Tags::default(),
        vpc_id,
        no_default_alarms: false,
        username: OsEntropy.username(),
        password: OsEntropy.password(),
        apikey: OsEntropy.key(),
        hostname: "127.64.0.1".into(),
        cluster_id: kafka_uuid(&OsEntropy),
        created_at,
        deleted_at: None,
        stopped: false,
        generation: 1,
        settings: BTreeMap::new(),
        kafka_generation: 0,
        progress: InstanceProgress {
            conditions: vec![Reason::Running.into()],
            ..InstanceProgress::default()
        },
    }
}

pub fn server(id: ServerId, instance_id: InstanceId, host_id: HostId, username: &str) -> Server {
    let number = u32::try_from(id.0).unwrap_or_default();
    let address = std::net::Ipv4Addr::from_bits(0x7f40_0000 + number).to_string();
    let listener =
        |port| Listener { bind_host: address.clone(), advertised_host: address.clone(), port };
    Server {
        id,
        instance_id,
        number: 1,
        node_id: 1,
        incarnation: 1,
        roles: vec![ServerRole::Broker, ServerRole::Controller],
        name: format!("{username}-01"),
        kafka_version: VERSION,
        host_id,
        zone: "a".into(),
        private_ip: address.clone(),
        listeners: Listeners {
            plaintext: Some(listener(9092)),
            ssl: listener(9093),
            sasl_scram: listener(9094),
            internal: listener(9091),
            controller: listener(9090),
            metrics: None,
        },
        state: ServerState::Planned,
        membership: Membership::Member,
        enrolled_at: None,
        last_seen: None,
        certificate_generation: 1,
        wanted: Wanted::default(),
    }
}

pub fn disk(instance_id: InstanceId, server_id: ServerId) -> Disk {
    Disk {
        id: DiskId(OsEntropy.uuid()),
        instance_id,
        server_id,
        size_gb: 25,
        made_gb: 25,
        directory_id: kafka_uuid(&OsEntropy),
        founding: true,
        state: DiskState::Planned,
    }
}
