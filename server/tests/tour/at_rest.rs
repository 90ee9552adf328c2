//! A cluster at rest, as its own metrics tell: nothing that went wrong before is
//! still on its way.

use crate::SERVERS;
use serde_json::Value;
use test_support::installation::Installation;

/// The last sample of every server, as Prometheus would scrape it.
pub struct Latest(String);

impl Latest {
    async fn read(castellan: &Installation, id: i64) -> Self {
        let (status, text) =
            castellan.get(&format!("/api/instances/{id}/metrics/prometheus")).await;
        assert_eq!(status, 200, "{text}");
        Self(text.as_str().unwrap().to_owned())
    }

    /// One series, by server; those that did not measure it are left out.
    pub fn of(&self, series: &str) -> Vec<f64> {
        let start = format!("castellan_{series}{{server=\"");
        let value = |line: &str| {
            let (_, value) = line.strip_prefix(&start)?.split_once("\"} ")?;
            value.parse().ok()
        };
        self.0.lines().filter_map(value).collect()
    }

    /// Every broker answers its agent and has all copies that it shall have.
    fn is_at_rest(&self) -> bool {
        let all = |series: &str, is_well: fn(f64) -> bool| {
            let values = self.of(series);
            values.len() == SERVERS && values.into_iter().all(is_well)
        };
        all("partitions", |count| count >= 0.0)
            && all("under_replicated_partitions", |count| count < 1.0)
            && all("memory_percent", |percent| percent > 0.0)
            && all("disk_free_bytes", |bytes| bytes > 0.0)
    }
}

/// Waits until it is so, and says what was measured then.
pub async fn until_at_rest(castellan: &Installation, instance: &Value) -> Latest {
    let id = instance["id"].as_i64().unwrap();
    castellan.until_running(id).await;
    castellan
        .until("the cluster is at rest", async || {
            let latest = Latest::read(castellan, id).await;
            if latest.is_at_rest() { Ok(latest) } else { Err(latest.0) }
        })
        .await
}
