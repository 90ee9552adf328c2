//! The command and its file, on a store of its own.

use super::*;
use crate::testing::TestInstallation;
use model::{Account, SystemClock, UserId};
use std::os::unix::fs::PermissionsExt as _;
use store::AuditLine;

struct Scene {
    here: TestInstallation,
    account: AccountId,
    args: ArchiveArgs,
    file: PathBuf,
}

impl Scene {
    /// An account with three lines of January 2020 and two of February, sealed.
    async fn new() -> Self {
        let here = TestInstallation::make(None).await;
        let account = here.app.entropy().uuid();
        let account = Account {
            id: AccountId(account),
            name: "Old".into(),
            email: "old@x.test".into(),
            created_at: time("2020-01"),
        };
        let owner = model::User {
            id: UserId(here.app.entropy().uuid()),
            account_id: account.id,
            email: account.email.clone(),
            name: String::new(),
            tfa_enabled: false,
            role: model::Role::Admin,
            tags: model::Tags::default(),
            created_at: account.created_at,
        };
        let id = account.id;
        let mut work = here.store().begin().await.unwrap();
        let new = store::NewAccount { account, owner };
        store::accounts::insert(&mut work, &new).await.unwrap();
        for (n, month) in ["2020-01", "2020-01", "2020-01", "2020-02", "2020-02"].iter().enumerate()
        {
            let line = AuditLine {
                account_id: id,
                at: time(month),
                event: "instance.update".into(),
                source: "cli".into(),
                user: "old@x.test".into(),
                extras: format!("n={n}"),
            };
            store::audit::insert(&mut work, &line).await.unwrap();
        }
        work.commit().await.unwrap();
        let file = here.data.path().with_file_name("january.jsonl");
        let before = "2020-02".parse().unwrap();
        let args = ArchiveArgs { before, out: Some(file.clone()), account: None };
        Self { here, account: id, args, file }
    }

    async fn archive(&self) -> Result<Vec<Archived>> {
        archive(&self.here.app, &self.args).await.map(|moved| moved.accounts)
    }

    /// What the account's log says, and whether it is whole with these archives.
    async fn log(&self, archives: &[&Path]) -> (Vec<String>, bool) {
        let lines =
            store::audit::list(&mut self.here.store().reader(), self.account).await.unwrap();
        let mut sections = Vec::new();
        for file in archives {
            sections.extend(read(&self.here.app, file).unwrap().archive.sections);
        }
        let given = (!archives.is_empty()).then_some(sections.as_slice());
        let verified = auditlog::verify(&self.here.app, Some(self.account), given).await.unwrap();
        let said = lines.iter().map(|line| format!("{} {}", line.event, line.extras)).collect();
        (said, verified[0].is_whole())
    }
}

fn time(month: &str) -> model::Timestamp {
    month.parse::<Month>().unwrap().start()
}

const LEFT: [&str; 2] = ["instance.update n=3", "instance.update n=4"];

#[tokio::test]
async fn old_lines_are_in_the_file_and_no_longer_in_the_store() {
    let scene = Scene::new().await;
    let moved = scene.archive().await.unwrap();
    assert_eq!(moved, [Archived { account_id: scene.account, lines: 3 }]);
    let text = fs::read_to_string(&scene.file).unwrap();
    assert_eq!(text.lines().count(), 2 + 3);
    assert!(text.lines().nth(2).unwrap().contains("\"extras\":\"n=0\""), "{text}");
    let mode = fs::metadata(&scene.file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (lines, whole) = scene.log(&[&scene.file]).await;
    assert!(whole);
    assert_eq!(lines[..2], LEFT);
    let sum = read(&scene.here.app, &scene.file).unwrap().sha256;
    let expected =
        format!("audit.archive before=2020-02; lines=3; file=january.jsonl; sha256={sum}");
    assert_eq!(lines[2..], [expected]);
    // The same again finds its file and changes nothing.
    assert_eq!(scene.archive().await.unwrap(), []);
    assert_eq!(scene.log(&[]).await, (lines, true));
    assert_eq!(fs::read_to_string(&scene.file).unwrap(), text);
}

#[tokio::test]
async fn a_command_that_ended_half_way_goes_on_with_its_file() {
    let scene = Scene::new().await;
    // It ended while it wrote.
    fs::write(half_of(&scene.file), "half").unwrap();
    assert!(write(&scene.here.app, &scene.args, &scene.file).await.unwrap());
    let (lines, whole) = scene.log(&[&scene.file]).await;
    assert_eq!((lines.len(), whole), (5, true), "it ended before it pruned");
    let moved = scene.archive().await.unwrap();
    assert_eq!(moved[0].lines, 3);
    assert!(!half_of(&scene.file).exists());
    let (lines, whole) = scene.log(&[&scene.file]).await;
    assert_eq!((lines.len(), whole), (3, true));
}

#[tokio::test]
async fn nothing_leaves_the_store_for_a_file_that_does_not_hold_it() {
    let mut scene = Scene::new().await;
    let check = async |scene: &Scene, expected: &str| {
        let error = format!("{:#}", scene.archive().await.unwrap_err());
        assert!(error.contains(expected), "{error}");
        let (lines, whole) = scene.log(&[]).await;
        assert_eq!((lines.len(), whole), (5, true), "{error}");
    };
    fs::write(&scene.file, "something else\n").unwrap();
    check(&scene, "no archive of an audit log").await;
    fs::write(&scene.file, [0xff, 0xfe, b'\n']).unwrap();
    check(&scene, "no archive of an audit log").await;
    fs::remove_file(&scene.file).unwrap();
    assert!(write(&scene.here.app, &scene.args, &scene.file).await.unwrap());
    let text = fs::read_to_string(&scene.file).unwrap();
    fs::write(&scene.file, text.replace("n=1", "n=7")).unwrap();
    check(&scene, "was changed after it was written").await;
    fs::write(&scene.file, &text[..text.len() - 40]).unwrap();
    check(&scene, "can't be read").await;
    fs::write(&scene.file, &text).unwrap();
    scene.args.before = "2020-03".parse().unwrap();
    check(&scene, "is an archive of the lines before 2020-02").await;
    scene.args.before = Month::containing(model::Clock::now(&SystemClock)).next();
    check(&scene, "has not begun yet").await;
    // Nothing is as old, so there is no file.
    scene.args.before = "2020-01".parse().unwrap();
    scene.args.out = Some(scene.file.with_file_name("none.jsonl"));
    assert_eq!(scene.archive().await.unwrap(), []);
    assert!(!scene.file.with_file_name("none.jsonl").exists());
}
