//! Amazon's CloudWatch: PutMetricData in the Query protocol, which every region, every proxy and
//! every stand-in of it speaks.

use crate::about::{Instance, Point};
use crate::aws::{FORM, Service, meaning_in_xml};
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::drive::{HttpDialect, Meaning};
use crate::endpoints::Endpoints;
use crate::text::fitting;
use egress::{Answer, HttpRequest};
use model::{IntegrationConfig, SignedDuration, Timestamp};
use std::io::Write as _;
use url::form_urlencoded::byte_serialize;

const NAMESPACE: &str = "Castellan/Kafka";

pub struct Points {
    service: Service,
    instance: String,
}

impl Points {
    pub fn new(
        endpoints: &Endpoints,
        config: &IntegrationConfig,
        instance: &Instance,
    ) -> Option<Self> {
        let service = Service::new("monitoring", &endpoints.cloudwatch, config)?;
        Some(Self { service, instance: dimension(&instance.label()) })
    }
}

/// ASCII without control characters.
fn dimension(text: &str) -> String {
    fitting(text, |c| matches!(c, ' '..='~'), 255)
}

fn unit(unit: &str) -> &'static str {
    match unit {
        "%" => "Percent",
        "B" => "Bytes",
        "B/s" => "Bytes/Second",
        "1/s" => "Count/Second",
        "ms" => "Milliseconds",
        "s" => "Seconds",
        "partitions" | "connections" | "topics" | "groups" | "messages" | "destinations" => "Count",
        _ => "None",
    }
}

impl Dialect<Point> for Points {
    /// It takes 1 MB. Points of the future are refused as logs are.
    fn limits(&self) -> Limits {
        Limits {
            items: 1000,
            oldest: Some(SignedDuration::from_hours(14 * 24)),
            newest: Some(SignedDuration::from_hours(2)),
            ..Limits::default()
        }
    }

    fn frame(&self) -> Frame {
        let namespace: String = byte_serialize(NAMESPACE.as_bytes()).collect();
        let open = format!("Action=PutMetricData&Version=2010-08-01&Namespace={namespace}");
        Frame { open: open.into_bytes(), ..Frame::default() }
    }

    fn write(&self, point: &Point, spot: Spot, out: &mut Vec<u8>) {
        let number = spot.number;
        let mut add = |name: &str, value: &str| {
            let value: String = byte_serialize(value.as_bytes()).collect();
            write!(out, "&MetricData.member.{number}.{name}={value}")
                .expect("memory takes everything");
        };
        add("MetricName", &point.name);
        add("Unit", unit(point.unit));
        add("Timestamp", &format!("{:.0}", point.at));
        add("Value", &point.value.to_string());
        let server = dimension(&point.server.name);
        let label = point.label.as_ref().map(|(name, value)| match *name {
            "topic" => ("Topic", dimension(value)),
            "group" => ("Group", dimension(value)),
            _ => ("Of", dimension(value)),
        });
        let dimensions = [("Instance", self.instance.clone()), ("Server", server)];
        for (at, (name, value)) in dimensions.into_iter().chain(label).enumerate() {
            add(&format!("Dimensions.member.{}.Name", at + 1), name);
            add(&format!("Dimensions.member.{}.Value", at + 1), &value);
        }
    }
}

impl HttpDialect<Point> for Points {
    fn is_compressed(&self) -> bool {
        true
    }

    fn key(&self) -> &'static str {
        "access key"
    }

    fn request(&self, body: Vec<u8>, now: Timestamp) -> Option<HttpRequest> {
        self.service.request(&[FORM], body, now)
    }

    fn meaning(&self, answer: &Answer, _: usize) -> Meaning {
        meaning_in_xml(answer)
    }
}
