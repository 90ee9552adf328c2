//! Marks come and go, and another process's turn is waited for.

use super::*;
use host::Spawn;

struct Place {
    directory: tempfile::TempDir,
    fences: Fences,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::make(directory.path()).unwrap();
        planes::register(&layout).unwrap();
        let fences = Fences::open(&layout).unwrap();
        Self { directory, fences }
    }

    fn marks(&self) -> usize {
        fs::read_dir(self.directory.path().join("fences")).unwrap().count()
    }

    /// A control plane that lives until it is killed.
    fn another(&self) -> ProcessId {
        let spawn = Spawn {
            program: "/bin/sleep".into(),
            arguments: vec!["1000".into()],
            environment: vec![],
            directory: self.directory.path().into(),
            output: "/dev/null".into(),
        };
        let (process, ended) = spawn.start().unwrap();
        tokio::spawn(ended);
        process.save(&self.directory.path().join("planes/other")).unwrap();
        process
    }

    async fn end(&self, instance: i64) {
        let by = owner(instance, 1);
        let leave = self.fences.enter(&by, Kind::Remove).await.unwrap();
        self.fences.retire(&leave, &by).unwrap();
    }
}

fn owner(instance: i64, lease: i64) -> Owner {
    Owner { instance_id: InstanceId(instance), epoch: Epoch { store: 1, lease } }
}

#[tokio::test]
async fn alone_on_the_host_nothing_is_kept() {
    let place = Place::new();
    drop(place.fences.enter(&owner(7, 1), Kind::Make).await.unwrap());
    assert_eq!(place.marks(), 1);
    place.end(7).await;
    assert_eq!(place.marks(), 0);
    drop(place.fences.enter(&owner(8, 5), Kind::Make).await.unwrap());
    let again = Fences::open(&Layout::of(place.directory.path()).unwrap()).unwrap();
    assert_eq!(place.marks(), 0, "whoever starts alone has nobody to keep out");
    drop(again.enter(&owner(8, 1), Kind::Make).await.unwrap());
}

#[tokio::test]
async fn a_mark_stays_while_one_lives_that_it_keeps_out() {
    let place = Place::new();
    let other = place.another();
    place.end(7).await;
    place.end(8).await;
    assert_eq!(place.marks(), 2);
    let late = place.fences.enter(&owner(7, 0), Kind::Make).await.unwrap_err();
    assert!(matches!(late, LocalError::Fenced(_)), "{late}");
    let again = Fences::open(&Layout::of(place.directory.path()).unwrap()).unwrap();
    assert_eq!(place.marks(), 2, "it is not alone");
    drop(again);

    let watch = other.watch().unwrap();
    other.kill();
    watch.ended().await;
    place.end(9).await;
    assert_eq!(place.marks(), 0, "nobody can be late any more");
}

#[tokio::test]
async fn effects_for_one_instance_take_turns_and_others_go_on() {
    let place = Place::new();
    let leave = place.fences.enter(&owner(7, 1), Kind::Make).await.unwrap();
    let (by, neighbour) = (owner(7, 1), owner(8, 1));
    let mut second = std::pin::pin!(place.fences.enter(&by, Kind::Make));
    tokio::select! {
        biased;
        _ = &mut second => panic!("two at once"),
        other = place.fences.enter(&neighbour, Kind::Make) => drop(other.unwrap()),
    }
    drop(leave);
    second.await.unwrap();
}

/// As a process that is stopped in the middle of an effect.
#[tokio::test]
async fn who_holds_an_instance_is_named() {
    let place = Place::new();
    drop(place.fences.enter(&owner(7, 1), Kind::Make).await.unwrap());
    let held = open(&place.directory.path().join("fences/7")).unwrap();
    held.lock().unwrap();
    let refused = place.fences.enter(&owner(7, 2), Kind::Make).await.unwrap_err();
    let expected = format!("process {}", std::process::id());
    assert!(refused.to_string().contains(&expected), "{refused}");
    // Its file is removed, as when its instance is gone, and it lets go.
    fs::remove_file(place.directory.path().join("fences/7")).unwrap();
    held.unlock().unwrap();
    place.fences.enter(&owner(7, 2), Kind::Make).await.unwrap();
}

#[tokio::test]
async fn a_line_is_whole_whatever_was_there_before() {
    let place = Place::new();
    let by = owner(7, 1);
    let leave = place.fences.enter(&by, Kind::Remove).await.unwrap();
    let long: Vec<ProcessId> = (0..20).map(|_| ProcessId::own()).collect();
    write(&leave.file, &by, Some(long)).unwrap();
    leave.file.write_all_at(b"{\"store\":1,\"lease\":2,\"pid\":3}\n", 0).unwrap();
    assert_eq!(
        read(&leave.file).unwrap().mark(),
        Mark { epoch: owner(7, 2).epoch, retired: false }
    );
}
