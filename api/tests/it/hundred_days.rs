//! A hundred days of an account that calls as much as it can: afterwards every table is
//! within its bound. The bounds and their growth are told in docs/operations.md.
//!
//! There is no engine here: the tests do what it would, on the same store.

use crate::call::Call;
use crate::resources::{cluster, send};
use crate::world::{World, take_due};
use app::alarms::{Scope, notice};
use app::{Limits, Operator, Settings, auditlog, people};
use model::{Instance, Maintenance, Month, SignedDuration};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row, SqliteConnection};
use store::{Location, outbox};

const DAYS: i64 = 100;
const AUDIT_BUDGET: i64 = 128 * 1024;
const CREATES_A_DAY: i64 = 2;
/// With the running one: the months of a hundred days from the middle of November on.
const MONTHS: i64 = 4;

/// How many rows each table may have after these days, by what these days write. A table
/// that is missing here has no bound.
const MOST_ROWS: &[(&str, i64)] = &[
    ("accounts", 1),
    ("acls", 20),
    ("action_steps", 1000),
    ("actions", 2 * (store::actions::MOST_ENDED + 51)),
    ("alarms", 2 * 100),
    // In bytes, see below.
    ("audit", i64::MAX),
    ("audit_chains", 1),
    ("audit_spent", 40),
    ("audit_withheld", 100),
    ("apikeys", 200),
    ("authorities", 2 * 6),
    ("certificates", 10_000),
    ("claims", 1),
    ("disk_guards", 2),
    ("disks", 2),
    ("held_names", 10),
    ("hosts", 1),
    ("idempotency", CREATES_A_DAY),
    ("incidents", 1000 + 1),
    ("installation", 1),
    ("instance_history", 2 * CREATES_A_DAY * DAYS + MONTHS + 1),
    ("instances", 2),
    // Two a day are good for a week.
    ("integration_errors", 2 * 100),
    ("integrations", 2 * 100),
    ("invitations", 2 * 8),
    ("invoices", MONTHS),
    ("leases", 2),
    ("listeners", 2 * 6),
    ("login_tokens", 2),
    ("mail_blocks", 1),
    // One a day, kept for a month.
    ("mail_consents", 32),
    ("outbox", 2 * store::notifications::MOST + 2 * 24 * 20),
    ("outbox_lanes", 200),
    ("recipients", 2 * 100),
    ("recovery_codes", 10),
    ("resizes", 2),
    ("second_factors", 1),
    ("send_counts", 20),
    ("sequences", 30),
    ("servers", 2),
    ("sessions", 20),
    ("slowed_quotas", 2),
    ("ssl_users", 10_000),
    ("tickets", 1),
    ("users", 100),
    ("vpcs", 40),
];

#[tokio::test]
async fn after_a_hundred_days_every_table_is_within_its_bound() {
    let settings = Settings {
        audit_bytes_per_day: AUDIT_BUDGET,
        limits: Limits { creates_per_day: 2, ..Limits::default() },
        ..Settings::default()
    };
    let mut world = World::with(settings).await;
    let instance = cluster(&world, "mouse-1").await;
    let mut statements = 0;
    for day in 0..DAYS {
        statements += spend_day(&mut world, &instance, day).await;
        for _ in 0..4 {
            world.clock.advance(SignedDuration::from_hours(6));
            do_the_engines_work(&world, &instance).await;
            run_tasks(&world).await;
        }
    }
    assert!(statements > 20 * DAYS, "{statements} calls changed something");

    let mut tables = Tables::open(&world).await;
    for (name, rows) in tables.rows().await {
        let (_, most) = MOST_ROWS
            .iter()
            .find(|(table, _)| *table == name)
            .unwrap_or_else(|| panic!("{name} has no bound"));
        assert!(rows <= *most, "{name} has {rows} rows, of at most {most}");
    }
    // What is counted and not told yet, and the line of each hour, are little beside it.
    let bytes = tables.audit_bytes().await;
    let most = (DAYS + 1) * (AUDIT_BUDGET + 24 * 3000);
    assert!(bytes > DAYS * AUDIT_BUDGET / 10, "{bytes}: it was tried");
    assert!(bytes <= most, "{bytes} of at most {most}");
    archive_and_verify(&world, &mut tables).await;
}

