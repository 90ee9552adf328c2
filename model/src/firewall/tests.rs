use super::*;

fn rule(ip: &str, services: &[Service], ports: &[u16]) -> FirewallRule {
    FirewallRule {
        ip: ip.parse().unwrap(),
        services: services.to_vec(),
        ports: ports.to_vec(),
        description: RuleDescription::default(),
    }
}

#[test]
fn ranges_are_ipv4_in_one_spelling() {
    let check = |text: &str, expected: Result<(), SourceRangeError>| {
        assert_eq!(text.parse::<SourceRange>().map(drop), expected, "{text}");
    };
    check("0.0.0.0/0", Ok(()));
    check("203.0.113.7/32", Ok(()));
    check("10.56.72.0/24", Ok(()));
    check("203.0.113.7", Err(SourceRangeError::Syntax));
    check("203.0.113.0/33", Err(SourceRangeError::Syntax));
    check("203.0.113.0/024", Err(SourceRangeError::Syntax));
    check(" 203.0.113.0/24", Err(SourceRangeError::Syntax));
    check("example.com", Err(SourceRangeError::Syntax));
    check("2001:db8::/32", Err(SourceRangeError::Ipv6));
    check("203.0.113.7/24", Err(SourceRangeError::HostBits("203.0.113.0/24".parse().unwrap())));
    check("0.0.0.1/0", Err(SourceRangeError::HostBits("0.0.0.0/0".parse().unwrap())));
}

#[test]
fn descriptions_are_short_and_plain() {
    let check = |text: &str, expected: Result<(), DescriptionError>| {
        assert_eq!(RuleDescription::parse(text).map(drop), expected, "{text:?}");
    };
    check("", Ok(()));
    check(&"é".repeat(128), Ok(()));
    check(&"x".repeat(129), Err(DescriptionError::Length));
    check("a\nb", Err(DescriptionError::Control));
}

#[test]
fn a_service_and_its_port_are_the_same() {
    for service in Service::ALL {
        assert_eq!(Service::at_port(service.port().into()), Some(service));
        assert!(!Service::is_of_others(service.as_str()));
    }
    assert_eq!(Service::at_port(9091), None, "brokers' own");
    assert_eq!(Service::at_port(9092 + (1 << 16)), None);
    assert!(Service::is_of_others("AMQPS") && !Service::is_of_others("KAFKA"));
    let both = rule("0.0.0.0/0", &[Service::Ssl], &[9094, 9093]);
    assert_eq!(both.opens(), [Service::Ssl, Service::SaslSsl].into());
}

#[test]
fn what_is_written_is_read() {
    let firewall = Firewall::new(vec![rule("203.0.113.0/24", &[Service::SaslSsl], &[9093])]);
    let written = serde_json::to_string(&firewall).unwrap();
    let expected =
        r#"[{"ip":"203.0.113.0/24","services":["SASL_SSL"],"ports":[9093],"description":""}]"#;
    assert_eq!(written, expected);
    assert_eq!(serde_json::from_str::<Firewall>(&written).unwrap(), firewall);
}

#[test]
fn openings() {
    let vpc: Subnet = "10.56.72.0/24".parse().unwrap();
    let peer: Ipv4Net = "10.60.0.0/24".parse().unwrap();
    let check = |rules: &[FirewallRule], expected: &[(&str, &[u16])]| {
        let open = Firewall::new(rules.to_vec()).openings(vpc, &[peer]);
        let open: Vec<(String, Vec<u16>)> = open
            .into_iter()
            .map(|it| (it.from.to_string(), it.ports.into_iter().collect()))
            .collect();
        let expected: Vec<(String, Vec<u16>)> =
            expected.iter().map(|(from, ports)| ((*from).to_owned(), ports.to_vec())).collect();
        assert_eq!(open, expected, "{rules:?}");
    };
    let inside = ("10.56.72.0/24", &[9092, 9093, 9094][..]);
    check(&[], &[("0.0.0.0/0", &[9093, 9094]), inside]);
    // All rules are replaced, and the VPC stays open to itself.
    check(
        &[rule("203.0.113.0/24", &[Service::SaslSsl], &[])],
        &[inside, ("203.0.113.0/24", &[9094])],
    );
    // Of two rules for one range both hold.
    check(
        &[rule("203.0.113.0/24", &[Service::SaslSsl], &[]), rule("203.0.113.0/24", &[], &[9093])],
        &[inside, ("203.0.113.0/24", &[9093, 9094])],
    );
    // Rules outlive a peering, and what it let through does not.
    check(
        &[
            rule("10.60.0.16/28", &[Service::Plaintext], &[]),
            rule("10.61.0.0/24", &[Service::Plaintext, Service::Ssl], &[]),
            rule("10.62.0.0/24", &[], &[9092]),
            rule("0.0.0.0/0", &[Service::Plaintext], &[]),
        ],
        &[inside, ("10.60.0.16/28", &[9092]), ("10.61.0.0/24", &[9093])],
    );
}
