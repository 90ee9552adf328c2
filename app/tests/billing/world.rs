//! Control planes on one store, with a clock that tests move.

use app::{
    App, Clouds, Neighbourhood, NoPlace, Parts, Place, Places, RegionCloud, Settings, Source,
    SourceKind,
};
use async_trait::async_trait;
use ipnet::Ipv4Net;
use kafka::simulated::{SimKafka, Timing};
use model::{
    AccountId, Catalogue, Clock, Entropy as _, HistoryEntry, HostId, InstanceId, Invoice,
    ManualClock, Month, Region, Secret, SeededEntropy, Seller, Timestamp,
};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use std::sync::Arc;
use store::{Installation, Location, MasterKey, Store};
use test_support::postgres;

pub const CLI: Source = Source { kind: SourceKind::Cli, address: None };

pub struct World {
    pub app: App,
    pub clock: Arc<ManualClock>,
    pub at: Location,
    entropy: Arc<SeededEntropy>,
    _directory: Option<tempfile::TempDir>,
}

impl World {
    pub async fn sqlite(now: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = Location::Sqlite(directory.path().join("test.db"));
        Self::on(Some(directory), at, now).await
    }

    pub async fn postgres(now: &str) -> Self {
        Self::on(None, Location::Postgres(postgres::database().await), now).await
    }

    async fn on(directory: Option<tempfile::TempDir>, at: Location, now: &str) -> Self {
        let clock = Arc::new(ManualClock::at(now.parse().unwrap()));
        let entropy = Arc::new(SeededEntropy::new(7));
        let app = plane(&at, &clock, &entropy, "Host & Sons").await;
        let mut work = app.store().begin().await.unwrap();
        store::installation::insert(&mut work, app.installation()).await.unwrap();
        work.commit().await.unwrap();
        Self { app, clock, at, entropy, _directory: directory }
    }

    /// Another control plane on the same store, with a seller of its own.
    pub async fn another(&self, seller: &str) -> App {
        plane(&self.at, &self.clock, &self.entropy, seller).await
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn advance_to(&self, time: &str) {
        self.clock.advance(time.parse::<Timestamp>().unwrap().duration_since(self.now()));
    }

    pub async fn account(&self, name: &str) -> AccountId {
        let created = app::accounts::create(CLI, &self.app, name, "t@x.test").await;
        created.unwrap().account.id
    }

    /// Writes a history as the account's own; instances get ids nobody has.
    pub async fn write(&self, account: AccountId, entries: &[HistoryEntry]) -> Vec<HistoryEntry> {
        let mut work = self.app.store().begin().await.unwrap();
        let mut written = Vec::new();
        for instance in entries.chunk_by(|a, b| a.instance_id == b.instance_id) {
            let instance_id = InstanceId(work.next("instances").await.unwrap());
            for entry in instance {
                let entry = HistoryEntry { account_id: account, instance_id, ..entry.clone() };
                store::history::insert(&mut work, &entry).await.unwrap();
                written.push(entry);
            }
        }
        work.commit().await.unwrap();
        written
    }

    /// All invoices, by number.
    pub async fn invoices(&self) -> Vec<Invoice> {
        let mut reader = self.app.store().reader();
        let mut invoices = Vec::new();
        for found in store::invoices::list_all(&mut reader).await.unwrap() {
            let invoice = store::invoices::find(&mut reader, found.id).await.unwrap().unwrap();
            assert_eq!((found.total, found.period), (invoice.bill.total(), invoice.bill.period));
            invoices.push(invoice);
        }
        invoices
    }

    /// Statements that the store has no function for.
    pub async fn raw(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        match &self.at {
            Location::Sqlite(path) => {
                let url = format!("sqlite://{}", path.display());
                let mut connection = SqliteConnection::connect(&url).await.unwrap();
                connection.execute(sql).await.unwrap();
            }
            Location::Postgres(url) => {
                let mut connection = PgConnection::connect(url.expose()).await.unwrap();
                connection.execute(sql).await.unwrap();
            }
        }
    }
}

async fn plane(
    at: &Location,
    clock: &Arc<ManualClock>,
    entropy: &Arc<SeededEntropy>,
    seller: &str,
) -> App {
    let seed = Arc::new(SeededEntropy::new(1));
    let master = MasterKey::parse(&MasterKey::generate(&*seed), entropy.clone()).unwrap();
    let installation = Installation {
        id: SeededEntropy::new(2).uuid(),
        host_id: HostId(SeededEntropy::new(3).uuid()),
        store_epoch: 1,
        fleet_ca: String::new(),
        fleet_ca_key: Secret::new(""),
        created_at: clock.now(),
    };
    let seller = Seller { company: seller.into(), ..Seller::default() };
    let nowhere = RegionCloud { places: Arc::new(Nowhere), room: None };
    let named = [("local".to_owned(), nowhere)];
    let clouds = Clouds::bind(&Catalogue::built_in(), named).unwrap();
    App::new(Parts {
        store: Store::open(at, master).await.unwrap(),
        admin: Arc::new(SimKafka::new(clock.clone(), 1, Timing::default())),
        catalogue: Arc::new(Catalogue::built_in()),
        clock: clock.clone(),
        entropy: entropy.clone(),
        clouds,
        destinations: Arc::new(app::Anywhere),
        integration_tester: Arc::new(app::integrations::NoTester),
        settings: Settings { seller, ..Settings::default() },
        installation,
    })
}

/// Year and month, as the recomputation takes them.
pub fn numbers(month: Month) -> (i64, i64) {
    let text = month.to_string();
    (text[..4].parse().unwrap(), text[5..].parse().unwrap())
}

struct Nowhere;

#[async_trait]
impl Places for Nowhere {
    async fn propose(
        &self,
        _: &Region,
        _: &[(String, u16)],
        _: usize,
    ) -> Result<Vec<Place>, NoPlace> {
        Err(NoPlace("there is no place in this test".into()))
    }

    fn settle(&self, _: Neighbourhood<'_>, places: Vec<Place>) -> Vec<Place> {
        places
    }

    fn host_networks(&self) -> Vec<Ipv4Net> {
        Vec::new()
    }
}
