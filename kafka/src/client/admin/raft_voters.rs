//! Controllers that vote: AddRaftVoter and RemoveRaftVoter. The broker asked must be beside the
//! quorum's leader.

use super::text;
use crate::client::error::check;
use crate::client::{Call, Connection, Error, NewVoter};
use kafka_protocol::messages::add_raft_voter_request::Listener;
use kafka_protocol::messages::{AddRaftVoterRequest, RemoveRaftVoterRequest};
use kafka_protocol::protocol::StrBytes;
use uuid::Uuid;

/// As the rendered configuration calls it.
const LISTENER: &str = "CONTROLLER";

pub struct AddVoter<'a> {
    pub voter: &'a NewVoter,
}

impl Call for AddVoter<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let NewVoter { id, directory, controller } = self.voter;
        let listener = Listener::default()
            .with_name(StrBytes::from_static_str(LISTENER))
            .with_host(text(&controller.host))
            .with_port(controller.port);
        // The leader gives up before we do, so that it can say why.
        let patience = connection.timeout_ms() / 2;
        let request = AddRaftVoterRequest::default()
            .with_cluster_id(None)
            .with_timeout_ms(patience)
            .with_voter_id(*id)
            .with_voter_directory_id(*directory)
            .with_listeners(vec![listener]);
        let answer = connection.call(&request).await?;
        let subject = subject(*id, *directory);
        check("AddRaftVoter", &subject, answer.error_code, answer.error_message.as_ref())
    }

    /// The next broker would say that it is a voter already.
    fn is_repeatable(&self) -> bool {
        false
    }
}

pub struct RemoveVoter {
    pub id: i32,
    pub directory: Uuid,
}

impl Call for RemoveVoter {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let request = RemoveRaftVoterRequest::default()
            .with_cluster_id(None)
            .with_voter_id(self.id)
            .with_voter_directory_id(self.directory);
        let answer = connection.call(&request).await?;
        let subject = subject(self.id, self.directory);
        check("RemoveRaftVoter", &subject, answer.error_code, answer.error_message.as_ref())
    }

    fn is_repeatable(&self) -> bool {
        false
    }
}

fn subject(id: i32, directory: Uuid) -> String {
    format!("controller {id} with directory {directory}")
}
