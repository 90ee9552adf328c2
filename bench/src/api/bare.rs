//! The plain thing: an axum handler that returns some bytes, on as many threads as
//! a control plane has.

use anyhow::Result;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::io;
use std::net::{SocketAddr, TcpListener};
use tokio::runtime::Builder;

/// Serves until this program ends.
pub fn serve(body: Vec<u8>) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let at = listener.local_addr()?;
    let body: &'static [u8] = body.leak();
    std::thread::spawn(move || {
        if let Err(error) = run(listener, body) {
            eprintln!("the bare server failed: {error}");
        }
    });
    Ok(at)
}

fn run(listener: TcpListener, body: &'static [u8]) -> io::Result<()> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let answer = move || async move { ([(CONTENT_TYPE, "application/json")], body) };
    let router = Router::new().route("/api/instances/{id}", get(answer));
    runtime.block_on(async move {
        axum::serve(tokio::net::TcpListener::from_std(listener)?, router).await
    })
}
