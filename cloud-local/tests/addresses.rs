//! Which addresses are proposed. Each test has a part of 127/8 to itself.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use cloud::Addresses;
use cloud_local::addresses::{AddressError, AddressMode, propose};
use std::net::TcpListener;
use uuid::Uuid;

fn free(_: &str, _: u16) -> bool {
    false
}

fn hosts(placements: &[Addresses]) -> Vec<String> {
    placements.iter().map(|placement| placement.private_ip.clone()).collect()
}

fn ports(placement: &Addresses) -> Vec<u16> {
    placement.listeners.all().map(|listener| listener.port).collect()
}

fn metrics(placements: &[Addresses]) -> Vec<String> {
    let place = |placement: &Addresses| {
        let listener = placement.listeners.metrics.as_ref().unwrap();
        format!("{}:{}", listener.bind_host, listener.port)
    };
    placements.iter().map(place).collect()
}

#[test]
fn loopback_gives_each_server_an_address_with_the_real_ports() {
    let installation = Uuid::from_u128(0x0001_0200);
    let found = propose(&AddressMode::Loopback, installation, &free, 2).unwrap();
    assert_eq!(hosts(&found), ["127.65.2.1", "127.65.2.2"]);
    assert_eq!(ports(&found[0]), [9092, 9093, 9094, 9091, 9090, 9404]);
    assert!(found[0].listeners.all().all(|listener| listener.bind_host == "127.65.2.1"));
    let other = propose(&AddressMode::Loopback, Uuid::from_u128(0x0005_0700), &free, 1).unwrap();
    assert_eq!(hosts(&other), ["127.69.7.1"]);
}

#[test]
fn an_address_on_record_or_in_use_is_skipped_whole() {
    let installation = Uuid::from_u128(0x0002_0300);
    let _in_use = TcpListener::bind("127.66.3.2:9094").unwrap();
    let taken = |host: &str, port: u16| host == "127.66.3.1" && port == 9090;
    let found = propose(&AddressMode::Loopback, installation, &taken, 2).unwrap();
    assert_eq!(hosts(&found), ["127.66.3.3", "127.66.3.4"]);
}

#[test]
fn the_last_installation_offset_wraps_around() {
    let installation = Uuid::from_u128(0xffff_ffff_ffff);
    let found = propose(&AddressMode::Loopback, installation, &free, 255).unwrap();
    assert_eq!(found[0].private_ip, "127.127.255.1");
    assert_eq!(found[254].private_ip, "127.64.0.1");
}

#[test]
fn given_addresses_run_out_with_words() {
    let mode =
        AddressMode::Addresses { nets: vec!["127.20.0.0/30".parse().unwrap()], plaintext: true };
    let found = propose(&mode, Uuid::nil(), &free, 2).unwrap();
    assert_eq!(hosts(&found), ["127.20.0.1", "127.20.0.2"]);
    let error = propose(&mode, Uuid::nil(), &free, 3).unwrap_err();
    let expected =
        AddressError::AddressesExhausted { found: 2, wanted: 3, range: "127.20.0.0/30".into() };
    assert_eq!(error, expected);
    let foreign =
        AddressMode::Addresses { nets: vec!["203.0.113.0/30".parse().unwrap()], plaintext: true };
    let error = propose(&foreign, Uuid::nil(), &free, 1).unwrap_err();
    assert_eq!(error, AddressError::NotOurs { range: "203.0.113.0/30".into() });
}

#[test]
fn the_private_ip_is_an_address_also_if_clients_use_a_name() {
    let check = |host: &str, bind: &str, expected: &str| {
        let bind = bind.parse().unwrap();
        let mode = AddressMode::SharedAddress {
            host: host.into(),
            bind,
            ports: 20_100..=20_199,
            plaintext: true,
        };
        let found = propose(&mode, Uuid::nil(), &free, 1).unwrap();
        assert_eq!(hosts(&found), [expected], "{host}");
        assert_eq!(found[0].listeners.ssl.advertised_host, host);
    };
    check("203.0.113.9", "0.0.0.0", "203.0.113.9");
    check("localhost", "0.0.0.0", "127.0.0.1");
    // Reserved for names that don't exist.
    check("nowhere.invalid", "0.0.0.0", "0.0.0.0");
    check("localhost", "127.21.0.2", "127.21.0.2");
}

#[test]
fn a_shared_address_gives_blocks_of_ports() {
    let mode = AddressMode::SharedAddress {
        host: "kafka.example.com".into(),
        bind: "127.21.0.1".parse().unwrap(),
        ports: 20_000..=20_013,
        plaintext: true,
    };
    let found = propose(&mode, Uuid::nil(), &free, 2).unwrap();
    assert_eq!(ports(&found[1]), [20_005, 20_006, 20_007, 20_008, 20_009, 9404]);
    assert_eq!(found[1].listeners.ssl.advertised_host, "kafka.example.com");
    assert_eq!(found[1].listeners.ssl.bind_host, "127.21.0.1");
    assert_eq!(found[1].private_ip, "127.21.0.1");
    // The range ends inside the third block.
    let error = propose(&mode, Uuid::nil(), &free, 3).unwrap_err();
    let expected =
        AddressError::PortsExhausted { found: 2, wanted: 3, first: 20_000, last: 20_013 };
    assert_eq!(error, expected);
}

#[test]
fn plaintext_is_not_opened_where_others_can_reach_it_unless_it_is_wanted() {
    let nets = vec!["127.24.0.0/30".parse().unwrap()];
    let mode = AddressMode::Addresses { nets, plaintext: false };
    let found = propose(&mode, Uuid::nil(), &free, 1).unwrap();
    assert_eq!(ports(&found[0]), [9093, 9094, 9091, 9090, 9404]);
    // Its port is left out of a block and need not be free.
    let _in_use = TcpListener::bind("127.24.1.1:20300").unwrap();
    let mode = AddressMode::SharedAddress {
        host: "kafka.example.com".into(),
        bind: "127.24.1.1".parse().unwrap(),
        ports: 20_300..=20_309,
        plaintext: false,
    };
    let found = propose(&mode, Uuid::nil(), &free, 2).unwrap();
    assert_eq!(ports(&found[0]), [20_301, 20_302, 20_303, 20_304, 9404]);
    assert_eq!(ports(&found[1])[..4], [20_306, 20_307, 20_308, 20_309]);
}

#[test]
fn metrics_are_on_loopback_in_every_mode_and_never_at_one_place() {
    let installation = Uuid::from_u128(0x0003_0400);
    let addresses =
        AddressMode::Addresses { nets: vec!["127.22.0.0/29".parse().unwrap()], plaintext: true };
    let shared = AddressMode::SharedAddress {
        host: "kafka.example.com".into(),
        bind: "127.23.0.1".parse().unwrap(),
        ports: 20_200..=20_299,
        plaintext: true,
    };
    let on_record = |host: &str, port: u16| host == "127.67.4.1" && port == 9404;
    for mode in [addresses, shared] {
        let found = propose(&mode, installation, &on_record, 2).unwrap();
        assert_eq!(metrics(&found), ["127.67.4.1:9405", "127.67.4.2:9404"], "{mode:?}");
    }
}

#[test]
fn a_program_on_the_port_of_metrics_costs_the_port_and_not_the_address() {
    let installation = Uuid::from_u128(0x0004_0500);
    let _in_use = TcpListener::bind("127.68.5.1:9404").unwrap();
    let found = propose(&AddressMode::Loopback, installation, &free, 2).unwrap();
    assert_eq!(metrics(&found), ["127.68.5.1:9405", "127.68.5.2:9404"]);
}
