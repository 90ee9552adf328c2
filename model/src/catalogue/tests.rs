use super::*;

#[test]
fn the_built_in_catalogue_is_the_contracts() {
    let catalogue = Catalogue::built_in();
    assert_eq!(catalogue.plans().len(), 21);
    assert_eq!(catalogue.plan("mouse-3").unwrap().price(), 297);
    assert_eq!(catalogue.plan("penguin-7").unwrap().price(), 10_500);
    assert!(catalogue.plan("ducky").unwrap().shared());
    assert_eq!(catalogue.plans()[0].name.0, "ducky");
    assert_eq!(catalogue.plan_of("bat", 5).unwrap().name.0, "bat-5");
    assert_eq!(catalogue.regions().len(), 4);
    assert!(catalogue.regions().iter().all(|region| region.has_shared_plans));
    assert!(catalogue.region("local::this-machine").is_some());
    assert_eq!(catalogue.newest_kafka(), KafkaVersion::new(4, 3, 1));
}

/// The built-in file with one text in it replaced, and what is then said.
fn check(from: &str, to: &str, expected: &str) {
    assert!(Catalogue::BUILT_IN.contains(from), "{from}");
    let text = Catalogue::BUILT_IN.replacen(from, to, 1);
    let versions = Catalogue::built_in().kafka_versions().to_vec();
    let supported = Supported { clouds: &["local"], kafka_versions: &versions };
    let error = Catalogue::parse(&text, Some(&supported)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_bad_file_is_refused_with_line_and_reason() {
    let versions = r#"["3.9.2", "4.0.2", "4.1.2", "4.2.1", "4.3.1"]"#;
    check(versions, "[]", "line 5: kafka_versions lists no version");
    check(r#""4.3.1""#, r#""4.x""#, "line 5: must be a version of the form X.Y.Z");
    check(
        r#""4.3.1""#,
        r#""4.9.9""#,
        "line 5: this Castellan can't run Kafka 4.9.9; it can run 3.9.2, 4.0.2, 4.1.2, 4.2.1, 4.3.1",
    );
    check("name = \"mouse\"", "name = \"bat\"", "line 35: two plans are called bat-1");
    check(
        "name = \"mouse\"",
        "name = \"Mouse 1\"",
        "line 26: a family's name must be lowercase letters, digits and dashes",
    );
    check(
        "nodes = [1, 3, 5, 7]",
        "nodes = []",
        "line 26: family mouse needs at least one count under nodes, such as nodes = [1, 3]",
    );
    check("nodes = [1,", "nodes = [0,", "line 32: a count of nodes must be between 1 and 99");
    check("disk_gb = 4000", "disk_gb = 16001", "line 66: disk_gb is more than max_disk_gb, 16000");
    check("max_disk_gb = 16000", "", "line 1: missing field `max_disk_gb`");
    check("memory_gb = 2", "memory_gb = 0", "line 21: memory_gb must be between 1 and 1000000");
    check(
        "cloud = \"local\"",
        "cloud = \"moon\"",
        "line 77: local::this-machine is bound to cloud \"moon\", but there is only local",
    );
    check("cores = 1", "colour = 1", &{
        let fields = "`name`, `node_price`, `cores`, `memory_gb`, `disk_gb`, `partitions`, `nodes`, `shared`";
        format!("line 20: unknown field `colour`, expected one of {fields}")
    });
}

#[test]
fn a_family_has_partitions_by_its_memory_where_it_says_nothing_else() {
    let stated = Catalogue::BUILT_IN;
    let is_left = |line: &&str| !line.starts_with("partitions = ");
    let unstated = stated.lines().filter(is_left).collect::<Vec<_>>().join("\n");
    for text in [stated, &unstated] {
        let catalogue = Catalogue::parse(text, None).unwrap();
        let check = |plan: &str, expected: u32| {
            assert_eq!(catalogue.plan(plan).unwrap().family.partitions, expected, "{plan}");
        };
        check("mouse-1", 1000);
        check("bat-3", 2000);
        check("fox-5", 4000);
        check("penguin-7", 4000);
    }
    let other = stated.replacen("partitions = 2000", "partitions = 12", 1);
    let catalogue = Catalogue::parse(&other, None).unwrap();
    assert_eq!(catalogue.plan("bat-1").unwrap().family.partitions, 12);
}

#[test]
fn a_file_that_is_no_catalogue_is_refused() {
    let check = |text: &str, expected: &str| {
        let error = Catalogue::parse(text, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("", "missing field `kafka_versions`");
    let top = "kafka_versions = [\"4.3.1\"]\nextra_disk_gb_cents = 20\nmax_disk_gb = 16000";
    check(top, "there is no [[family]]");
    check("kafka_versions = [\"4.3.1\"]\n\nfamily = 7", "line 3: ");
    check("a\nb\n= 1", "line 1: ");
}
