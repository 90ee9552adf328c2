use super::*;

fn rule(ip: &str, services: &[&str], ports: &[i64]) -> AskedRule {
    AskedRule {
        ip: Some(ip.into()),
        services: services.iter().map(ToString::to_string).collect(),
        ports: ports.to_vec(),
        description: None,
    }
}

fn outcome(rules: &[AskedRule]) -> Result<Firewall> {
    let vpc = "10.56.72.0/24".parse().unwrap();
    validate(Asked::given(Some(rules.to_vec())), vpc)
}

#[test]
fn what_is_stored() {
    // Each rule as range, services and ports.
    let check = |rules: &[AskedRule], expected: &[&str]| {
        let stored = outcome(rules).unwrap();
        let shown = |rule: &FirewallRule| {
            let services: Vec<&str> = rule.services.iter().map(|it| it.as_str()).collect();
            format!("{} {} {:?}", rule.ip, services.join(","), rule.ports)
        };
        let read: Vec<String> = stored.rules().iter().map(shown).collect();
        assert_eq!(read, expected, "{rules:?}");
    };
    let default = &["0.0.0.0/0 SSL,SASL_SSL []"][..];
    check(&[], default);
    check(&[rule("0.0.0.0/0", &["AMQP", "AMQPS", "HTTPS"], &[])], default);
    check(&[rule("0.0.0.0/0", &["AMQPS", "SSL", "MQTT"], &[])], &["0.0.0.0/0 SSL []"]);
    check(&[rule("0.0.0.0/0", &["AMQPS"], &[9094])], &["0.0.0.0/0  [9094]"]);
    check(
        &[rule("203.0.113.0/24", &["SASL_SSL", "SSL", "SASL_SSL"], &[9094, 9093, 9094])],
        &["203.0.113.0/24 SASL_SSL,SSL [9094, 9093]"],
    );
    // Without encryption within the VPC, by name and by port.
    check(
        &[rule("10.56.72.16/28", &["PLAINTEXT"], &[]), rule("10.56.72.0/24", &[], &[9092])],
        &["10.56.72.16/28 PLAINTEXT []", "10.56.72.0/24  [9092]"],
    );
}

#[test]
fn what_is_refused() {
    let check = |rules: &[AskedRule], code: Option<u32>, expected: &str| {
        let error = outcome(rules).unwrap_err();
        let found = if let Error::Coded { code, .. } = &error { Some(code.0) } else { None };
        assert_eq!(found, code, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    let nothing =
        "opens nothing; name services (PLAINTEXT, SSL, SASL_SSL) or ports (9092, 9093, 9094)";
    check(&[rule("203.0.113.0/24", &[], &[])], Some(40_002), nothing);
    check(&[rule("0.0.0.0/0", &[], &[])], Some(40_002), nothing);
    let others = "rules[1] opens nothing, as it names only services that instances of Kafka";
    let fine = rule("203.0.113.0/24", &["SSL"], &[]);
    check(&[fine.clone(), rule("203.0.113.0/24", &["AMQPS"], &[])], Some(40_002), others);
    check(&[fine.clone(), rule("0.0.0.0/0", &["AMQPS"], &[])], Some(40_002), others);
    check(&[rule("203.0.113.0/24", &["ssl"], &[])], None, "rules[0].services: must be one of");
    check(&[rule("203.0.113.0/24", &["SSL"], &[9091])], None, "rules[0].ports: must each be 9092");
    check(&[rule("203.0.113.0/24", &["SSL"], &[74_628])], None, "rules[0].ports");
    check(&[rule("203.0.113.7", &["SSL"], &[])], None, "rules[0].ip: must be an IPv4 range");
    check(&[rule("::/0", &["SSL"], &[])], None, "rules[0].ip: must be an IPv4 range; servers");
    check(&[AskedRule { ip: None, ..fine.clone() }], None, "rules[0].ip: Field is required");
    let long = AskedRule { description: Some("x".repeat(129)), ..fine.clone() };
    check(&[long], None, "rules[0].description: must be at most 128 characters");
    check(&vec![fine.clone(); 101], None, "rules: must be at most 100 rules");
    assert!(outcome(&vec![fine; 100]).is_ok());
    for range in ["0.0.0.0/0", "10.56.0.0/16", "10.56.73.0/24"] {
        let plain = "rules[0].services: PLAINTEXT has no encryption and can be opened only to \
                     ranges within the instance's VPC, 10.56.72.0/24";
        check(&[rule(range, &["PLAINTEXT"], &[])], None, plain);
        check(&[rule(range, &[], &[9092])], None, "rules[0].ports: 9092 has no encryption");
    }
    // What is wrong is told of all rules at once, before what is left empty.
    let error =
        outcome(&[rule("x", &["SSL"], &[]), rule("y", &["Q"], &[]), rule("1.0.0.0/8", &[], &[])]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "3 fields are missing or wrong: rules[0].ip, rules[1].ip, rules[1].services"
    );
    let missing = validate(Asked::given(None), "10.56.72.0/24".parse().unwrap()).unwrap_err();
    assert_eq!(missing.to_string(), "rules: Field is required");
}
