//! `castellan metrics list`.

use crate::{Connection, output};
use model::{GroupSeries, Series, TopicSeries};
use serde_json::json;

pub fn run(connection: &Connection) -> anyhow::Result<()> {
    let servers = Series::ALL.iter().map(|series| [series.as_str(), series.unit(), "server"]);
    let topics = TopicSeries::ALL.iter().map(|series| [series.as_str(), series.unit(), "topic"]);
    let groups = GroupSeries::ALL.iter().map(|series| [series.as_str(), series.unit(), "group"]);
    let all: Vec<[&str; 3]> = servers.chain(topics).chain(groups).collect();
    if connection.json {
        let document = |[name, unit, of]: &[&str; 3]| json!({"name": name, "unit": unit, "of": of});
        return output::print_json(&all.iter().map(document).collect::<Vec<_>>());
    }
    let rows = all.into_iter().map(|row| row.map(str::to_owned));
    output::print_table(&output::table(["SERIES", "UNIT", "OF"], rows))
}
