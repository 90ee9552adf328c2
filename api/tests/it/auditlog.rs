//! The audit log as CSV, with everything that a caller may put into it.

use crate::call::{Answer, Call};
use crate::world::World;
use model::{Clock as _, Month, Role, Timestamp};
use store::AuditLine;

async fn get(world: &World, query: &str) -> Answer {
    let path = format!("/api/auditlog/csv{query}");
    Call::get(&path).key(&world.key).send(&world.customer).await
}

fn advance_to(world: &World, time: &str) {
    let time: Timestamp = time.parse().unwrap();
    world.clock.advance(time.duration_since(world.clock.now()));
}

/// What a reader of CSV makes of it, without the header.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    assert_eq!(
        reader.headers().unwrap(),
        ["Timestamp", "Event", "Source", "User", "Extras"].as_slice()
    );
    reader.records().map(|row| row.unwrap().iter().map(Into::into).collect()).collect()
}

#[tokio::test]
async fn every_change_is_a_line_and_every_month_a_file() {
    let world = World::new().await;
    let instance = world.create("orders", &["prod"]).await;
    let path = format!("/api/instances/{}", instance.id);
    for (call, body) in [
        (Call::put(&path), "name=orders-2&tags=a,b"),
        (Call::post(&format!("{path}/actions/cluster-stop")), ""),
        (Call::post(&format!("{path}/actions/cluster-start")), ""),
    ] {
        world.clock.advance(model::SignedDuration::from_secs(61));
        let call = call.key(&world.key).peer("[2001:db8::7]:4711");
        let answer = if body.is_empty() { call } else { call.form(body) };
        assert_eq!(answer.send(&world.customer).await.status, 200);
    }
    // The same again changes nothing, and so leaves no line.
    let again = Call::put(&path).key(&world.key).form("name=orders-2");
    assert_eq!(again.send(&world.customer).await.status, 200);
    advance_to(&world, "2026-11-30T23:59:59.999Z");
    assert_eq!(Call::delete(&path).key(&world.key).send(&world.customer).await.status, 204);
    let november = get(&world, "?timestamp=2026-11").await;
    assert_eq!(november.header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(november.header("cache-control"), "no-cache");
    assert_eq!(get(&world, "").await.text, november.text, "the latest month");
    world.issue_month().await;
    let december = get(&world, "").await;
    assert_eq!(december.text, get(&world, "?timestamp=2026-12").await.text);
    insta::assert_snapshot!("november", november.shown(&[]));
    insta::assert_snapshot!("december", december.shown(&[]));
    assert!(november.text.lines().all(|line| !line.contains("invoice")));
    assert!(november.text.split_inclusive('\n').all(|line| line.ends_with("\r\n")));
    let header = "Timestamp,Event,Source,User,Extras\r\n";
    for other in ["2026-10", "2027-01", "0001-01", "9999-12"] {
        assert_eq!(get(&world, &format!("?timestamp={other}")).await.text, header);
    }
}

#[tokio::test]
async fn hostile_texts_stay_texts() {
    let world = World::new().await;
    let hostile = [
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-2+3",
        "@SUM(1+9)*cmd",
        "x\",\"y",
        "a; id=1; role=admin",
        "<script>alert(1)</script>",
        "'; DROP TABLE audit; --",
        "☃ \u{202e}txt.exe",
    ];
    let mut made = Vec::new();
    for name in hostile {
        let instance = world.create(name, &[name.replace(',', "").as_str()]).await;
        made.push(instance.id.to_string());
    }
    let text = get(&world, "").await.text;
    let rows = rows(&text);
    assert_eq!(rows.len(), 1 + hostile.len());
    insta::assert_snapshot!("hostile", text.replace('\r', ""));

    // Lines as other doors may write them: in any column, with any character.
    let mut work = world.app.store().begin().await.unwrap();
    let at = world.clock.now() + model::SignedDuration::from_secs(1);
    let nasty = "\t=1\r\nnext,\"row\"\u{0}\u{1b}[31m\u{85}\u{7f}";
    let line = AuditLine {
        account_id: world.account,
        at,
        event: format!("-{nasty}"),
        source: format!("\r{nasty}"),
        user: format!("=HYPERLINK(\"http://evil\")@{nasty}"),
        extras: nasty.into(),
    };
    // PostgreSQL takes no NUL.
    let whole = |text: &str| text.replace('\0', "");
    let line = AuditLine {
        event: whole(&line.event),
        source: whole(&line.source),
        user: whole(&line.user),
        extras: whole(&line.extras),
        ..line
    };
    store::audit::insert(&mut work, &line).await.unwrap();
    work.commit().await.unwrap();
    let text = get(&world, "").await.text;
    let last = crate::auditlog::rows(&text).pop().unwrap();
    assert_eq!(
        last[1..],
        [
            "'-=1next,\"row\"[31m",
            "'=1next,\"row\"[31m",
            "'=HYPERLINK(\"http://evil\")@=1next,\"row\"[31m",
            "'=1next,\"row\"[31m",
        ]
    );
    assert!(!text.contains(|c: char| c.is_control() && c != '\r' && c != '\n'));
}

#[tokio::test]
async fn what_is_no_month_is_refused_by_name() {
    let world = World::new().await;
    let mut shown = Vec::new();
    for query in [
        "timestamp=2026",
        "timestamp=2026-13",
        "timestamp=2026-1",
        "timestamp=2026-11-15",
        "timestamp=1794744000",
        "timestamp=now",
        "timestamp=%00",
        "timestamp=%FF",
        "timestamp=2026-11&timestamp=2026-12",
        "timestamp[]=2026-11",
        "timestamp=2026%2F11",
    ] {
        let answer = get(&world, &format!("?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
        assert_eq!(answer.header("content-type"), "application/json");
        shown.push(format!("{query}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_timestamps", shown.join("\n"));
    for role in [Role::Member, Role::Monitor, Role::BillingManager] {
        let key = world.member(role, &[]).await;
        let call = Call::get("/api/auditlog/csv?timestamp=x").key(&key);
        let answer = call.send(&world.customer).await;
        answer.expect_error(403, "This needs one of the roles admin or devops");
    }
}

#[tokio::test]
async fn an_account_sees_its_own_lines_alone() {
    let world = World::new().await;
    world.create("orders", &[]).await;
    let stranger = world.stranger().await;
    let call = Call::get("/api/auditlog/csv").key(&stranger);
    let own = call.send(&world.customer).await;
    assert_eq!(rows(&own.text).len(), 1, "its own key alone: {}", own.text);
    let head = Call::new("HEAD", "/api/auditlog/csv").key(&world.key).send(&world.customer).await;
    assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""));
    assert_eq!(head.header("content-type"), "text/csv; charset=utf-8");
}

#[tokio::test]
async fn a_large_month_comes_whole_and_in_order() {
    let world = World::new().await;
    let mut work = world.app.store().begin().await.unwrap();
    let november: Month = "2026-11".parse().unwrap();
    for n in 0..2500_i64 {
        let line = AuditLine {
            account_id: world.account,
            // Several at each moment, and not written in the order of time.
            at: november.start() + model::SignedDuration::from_secs((2499 - n) / 7),
            event: "instance.update".into(),
            source: "cli".into(),
            user: "a@example.test".into(),
            extras: format!("n={n}"),
        };
        store::audit::insert(&mut work, &line).await.unwrap();
    }
    work.commit().await.unwrap();
    let answer = get(&world, "?timestamp=2026-11").await;
    let rows = rows(&answer.text);
    assert_eq!(rows.len(), 2501);
    assert!(rows.is_sorted_by(|a, b| a[0] <= b[0]));
    let mut numbers: Vec<&str> = rows[..2500].iter().map(|row| row[4].as_str()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 2500);
    assert_eq!(rows[0][4], "n=2493", "oldest first, then as written");
}
