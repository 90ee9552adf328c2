//! Notifications of certificates that near their end, in sentences. Pure.

use super::expiry::Ending;
use model::Expiring;

/// Of a longer list a mail has no use.
const NAMED: usize = 10;

pub fn message(kind: Expiring, instance: &str, near: &[Ending]) -> String {
    let (subject, remedy, over) = match kind {
        Expiring::ServerCertificates => (
            "Certificates of servers",
            "They should have been renewed by now, and from then on clients and the other \
             brokers refuse these servers. Their agents have to reach the control plane, and \
             the instance must not be paused; ask whoever operates it",
            "The certificates of the servers of",
        ),
        Expiring::Authorities => (
            "Certificate authorities",
            "What they have signed is refused from then on. Create another instance and move \
             to it before",
            "The certificate authorities of",
        ),
        Expiring::ClientCertificates => (
            "Client certificates",
            "Brokers refuse them from then on. Have new ones signed (POST ca/sign) before",
            "The client certificates of",
        ),
    };
    if near.is_empty() {
        return format!("{over} {instance} are not near their end any more");
    }
    let mut names: Vec<String> = near.iter().take(NAMED).map(named).collect();
    if near.len() > NAMED {
        names.push(format!("and {} more", near.len() - NAMED));
    }
    format!("{subject} of {instance} end: {}. {remedy}", names.join(", "))
}

fn named(ending: &Ending) -> String {
    format!("{} on {}", ending.name, ending.at.strftime("%Y-%m-%d at %H:%M UTC"))
}
