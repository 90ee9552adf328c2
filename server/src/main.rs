//! The one binary: control plane, agent and command line.

mod account;
mod agent_listener;
mod apis;
mod at;
mod audit;
mod backup;
mod catalogue;
mod clouds;
mod config;
mod control_plane;
mod data_dir;
mod down;
mod engine_command;
mod first_account;
mod floor;
#[cfg(debug_assertions)]
mod hold;
mod host_audit;
mod host_command;
mod host_dir;
mod host_facts;
mod installation;
mod instance;
mod invoice;
mod kafka_ready;
mod kcat;
mod key;
mod listen;
mod logging;
mod mail;
mod move_load;
mod notice;
mod notifier;
mod operator;
mod orphan;
mod orphans;
mod outbound;
mod pool;
mod preflight;
mod prepare;
mod restore;
mod room;
mod separation;
mod serve;
mod server_command;
mod settings;
mod signals;
mod stage;
mod store_app;
mod tasks;
#[cfg(test)]
mod testing;
mod up;
mod user;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use data_dir::DataDir;
use rustix::fs::Mode;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};

/// Managed Apache Kafka that anyone can host.
#[derive(Parser)]
#[command(name = "castellan", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the control plane with a first cluster
    Up(up::UpArgs),
    /// Stop the control plane and all clusters
    Down(down::DownArgs),
    /// Run the control plane
    Serve(settings::SettingsArgs),
    /// Accounts, on the store itself
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// People of accounts, on the store itself; for Kafka's users see kafka-user
    #[command(subcommand)]
    User(user::UserCommand),
    /// Plans, regions and Kafka versions on offer
    #[command(subcommand)]
    Catalogue(catalogue::CatalogueCommand),
    /// Copy everything the control plane knows into one file
    Backup(backup::BackupArgs),
    /// Go back to a backup; clusters run on
    Restore(restore::RestoreArgs),
    /// What this host has, what of it is promised, and its warm JVMs
    Host(at::ListArgs),
    /// Servers, disks and networks on this host that the store does not know
    #[command(subcommand)]
    Orphans(orphans::OrphansCommand),
    /// Hold the engine, and let it go on
    #[command(subcommand)]
    Engine(engine_command::EngineCommand),
    /// Single servers of an instance, on the store itself
    #[command(subcommand)]
    Server(server_command::ServerCommand),
    /// Tell customers of maintenance, on the store itself
    #[command(subcommand)]
    Notice(notice::NoticeCommand),
    /// Supervise one server; started by a cloud, not by people
    #[command(hide = true)]
    Agent {
        #[arg(long)]
        dir: PathBuf,
    },
    #[command(flatten)]
    Cli(cli::Command),
}

fn main() -> ExitCode {
    cli::answer_shell(program, DataDir::default_path());
    match run(&program().get_matches()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan: {}", in_one_line(&error));
            ExitCode::FAILURE
        }
    }
}

fn program() -> clap::Command {
    operator::with_verbs(Arguments::command())
}

fn run(given: &ArgMatches) -> anyhow::Result<()> {
    // Whatever we write is private unless it says otherwise. The data directory may be one
    // that other users pass through.
    rustix::process::umask(Mode::from_raw_mode(0o077));
    rustls::crypto::ring::default_provider()
        .install_default()
        .expect("nobody has installed a provider before main");
    if let Some(command) = operator::command(given)? {
        return runtime()?.block_on(operator::run(command));
    }
    match Arguments::from_arg_matches(given)?.command {
        Command::Agent { dir } => {
            logging::start("info");
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let ended = runtime.block_on(agent::run(dir));
            // A thread may wait for a lock on the cache; the agent's end does not.
            runtime.shutdown_background();
            Ok(ended?)
        }
        Command::Up(args) => {
            logging::start("warn");
            runtime()?.block_on(up::run(args))
        }
        Command::Down(args) => runtime()?.block_on(down::run(args)),
        Command::Serve(args) => {
            logging::start("info");
            runtime()?.block_on(serve::run(args))
        }
        Command::Account(command) => runtime()?.block_on(account::run(command)),
        Command::User(command) => runtime()?.block_on(user::run(command)),
        Command::Catalogue(command) => catalogue::run(&command),
        Command::Backup(args) => runtime()?.block_on(backup::run(args)),
        Command::Restore(args) => runtime()?.block_on(restore::run(args)),
        Command::Host(args) => runtime()?.block_on(host_command::run(args)),
        Command::Orphans(command) => runtime()?.block_on(orphans::run(command)),
        Command::Engine(command) => runtime()?.block_on(engine_command::run(command)),
        Command::Server(command) => runtime()?.block_on(server_command::run(command)),
        Command::Notice(command) => runtime()?.block_on(notice::run(command)),
        Command::Cli(command) => runtime()?.block_on(cli::run(command, &DataDir::default_path())),
    }
}

/// The whole chain in one line: what happened, and why. What a message has said
/// already is not said again by its source.
fn in_one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(|cause| cause.to_string().replace('\n', " ")) {
        if line.contains(&cause) {
            continue;
        }
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(cause.trim());
    }
    line
}

/// Futures are several times larger in a program that is not optimised, such as `make run`'s.
/// The kernel gives a thread only the pages that it touches.
const STACK_BYTES: usize = 8 << 20;

/// Two threads serve a control plane well: it waits far more than it computes.
fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
}
