//! The one binary: control plane, agent and command line.

mod account;
mod apis;
mod config;
mod control_plane;
mod data_dir;
mod down;
mod installation;
mod listen;
mod logging;
mod places;
mod prepare;
mod serve;
mod signals;
mod stage;
mod up;

use clap::{Parser, Subcommand};
use data_dir::DataDir;
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
    Serve(serve::ServeArgs),
    /// Accounts, on the store itself
    #[command(subcommand)]
    Account(account::AccountCommand),
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
    let arguments = Arguments::parse();
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The whole chain in one line: what happened, and why.
            eprintln!("castellan: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .expect("nobody has installed a provider before main");
    match command {
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
        Command::Cli(command) => runtime()?.block_on(cli::run(command, &DataDir::default_path())),
    }
}

/// Two threads serve a control plane well: it waits far more than it computes.
fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build()
}