/// As much of everything as one key can do, in small. How many calls changed something.
async fn spend_day(world: &mut World, instance: &Instance, day: i64) -> i64 {
    let mut done = 0;
    let mut note = |status: u16| done += i64::from((200..300).contains(&status));
    for n in 0..=CREATES_A_DAY {
        let body = json!({"name": "a", "plan": "mouse-1", "region": "local::this-machine"});
        let call = Call::post("/api/instances").key(&world.key).json(&body);
        let call = call.header("idempotency-key", &format!("{day}-{n}"));
        let made = call.send(&world.customer).await;
        note(made.status.as_u16());
        let path = format!("/api/instances/{}", made.json()["id"]);
        note(Call::delete(&path).key(&world.key).send(&world.customer).await.status.as_u16());
        tear_down(world).await;
    }
    let long = "x".repeat(120);
    for n in 0..12 {
        let body = format!("name={n}-{long}");
        let call = Call::put(&format!("/api/instances/{}", instance.id)).key(&world.key);
        note(call.form(&body).send(&world.customer).await.status.as_u16());
    }
    for action in ["stop", "start", "stop", "start"] {
        let path = format!("actions/cluster-{action}");
        note(send(world, "POST", instance, &path, &Value::Null).await.status.as_u16());
    }
    world.make_ready(instance.id).await;
    let rule = json!({"operation": "read", "resource": "topic",
        "resource_pattern": format!("{day}-{}", "y".repeat(1900))});
    let acls = json!({"user": "ada", "rules": [rule]});
    let alarm = json!({"type": "disk", "value_threshold": 5, "time_threshold": 600});
    let topic = json!({"name": format!("t{day}")});
    let stranger = json!({"type": "email", "value": format!("{day}@stranger.test")});
    for (method, path, body) in [
        ("POST", "acls", &acls),
        ("POST", "acls", &acls),
        ("POST", "topics", &topic),
        ("DELETE", &*format!("topics/t{day}"), &Value::Null),
        ("POST", "users", &json!({"name": "eve", "type": "ssl"})),
        ("DELETE", "users/eve", &Value::Null),
        ("POST", "alarms", &alarm),
        ("DELETE", &*format!("alarms/{}", day + 5), &Value::Null),
        (
            "PUT",
            "alarms/recipients/1",
            &json!({"type": "email", "value": "owner@example.test", "name": format!("{day}")}),
        ),
        ("POST", "alarms/recipients", &stranger),
        ("DELETE", &*format!("alarms/recipients/{}", day + 2), &Value::Null),
        ("POST", "alarms/recipients/1/test", &Value::Null),
        ("POST", "integrations/logs/loggly", &json!({"token": "t"})),
        ("PUT", &*format!("integrations/logs/{}", day + 1), &json!({"token": format!("{day}")})),
        ("POST", &*format!("integrations/logs/{}/test", day + 1), &Value::Null),
        ("DELETE", &*format!("integrations/logs/{}", day - 3), &Value::Null),
    ] {
        note(send(world, method, instance, path, body).await.status.as_u16());
    }
    let made = crate::resources::get(world, instance, "acls").await;
    let newest = made.as_array().unwrap().last().unwrap()["id"].clone();
    let path = format!("acls/{newest}");
    note(send(world, "DELETE", instance, &path, &Value::Null).await.status.as_u16());
    for n in 0..2 {
        let body = json!({"email": format!("{day}-{n}@example.test")});
        let call = Call::post("/api/team/invite").key(&world.key).json(&body);
        note(call.send(&world.customer).await.status.as_u16());
    }
    for _ in 0..3 {
        let call = Call::post("/api/apikeys/rotate-apikey").key(&world.key);
        let answer = call.send(&world.customer).await;
        world.key = model::Secret::new(answer.json()["apikey"].as_str().unwrap());
        note(answer.status.as_u16());
    }
    let spare = Call::post("/api/apikeys").key(&world.key).json(&json!({"comment": "spare"}));
    note(spare.send(&world.customer).await.status.as_u16());
    for _ in 0..2 {
        let operator = Operator::of_opened_store();
        let link = people::create_for_first_owner(operator, &world.app).await.unwrap();
        let token = model::Secret::new(link.url.expose().rsplit_once('/').unwrap().1);
        people::open_link(&people::Visit::new(None, "x"), &world.app, &token).await.unwrap();
    }
    for _ in 0..12 {
        let (operator, scope) = (Operator::of_opened_store(), Scope::Instance(instance.id));
        let text = "The host is restarted";
        notice(operator, &world.app, &scope, Maintenance::Planned, text).await.unwrap();
    }
    done
}

/// Nothing was made of what was deleted.
async fn tear_down(world: &World) {
    let mut work = world.app.store().begin().await.unwrap();
    for gone in store::instances::list_deleting(&mut work, world.account).await.unwrap() {
        for disk in store::disks::list(&mut work, gone.id).await.unwrap() {
            store::disks::remove(&mut work, disk.id).await.unwrap();
        }
        for server in store::servers::list_bare(&mut work, gone.id).await.unwrap() {
            store::servers::remove(&mut work, server.id).await.unwrap();
        }
        store::instances::remove(&mut work, gone.id).await.unwrap();
    }
    for vpc in store::vpcs::list_removable(&mut work).await.unwrap() {
        store::vpcs::remove_deleted(&mut work, vpc.id).await.unwrap();
    }
    work.commit().await.unwrap();
}

