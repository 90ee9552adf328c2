//! `castellan team remove`.

use crate::{Connection, output};
use wire::team::RemovedMember;

#[derive(Debug, clap::Args)]
pub struct Remove {
    /// A member, or somebody who was invited
    pub email: String,
}

pub async fn run(options: &Remove, connection: &Connection) -> anyhow::Result<()> {
    let removed = connection.client.remove_member(&options.email).await?;
    if connection.json {
        return output::print_json(&removed);
    }
    for line in lines(&removed) {
        output::print_line(&line)?;
    }
    Ok(())
}

fn lines(removed: &RemovedMember) -> Vec<String> {
    let mut lines = vec![removed.message.clone()];
    if !removed.instances_to_rotate.is_empty() {
        lines.push("They could read the key and the password of these; rotate both:".into());
    }
    for instance in &removed.instances_to_rotate {
        let (id, name) = (instance.id, &instance.name);
        lines.push(format!(
            "  castellan instance rotate-apikey {id} && castellan instance rotate-password {id}   \
             # {name:?}"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::team::InstanceToRotate;

    #[test]
    fn what_a_member_could_read_is_printed_with_the_commands_to_rotate_it() {
        let to_rotate = vec![InstanceToRotate { id: 7, name: "orders\nrm -rf".into() }];
        let message = "ada@x.io was deleted from the team".to_owned();
        let removed = RemovedMember { message: message.clone(), instances_to_rotate: to_rotate };
        let printed = lines(&removed);
        assert_eq!(printed.len(), 3);
        let expected =
            "  castellan instance rotate-apikey 7 && castellan instance rotate-password 7";
        assert!(printed[2].starts_with(expected) && !printed[2].contains('\n'), "{}", printed[2]);
        let nothing = RemovedMember { instances_to_rotate: vec![], ..removed };
        assert_eq!(lines(&nothing), [message]);
    }
}
