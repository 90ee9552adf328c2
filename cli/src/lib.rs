//! `castellan <noun> <verb>`: the commands that talk to a running Castellan.
//!
//! Data goes to stdout and nothing else does; progress and errors go to
//! stderr. `--json` prints what the API said.

mod acl;
mod alarm;
mod assignment;
mod audit;
mod catalogue;
mod certificate;
mod complete;
mod completion;
mod config;
mod connection;
mod group;
mod instance;
mod integration;
mod invoice;
mod kafka_user;
mod key;
mod message;
mod metrics;
mod node;
mod on_instance;
mod output;
mod quota;
mod recipient;
mod session;
mod team;
mod topic;

pub use complete::answer_shell;
pub use connection::{Connection, Options};
use on_instance::OnInstance;

use clap::{Args, Subcommand};
use std::path::Path;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Order, look at and delete instances
    Instance(Noun<instance::InstanceCommand>),
    /// Certificates that clients log in with
    Certificate(Noun<certificate::CertificateCommand>),
    /// Consumer groups of an instance, and how far behind they are
    Group(Noun<group::GroupCommand>),
    /// What the servers of an instance measured
    Metrics(Noun<metrics::MetricsCommand>),
    /// Read and write a few messages of a topic
    Message(Noun<message::MessageCommand>),
    /// What clients may use of an instance
    Quota(Noun<quota::QuotaCommand>),
    /// Topics of an instance
    Topic(Noun<topic::TopicCommand>),
    /// Who logs in to an instance's Kafka
    KafkaUser(Noun<kafka_user::KafkaUserCommand>),
    /// What Kafka users may do
    Acl(Noun<acl::AclCommand>),
    /// Settings of all brokers of an instance
    Config(Noun<config::ConfigCommand>),
    /// Servers of an instance
    Node(Noun<node::NodeCommand>),
    /// What people want to be told of
    Alarm(Noun<alarm::AlarmCommand>),
    /// Whom alarms are told to, and how
    Recipient(Noun<recipient::RecipientCommand>),
    /// Where logs and metrics are sent
    Integration(Noun<integration::IntegrationCommand>),
    /// What is to be paid
    Invoice(Noun<invoice::InvoiceCommand>),
    /// What was changed, by whom
    Audit(Noun<audit::AuditCommand>),
    /// What can be ordered
    Plan(Noun<catalogue::PlanCommand>),
    /// Where it can run
    Region(Noun<catalogue::RegionCommand>),
    /// Who works with your account
    Team(Noun<team::TeamCommand>),
    /// Customer keys, which calls of the API are made with
    Key(Noun<key::KeyCommand>),
    /// Where you are signed in to the console
    Session(Noun<session::SessionCommand>),
    /// Print what a shell needs to complete commands and names
    Completion(completion::Completion),
}

/// What every noun takes: whom to talk to, and a verb.
#[derive(Debug, Args)]
pub struct Noun<V: Subcommand> {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    verb: V,
}

impl<V: Subcommand> Noun<V> {
    async fn run(
        self,
        verb: impl AsyncFnOnce(V, &Connection) -> anyhow::Result<()>,
        default_data: &Path,
    ) -> anyhow::Result<()> {
        verb(self.verb, &self.options.connect(default_data)?).await
    }
}

