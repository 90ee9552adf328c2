//! `castellan metrics show`.

use super::number::with_unit;
use super::span::Span;
use crate::{Connection, OnInstance, complete, output};
use clap_complete::ArgValueCompleter;
use client::ReadMetrics;
use wire::metrics::{Metrics, SeriesValues};

#[derive(Debug, clap::Args)]
pub struct Show {
    #[command(flatten)]
    on: OnInstance,
    /// Only this series; may be given several times
    #[arg(long, value_name = "NAME")]
    series: Vec<String>,
    /// Of series of topics, this topic alone
    #[arg(long, add = ArgValueCompleter::new(complete::topics))]
    topic: Option<String>,
    /// Of series of consumer groups, this group alone
    #[arg(long, add = ArgValueCompleter::new(complete::groups))]
    group: Option<String>,
    #[command(flatten)]
    span: Span,
}

pub async fn run(options: &Show, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let what = ReadMetrics {
        series: options.series.clone(),
        topic: options.topic.clone(),
        group: options.group.clone(),
        from: Some(options.span.from()),
        ..<_>::default()
    };
    let metrics = connection.client.metrics(id, &what).await?;
    if connection.json {
        return output::print_json(&metrics);
    }
    let headings = ["SERVER", "SERIES", "LAST", "AVERAGE", "MAX"];
    output::print_table(&output::table(headings, rows(&metrics)))
}

fn rows(metrics: &Metrics) -> Vec<[String; 5]> {
    let mut rows = Vec::new();
    for server in &metrics.servers {
        rows.extend(server.series.iter().map(|series| row(&server.server, series)));
    }
    rows
}

fn row(server: &str, series: &SeriesValues) -> [String; 5] {
    let known = || series.values.iter().flatten().map(|value| f64::from(*value));
    let count = u32::try_from(known().count()).unwrap_or(u32::MAX);
    let shown = |value: Option<f64>| {
        value.map_or_else(|| "-".to_owned(), |value| with_unit(value, &series.unit))
    };
    let average = (count > 0).then(|| known().sum::<f64>() / f64::from(count));
    let name = match series.topic.as_ref().or(series.group.as_ref()) {
        Some(of) => format!("{} {of}", series.name),
        None => series.name.clone(),
    };
    let most = known().reduce(f64::max);
    [server.to_owned(), name, shown(known().next_back()), shown(average), shown(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_last_average_and_highest() {
        let check = |values: &[Option<f32>], expected: [&str; 5]| {
            let series = SeriesValues {
                name: "cpu_percent".into(),
                unit: "%".into(),
                topic: None,
                group: None,
                values: values.to_vec(),
            };
            assert_eq!(row("a-01", &series), expected);
        };
        let values = [Some(10.0), None, Some(40.0), Some(25.0), None];
        check(&values, ["a-01", "cpu_percent", "25%", "25%", "40%"]);
        check(&[None], ["a-01", "cpu_percent", "-", "-", "-"]);
    }
}
