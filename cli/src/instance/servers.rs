//! Servers as people call them: by name, or by the number that sentences use.

use crate::Connection;

/// Their names. The API takes nothing else, and says which there are.
pub async fn names(
    given: &[String],
    id: i64,
    connection: &Connection,
) -> anyhow::Result<Vec<String>> {
    if given.iter().all(|it| number(it).is_none()) {
        return Ok(given.to_vec());
    }
    let nodes = connection.client.nodes(id).await?;
    let names: Vec<String> = nodes.into_iter().map(|node| node.name).collect();
    Ok(given.iter().map(|it| name(it, &names)).collect())
}

/// What is neither a name nor a number of theirs stays as it is.
fn name(given: &str, names: &[String]) -> String {
    let is_it = |name: &&String| {
        let end = name.rsplit_once('-').and_then(|(_, end)| number(end));
        end.is_some() && end == number(given)
    };
    names.iter().find(is_it).map_or(given, String::as_str).to_owned()
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_goes_by_its_number_too() {
        let names = ["u7k2m9qa-01", "u7k2m9qa-02", "u7k2m9qa-12"].map(String::from);
        let check = |given: &str, expected: &str| assert_eq!(name(given, &names), expected);
        check("2", "u7k2m9qa-02");
        check("02", "u7k2m9qa-02");
        check("12", "u7k2m9qa-12");
        check("3", "3");
        check("u7k2m9qa-01", "u7k2m9qa-01");
        check("other", "other");
    }
}