/// Runs one command. Where a command names no Castellan, the one that lives in
/// `default_data` is meant. An error is one sentence for stderr; exit with 1.
pub async fn run(command: Command, default_data: &Path) -> anyhow::Result<()> {
    let at = default_data;
    match command {
        Command::Instance(noun) => noun.run(instance::run, at).await,
        Command::Certificate(noun) => noun.run(certificate::run, at).await,
        Command::Group(noun) => noun.run(group::run, at).await,
        Command::Message(noun) => noun.run(message::run, at).await,
        Command::Metrics(noun) => noun.run(metrics::run, at).await,
        Command::Quota(noun) => noun.run(quota::run, at).await,
        Command::Topic(noun) => noun.run(topic::run, at).await,
        Command::KafkaUser(noun) => noun.run(kafka_user::run, at).await,
        Command::Acl(noun) => noun.run(acl::run, at).await,
        Command::Config(noun) => noun.run(config::run, at).await,
        Command::Node(noun) => noun.run(node::run, at).await,
        Command::Alarm(noun) => noun.run(alarm::run, at).await,
        Command::Recipient(noun) => noun.run(recipient::run, at).await,
        Command::Integration(noun) => noun.run(integration::run, at).await,
        Command::Invoice(noun) => noun.run(invoice::run, at).await,
        Command::Audit(noun) => noun.run(audit::run, at).await,
        Command::Plan(noun) => noun.run(catalogue::plans, at).await,
        Command::Region(noun) => noun.run(catalogue::regions, at).await,
        Command::Team(noun) => noun.run(team::run, at).await,
        Command::Key(noun) => noun.run(key::run, at).await,
        Command::Session(noun) => noun.run(session::run, at).await,
        Command::Completion(options) => completion::run(&options),
    }
}

