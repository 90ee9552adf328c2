//! `castellan metrics plot`.

use super::number::with_unit;
use super::span::Span;
use super::{chart, number};
use crate::{Connection, OnInstance, complete, output};
use anyhow::bail;
use clap_complete::ArgValueCompleter;
use client::ReadMetrics;
use model::Timestamp;
use wire::metrics::{Metrics, SeriesValues};

#[derive(Debug, clap::Args)]
pub struct Plot {
    #[command(flatten)]
    on: OnInstance,
    /// What to draw; `castellan metrics list` shows all
    series: String,
    /// Of a series of topics, this topic alone
    #[arg(long, add = ArgValueCompleter::new(complete::topics))]
    topic: Option<String>,
    /// Of a series of consumer groups, this group alone
    #[arg(long, add = ArgValueCompleter::new(complete::groups))]
    group: Option<String>,
    /// Only this server; may be given several times
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,
    #[command(flatten)]
    span: Span,
    /// Characters from left to right
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(8..=500))]
    width: u16,
    /// Lines from top to bottom
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=100))]
    height: u16,
}

pub async fn run(options: &Plot, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let what = ReadMetrics {
        series: vec![options.series.clone()],
        topic: options.topic.clone(),
        group: options.group.clone(),
        from: Some(options.span.from()),
        ..<_>::default()
    };
    let mut metrics = connection.client.metrics(id, &what).await?;
    if !options.server.is_empty() {
        metrics.servers.retain(|server| options.server.contains(&server.server));
    }
    if connection.json {
        return output::print_json(&metrics);
    }
    if metrics.servers.iter().all(|server| server.series.is_empty()) {
        bail!("nothing was measured of {} in that time", options.series);
    }
    let (width, height) = (usize::from(options.width), usize::from(options.height));
    output::print_line(&picture(&metrics, width, height))
}

/// A chart for each server, one below the other.
fn picture(metrics: &Metrics, width: usize, height: usize) -> String {
    let mut lines = Vec::new();
    for server in &metrics.servers {
        for series in &server.series {
            lines.push(title(&server.server, series));
            lines.extend(chart::draw(&series.values, width, height));
            lines.push(chart::axis(&clock(metrics.from), &clock(metrics.to), width));
            lines.push(String::new());
        }
    }
    lines.pop();
    lines.join("\n")
}

fn title(server: &str, series: &SeriesValues) -> String {
    let of = series.topic.as_ref().or(series.group.as_ref());
    let of = of.map(|name| format!(" of {name}")).unwrap_or_default();
    let last = series.values.iter().flatten().last();
    let last = last.map(|value| with_unit(f64::from(*value), &series.unit));
    let last = last.unwrap_or_else(|| number::short(0.0));
    format!("{server}  {}{of}  now {last}", series.name)
}

/// Times are UTC, as everywhere.
fn clock(at: i64) -> String {
    let at = Timestamp::from_second(at).unwrap_or_default();
    at.strftime("%m-%d %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::metrics::ServerMetrics;

    #[test]
    fn every_server_has_its_chart() {
        let series = |values: &[f32]| SeriesValues {
            name: "cpu_percent".into(),
            unit: "%".into(),
            topic: None,
            group: None,
            values: values.iter().copied().map(Some).collect(),
        };
        let server = |name: &str, values: &[f32]| ServerMetrics {
            server: name.into(),
            series: vec![series(values)],
        };
        let metrics = Metrics {
            from: 1_794_744_000,
            to: 1_794_747_600,
            step: 900,
            servers: vec![server("a-01", &[0.0, 10.0, 20.0, 30.0]), server("a-02", &[5.0; 4])],
        };
        let drawn = picture(&metrics, 24, 2);
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines.len(), 9, "{drawn}");
        assert_eq!(lines[0], "a-01  cpu_percent  now 30%");
        assert_eq!(lines[3], "          11-15 12:00  11-15 13:00");
        assert_eq!(lines[4], "");
        assert_eq!(lines[5], "a-02  cpu_percent  now 5%");
    }
}
