//! More servers and fewer, as the use cases write them.

use super::Rows;
use model::*;
use store::{NewAction, actions, disks, instances, resizes, servers};

impl Rows {
    /// So many servers from now on; as many as there are: a rebalance. False, and nothing is
    /// written, while something else goes on.
    pub async fn resize(&self, id: InstanceId, to: u32) -> bool {
        let now = self.clock.now();
        let mut work = self.store.begin().await.unwrap();
        let Some(instance) = instances::find(&mut work, id).await.unwrap() else { return false };
        let rows = servers::list_bare(&mut work, id).await.unwrap();
        let all_run = rows.iter().all(|server| !server.wanted.is_stopped());
        let is_free = actions::open(&mut work, id).await.unwrap().is_empty();
        if instance.deleted_at.is_some() || !instance.ready() || !all_run || !is_free {
            return false;
        }
        let from = u32::try_from(rows.len()).unwrap();
        let count = to.saturating_sub(from);
        let nodes = instances::take_node_ids(&mut work, id, count).await.unwrap();
        for (number, node_id) in (from + 1..).zip(nodes) {
            let server_id = ServerId(work.next("servers").await.unwrap());
            let membership = Membership::Joining;
            let server = self.new_server(server_id, id, number);
            let server = Server { membership, ..moved(server, node_id) };
            servers::insert(&mut work, &server).await.unwrap();
            let disk = Disk { founding: false, ..self.new_disk(id, server_id) };
            disks::insert(&mut work, &disk).await.unwrap();
        }
        for server in rows.iter().filter(|server| server.number > to) {
            let leaving = Membership::Leaving;
            servers::set_membership(&mut work, server.id, leaving).await.unwrap();
        }
        let generation = instances::set_size(&mut work, id, &instance.plan, to, now).await.unwrap();
        let kind = if from == to { ActionKind::Rebalance } else { ActionKind::Resize };
        let action = NewAction {
            instance_id: id,
            kind,
            servers: &[],
            asked_by: "a@acme.test",
            source: "cli".to_owned(),
            generation,
        };
        let action_id = actions::insert(&mut work, &action, now).await.unwrap();
        let resize = Resize { accept_single_copy: true, ..Resize::new(id, action_id, from, to) };
        resizes::begin(&mut work, &resize).await.unwrap();
        work.commit().await.unwrap();
        true
    }

    /// Cancels it, if that can still be. Whether it was.
    pub async fn undo_resize(&self, id: InstanceId) -> bool {
        let now = self.clock.now();
        let mut work = self.store.begin().await.unwrap();
        let Some(resize) = resizes::find(&mut work, id).await.unwrap() else { return false };
        let Some(instance) = instances::find(&mut work, id).await.unwrap() else { return false };
        if !resizes::undo(&mut work, id).await.unwrap() {
            return false;
        }
        instances::set_size(&mut work, id, &instance.plan, resize.from, now).await.unwrap();
        actions::cancel(&mut work, resize.action_id, now).await.unwrap();
        work.commit().await.unwrap();
        true
    }

    pub async fn open_actions(&self, id: InstanceId) -> Vec<Action> {
        actions::open(&mut self.store.reader(), id).await.unwrap()
    }

    pub async fn resize_of(&self, id: InstanceId) -> Option<Resize> {
        resizes::find(&mut self.store.reader(), id).await.unwrap()
    }
}

/// To addresses that no server had before.
fn moved(mut server: Server, node_id: i32) -> Server {
    let address = format!("127.64.{}.{node_id}", server.instance_id);
    let Listeners { plaintext, ssl, sasl_scram, internal, controller, metrics, .. } =
        &mut server.listeners;
    let others = plaintext.iter_mut().chain(metrics);
    for listener in others.chain([ssl, sasl_scram, internal, controller]) {
        listener.bind_host.clone_from(&address);
        listener.advertised_host.clone_from(&address);
    }
    Server { node_id, private_ip: address, ..server }
}
