//! `GET /api/details`.

use crate::about::About;
use crate::answer::SecretJson;
use crate::auth::Seeing;
use app::{Right, details};
use model::Secret;
use web::error::Failure;
use wire::instance::{Connections, Details, DetailsServer, Plaintext, Port, SaslScram};

pub async fn handle(Seeing(access, app): Seeing) -> Result<SecretJson<Details>, Failure> {
    Ok(SecretJson(document(&details::read(&access, &app).await?)))
}

fn document(details: &details::Details) -> Details {
    let instance = &details.instance;
    let listeners = &details.first_server().listeners;
    Details {
        name: instance.name.to_string(),
        hostname: instance.hostname.clone(),
        subnet: details.vpc.subnet.to_string(),
        kafka_version: instance.kafka_version.to_string(),
        connections: Connections {
            plaintext: Plaintext { port: listeners.plaintext.as_ref().map(|it| it.port) },
            ssl: Port { port: listeners.public_ssl().port },
            sasl_scram: SaslScram {
                port: listeners.public_sasl_scram().port,
                username: instance.username.clone(),
                password: instance.password.clone(),
            },
        },
        servers: details.servers.iter().map(|server| self::server(server, instance)).collect(),
    }
}

fn server(server: &model::Server, instance: &model::Instance) -> DetailsServer {
    DetailsServer {
        name: server.name.clone(),
        hostname: server.listeners.public_sasl_scram().advertised_host,
        private_ip: server.private_ip.clone(),
        region: instance.region.to_string(),
    }
}

pub fn about() -> About {
    let server = DetailsServer {
        name: "u7k2m9qa-01".into(),
        hostname: "127.64.0.1".into(),
        private_ip: "127.64.0.1".into(),
        region: "local::this-machine".into(),
    };
    let details = Details {
        name: "orders".into(),
        hostname: "127.64.0.1".into(),
        subnet: "10.192.0.0/24".into(),
        kafka_version: "4.3.1".into(),
        connections: Connections {
            plaintext: Plaintext { port: Some(9092) },
            ssl: Port { port: 9093 },
            sasl_scram: SaslScram {
                port: 9094,
                username: "u7k2m9qa".into(),
                password: Secret::new("password"),
            },
        },
        servers: vec![server],
    };
    About::new("Read how to connect")
        .needs(Right::SeeInstances)
        .json("Ports and servers; `plaintext` is empty where there is no such listener", &details)
}
