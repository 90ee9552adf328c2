//! Rules as they are written on a command line.

use anyhow::bail;
use wire::firewall::FirewallRule;

/// Each is a range and what is open to it, by name or by port.
pub fn parse(written: &[String], description: &str) -> anyhow::Result<Vec<FirewallRule>> {
    written.iter().map(|rule| one(rule, description)).collect()
}

fn one(written: &str, description: &str) -> anyhow::Result<FirewallRule> {
    let Some((ip, open)) = written.split_once('=') else {
        bail!("{written} is no rule; write RANGE=SERVICES, such as 203.0.113.0/24=SASL_SSL,SSL");
    };
    let (mut services, mut ports) = (Vec::new(), Vec::new());
    for name in open.split(',').filter(|name| !name.is_empty()) {
        match name.parse() {
            Ok(port) => ports.push(port),
            Err(_) => services.push(name.to_owned()),
        }
    }
    let (ip, description) = (ip.to_owned(), description.to_owned());
    Ok(FirewallRule { ip, services, ports, description, enforced: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_a_service_or_a_port() {
        let written = ["203.0.113.0/24=SASL_SSL,9093", "10.0.0.0/8="].map(str::to_owned);
        let rules = parse(&written, "Office").unwrap();
        assert_eq!(rules[0].ip, "203.0.113.0/24");
        assert_eq!(
            (&*rules[0].services, &*rules[0].ports),
            (&["SASL_SSL".to_owned()][..], &[9093][..])
        );
        assert_eq!(rules[0].description, "Office");
        assert!(rules[1].services.is_empty() && rules[1].ports.is_empty(), "the API refuses it");
        let error = parse(&["203.0.113.0/24".into()], "").unwrap_err().to_string();
        assert!(error.starts_with("203.0.113.0/24 is no rule; write RANGE=SERVICES"), "{error}");
    }
}