/// The same, with what it would have printed.
pub async fn run_and_keep(command: Command, default_data: &Path) -> (anyhow::Result<()>, Vec<u8>) {
    output::keep(Box::pin(run(command, default_data))).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory as _, Parser};

    /// As the program that holds these commands declares itself.
    #[derive(Debug, Parser)]
    #[command(version, propagate_version = true)]
    struct Program {
        #[command(subcommand)]
        command: Command,
    }

    #[test]
    fn the_commands_fit_into_a_program_with_a_version() {
        Program::command().debug_assert();
    }

    #[test]
    fn options_are_taken_before_and_after_the_verb() {
        let create = "castellan instance create --name a --plan mouse-1 --region r \
                      --version 4.3.1 --tag x --tag y --wait --json --url http://127.0.0.1:1";
        let parsed = Program::try_parse_from(create.split_whitespace()).unwrap();
        let Command::Instance(Noun { options, verb }) = parsed.command else { panic!("noun") };
        assert!(options.json && options.url.is_some());
        assert!(format!("{verb:?}").contains("4.3.1"), "{verb:?}");
        for line in ["castellan plan list --json", "castellan region --json list"] {
            Program::try_parse_from(line.split_whitespace()).unwrap();
        }
        assert!(Program::try_parse_from(["castellan", "instance", "get"]).is_err());
    }

    #[test]
    fn tags_of_a_member_are_given_or_taken_away() {
        let parse = |line: &str| Program::try_parse_from(line.split_whitespace()).map(drop);
        parse("castellan team list --json").unwrap();
        parse("castellan team invite ada@x.test --role monitor --tag a --tag b").unwrap();
        parse("castellan team update ada@x.test --no-tags").unwrap();
        assert!(parse("castellan team update ada@x.test --no-tags --tag a").is_err());
        parse("castellan team remove ada@x.test").unwrap();
    }

    #[test]
    fn a_key_is_made_with_less_than_all() {
        let parse = |line: &str| Program::try_parse_from(line.split_whitespace()).map(drop);
        parse("castellan key list --json").unwrap();
        parse("castellan key create").unwrap();
        parse("castellan key create --comment ci --role monitor --tag a --tag b,c").unwrap();
        parse("castellan key create --expires-at 2030-01-01T00:00:00Z --json").unwrap();
        parse("castellan key delete 3f0c1a52-7a64-4f5e-9b1b-2f7f5a1c9d10").unwrap();
        assert!(parse("castellan key delete").is_err());
    }

    #[test]
    fn sessions_are_ended_one_by_one_or_all_at_once() {
        let parse = |line: &str| Program::try_parse_from(line.split_whitespace()).map(drop);
        parse("castellan session list --json").unwrap();
        parse("castellan session end 9d1f0a3e-6c57-4b7e-8a0f-5c1a2b3d4e5f").unwrap();
        parse("castellan session end --all").unwrap();
        assert!(parse("castellan session end").is_err());
        assert!(parse("castellan session end 9d1f --all").is_err());
    }

    #[test]
    fn a_certificate_is_of_an_instance() {
        let parse = |line: &str| Program::try_parse_from(line.split_whitespace()).map(drop);
        parse("castellan certificate sign 7 client.csr").unwrap();
        parse("castellan certificate sign 7 - --json").unwrap();
        parse("castellan certificate list 7 --json").unwrap();
        parse("castellan certificate revoke 7 4f1c").unwrap();
        assert!(parse("castellan certificate sign client.csr").is_err());
        assert!(parse("castellan certificate revoke 7").is_err());
    }

    #[test]
    fn a_delete_may_be_waited_for() {
        let parse = |line: &str| Program::try_parse_from(line.split_whitespace()).map(drop);
        parse("castellan instance delete 7").unwrap();
        parse("castellan instance delete 7 --wait").unwrap();
    }

    #[test]
    fn servers_are_named_one_by_one() {
        let parse = |line: &str| Program::try_parse_from(line.split_whitespace()).map(drop);
        for verb in ["restart", "stop", "start"] {
            parse(&format!("castellan instance {verb} 7")).unwrap();
            parse(&format!("castellan instance {verb} 7 --server a-01 --server a-02 --wait"))
                .unwrap();
        }
        parse("castellan instance actions 7 --json").unwrap();
        parse("castellan instance watch 7 --json").unwrap();
        parse("castellan instance cancel 7 12").unwrap();
        parse("castellan instance watch orders").unwrap();
        parse("castellan instance cancel orders 12").unwrap();
        parse("castellan instance stop orders --server a-01").unwrap();
        assert!(parse("castellan instance cancel 7").is_err());
    }

    #[test]
    fn a_reset_says_where_to() {
        let parse = |line: &str| Program::try_parse_from(line.split_whitespace()).map(drop);
        parse("castellan group list 7 --json").unwrap();
        parse("castellan group get 7 billing").unwrap();
        parse("castellan group delete orders billing").unwrap();
        let reset = "castellan group reset 7 billing";
        parse(&format!("{reset} --to-earliest --dry-run --topic orders --topic bills:0")).unwrap();
        parse(&format!("{reset} --shift-by -5")).unwrap();
        parse(&format!("{reset} --to-datetime 2026-11-15T12:00:00Z")).unwrap();
        assert!(parse(reset).is_err());
        assert!(parse(&format!("{reset} --to-earliest --to-latest")).is_err());
    }

    #[test]
    fn a_plot_is_of_one_series() {
        let parse = |line: &str| Program::try_parse_from(line.split_whitespace()).map(drop);
        parse("castellan metrics list --json").unwrap();
        parse("castellan metrics show orders --series cpu_percent --series connections").unwrap();
        parse("castellan metrics plot 7 cpu_percent --last 6h --server a-01 --width 80").unwrap();
        assert!(parse("castellan metrics plot 7").is_err());
        assert!(parse("castellan metrics plot 7 cpu_percent --last 6").is_err());
        assert!(parse("castellan metrics plot 7 cpu_percent --width 0").is_err());
    }

    #[test]
    fn messages_and_quotas_name_what_they_need() {
        let parse = |line: &str| Program::try_parse_from(line.split_whitespace()).map(drop);
        parse("castellan message read 7 orders --partition 0 --offset 3 --limit 5").unwrap();
        assert!(parse("castellan message read 7 orders --offset 3").is_err());
        parse("castellan message write 7 orders --value -x --key k --header a=b").unwrap();
        assert!(parse("castellan message write 7 orders").is_err());
        parse("castellan quota set 7 --user ada --producer-byte-rate none").unwrap();
        parse("castellan quota remove 7 --user ada --client-id reports").unwrap();
        assert!(parse("castellan quota remove 7").is_err());
        parse("castellan message read eu-1 orders").unwrap();
        parse("castellan quota list eu-1").unwrap();
    }
}
