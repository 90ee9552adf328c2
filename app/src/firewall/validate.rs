//! Rules as they are asked for, and what becomes of them. Pure.

use crate::error::ErrorCode;
use crate::{Asked, Error, Problems, Result};
use model::{
    Firewall, FirewallRule, MOST_FIREWALL_RULES, RuleDescription, Service, SourceRange, Subnet,
};

/// The body of a call, and the name of its one field in a form.
const RULES: &str = "rules";

/// A rule, as sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AskedRule {
    pub ip: Option<String>,
    pub services: Vec<String>,
    pub ports: Vec<i64>,
    pub description: Option<String>,
}

/// A rule whose fields are good each by itself.
struct Checked {
    rule: FirewallRule,
    /// It named services, all of which were those of other products of the family.
    names_others_alone: bool,
}

impl Checked {
    fn is_empty(&self) -> bool {
        self.rule.opens().is_empty()
    }

    /// What clients of the family send as their default.
    fn is_default_of_others(&self) -> bool {
        self.is_empty() && self.names_others_alone && self.rule.ip == SourceRange::anywhere()
    }
}

/// The rules for an instance in a network of that range.
pub(super) fn validate(asked: Asked<Option<Vec<AskedRule>>>, vpc: Subnet) -> Result<Firewall> {
    let (asked, mut problems) = asked.open()?;
    let asked = problems.required(RULES, asked).unwrap_or_default();
    if asked.len() > MOST_FIREWALL_RULES {
        return Err(Error::field(RULES, format!("must be at most {MOST_FIREWALL_RULES} rules")));
    }
    let checked = asked.into_iter().enumerate().map(|(number, rule)| {
        problems.within(RULES, number, |problems| check(problems, rule, vpc))
    });
    let checked: Vec<Option<Checked>> = checked.collect();
    problems.finish()?;
    let checked: Vec<Checked> = checked.into_iter().flatten().collect();
    if let [only] = checked.as_slice()
        && only.is_default_of_others()
    {
        return Ok(Firewall::default());
    }
    if let Some(number) = checked.iter().position(Checked::is_empty) {
        return Err(opens_nothing(number, &checked[number]));
    }
    Ok(Firewall::new(checked.into_iter().map(|checked| checked.rule).collect()))
}

fn opens_nothing(number: usize, checked: &Checked) -> Error {
    let why = if checked.names_others_alone {
        "opens nothing, as it names only services that instances of Kafka don't have"
    } else {
        "opens nothing"
    };
    let sentence = format!(
        "{RULES}[{number}] {why}; name services ({}) or ports ({})",
        Service::ALL.map(Service::as_str).join(", "),
        Service::ALL.map(|service| service.port().to_string()).join(", ")
    );
    Error::Coded { code: ErrorCode::EMPTY_FIREWALL_RULE, sentence }
}

/// None if something is wrong with it, which is noted.
fn check(problems: &mut Problems, asked: AskedRule, vpc: Subnet) -> Option<Checked> {
    let ip = problems.required("ip", asked.ip);
    let ip = ip.and_then(|text| problems.take("ip", text.parse::<SourceRange>()));
    let names_others_alone =
        !asked.services.is_empty() && asked.services.iter().all(|it| Service::is_of_others(it));
    let services = services(problems, &asked.services);
    let ports = ports(problems, &asked.ports);
    let description = RuleDescription::parse(asked.description.unwrap_or_default());
    let description = problems.take("description", description);
    let rule =
        FirewallRule { ip: ip?, services: services?, ports: ports?, description: description? };
    if rule.opens().contains(&Service::Plaintext) && !rule.ip.is_within(&[vpc.net()]) {
        let by_name = rule.services.contains(&Service::Plaintext);
        let (field, what) = if by_name { ("services", "PLAINTEXT") } else { ("ports", "9092") };
        let problem = format!(
            "{what} has no encryption and can be opened only to ranges within the instance's \
             VPC, {vpc}; open SSL or SASL_SSL instead"
        );
        problems.add(field, problem);
        return None;
    }
    Some(Checked { rule, names_others_alone })
}

/// Each once, without those of other products of the family.
fn services(problems: &mut Problems, asked: &[String]) -> Option<Vec<Service>> {
    let mut services = Vec::new();
    for name in asked.iter().filter(|name| !Service::is_of_others(name)) {
        let service = problems.take("services", name.parse::<Service>())?;
        if !services.contains(&service) {
            services.push(service);
        }
    }
    Some(services)
}

/// Each once.
fn ports(problems: &mut Problems, asked: &[i64]) -> Option<Vec<u16>> {
    let mut ports = Vec::new();
    for number in asked {
        let Some(service) = Service::at_port(*number) else {
            problems.add("ports", "must each be 9092, 9093 or 9094");
            return None;
        };
        if !ports.contains(&service.port()) {
            ports.push(service.port());
        }
    }
    Some(ports)
}

#[cfg(test)]
mod tests;
