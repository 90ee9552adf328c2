//! Asking the brokers of a running cluster what they have in memory.

use crate::pass::Done;
use crate::world::World;
use crate::{Engine, PassError};

impl Engine {
    pub(super) async fn look(&self, world: &World) -> Result<Done, PassError> {
        match self.reach.look(world.instance.id, &world.server_rows()).await {
            Ok(look) => Ok(Done::Looked(Box::new(look))),
            Err(reach::Error::Kafka(error)) => Ok(Done::LookFailed(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}