/// No destination answers, so messages wait for as long as they may.
async fn do_the_engines_work(world: &World, instance: &Instance) {
    world.make_ready(instance.id).await;
    let (now, hour) = (world.app.now(), SignedDuration::from_hours(1));
    let mut work = world.app.store().begin().await.unwrap();
    outbox::give_up(&mut work, now).await.unwrap();
    for message in take_due(&mut work, now).await {
        outbox::set_failed(&mut work, &message, "hangs", now, hour).await.unwrap();
    }
    work.commit().await.unwrap();
}

async fn run_tasks(world: &World) {
    app::retention::tidy(&world.app).await.unwrap();
    auditlog::seal_due(&world.app).await.unwrap();
    app::billing::issue_due(&world.app).await.unwrap();
}

/// The months that are over leave the store, and the log is whole with them and without.
async fn archive_and_verify(world: &World, tables: &mut Tables) {
    let before = Month::containing(world.app.now());
    let mut archive = Vec::new();
    let lines = auditlog::write_archive(&world.app, before, None, &mut archive).await.unwrap();
    assert!(lines > 1000, "{lines}");
    let mut reading = auditlog::Reading::new(world.app.store().master_key());
    for line in String::from_utf8(archive).unwrap().lines() {
        reading.line(line).unwrap();
    }
    let archive = reading.finish().unwrap();
    let source = app::Source { kind: app::SourceKind::Cli, address: None };
    let bytes = tables.audit_bytes().await;
    auditlog::prune(&world.app, source, &archive, "archive", "sum").await.unwrap();
    let left = tables.audit_bytes().await;
    assert!(left * 2 < bytes, "{left} of {bytes} bytes are left");
    let sections = Some(archive.sections.as_slice());
    for given in [None, sections] {
        let verified = auditlog::verify(&world.app, None, given).await.unwrap();
        assert!(verified.iter().all(auditlog::Verified::is_whole), "{verified:?}");
        assert_eq!(verified[0].verdict.archived, lines);
    }
}

/// The store's tables, past the store.
enum Tables {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Tables {
    async fn open(world: &World) -> Self {
        match &world.at {
            Location::Sqlite(path) => {
                let url = format!("sqlite://{}", path.display());
                Self::Sqlite(SqliteConnection::connect(&url).await.unwrap())
            }
            Location::Postgres(url) => {
                Self::Postgres(PgConnection::connect(url.expose()).await.unwrap())
            }
        }
    }

    /// The names of all tables, each with its number of rows.
    async fn rows(&mut self) -> Vec<(String, i64)> {
        let names = match self {
            Self::Sqlite(_) => {
                "SELECT name AS found FROM sqlite_master WHERE type = 'table' \
                 AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_sqlx_%'"
            }
            Self::Postgres(_) => {
                "SELECT tablename::text AS found FROM pg_tables \
                 WHERE schemaname = current_schema() AND tablename NOT LIKE '_sqlx_%' \
                 AND tablename <> 'metric_windows'"
            }
        };
        let mut rows = Vec::new();
        for name in self.texts(names).await {
            let count = self.number(&format!("SELECT COUNT(*) AS found FROM {name}")).await;
            rows.push((name, count));
        }
        rows
    }

    async fn audit_bytes(&mut self) -> i64 {
        let query = "SELECT CAST(SUM(LENGTH(event) + LENGTH(source) + LENGTH(user_email) + \
                     LENGTH(extras) + 300) AS BIGINT) AS found FROM audit";
        self.number(query).await
    }

    async fn texts(&mut self, query: &str) -> Vec<String> {
        let query = AssertSqlSafe(query.to_owned());
        match self {
            Self::Sqlite(it) => {
                let rows = sqlx::query(query).fetch_all(it).await.unwrap();
                rows.iter().map(|row| row.get("found")).collect()
            }
            Self::Postgres(it) => {
                let rows = sqlx::query(query).fetch_all(it).await.unwrap();
                rows.iter().map(|row| row.get("found")).collect()
            }
        }
    }

    async fn number(&mut self, query: &str) -> i64 {
        let query = AssertSqlSafe(query.to_owned());
        match self {
            Self::Sqlite(it) => sqlx::query(query).fetch_one(it).await.unwrap().get("found"),
            Self::Postgres(it) => sqlx::query(query).fetch_one(it).await.unwrap().get("found"),
        }
    }
}
