//! The settings that kcat reads to log in to the cluster of `castellan up`.
//!
//! The password is in a file of the owner's alone: arguments can be read by everybody on
//! this machine, and lines to paste end up in a shell's history.

use crate::data_dir::DataDir;
use anyhow::{Context, Result};
use std::path::PathBuf;
use wire::customer::Instance;

/// Writes the settings anew, as the password may have changed, and says where they are.
pub fn write_settings(data: &DataDir, instance: &Instance) -> Result<PathBuf> {
    let (settings, ca) = (data.kcat_settings(), data.kcat_ca());
    let text = format!(
        "bootstrap.servers={}\nsecurity.protocol=SASL_SSL\nsasl.mechanisms=SCRAM-SHA-256\n\
         sasl.username={}\nsasl.password={}\nssl.ca.location={}\n",
        instance.brokers,
        instance.username,
        instance.password.expose(),
        ca.display(),
    );
    host::write_private(&ca, instance.ca.as_bytes())
        .and_then(|()| host::write_private(&settings, text.as_bytes()))
        .with_context(|| format!("{} can't be written", settings.display()))?;
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    fn instance(password: &str) -> Instance {
        serde_json::from_value(json!({
            "id": 1, "name": "first", "plan": "mouse-1", "region": "local::this-machine",
            "tags": [], "providerid": "p", "ca": "PEM\n", "apikey": "k",
            "brokers": "127.0.0.1:9", "username": "u7k2m9qa", "password": password,
            "topic_prefix": "", "ready": true, "kafka_version": "4.3.1", "nodes": 1,
            "vpc": null, "vpc_id": null, "url": "u", "backend": "kafka",
            "hostname_external": "h", "hostname_internal": "h",
            "created_at": "2026-11-15T12:00:00Z", "status": "running"
        }))
        .unwrap()
    }

    #[tokio::test]
    async fn kcat_reads_its_password_from_a_file_of_the_owners_alone() {
        let directory = tempfile::tempdir().unwrap();
        let data = DataDir::new(&directory.path().join("data")).unwrap();
        data.create().unwrap();
        write_settings(&data, &instance("old")).unwrap();
        let file = write_settings(&data, &instance("s3cret-_")).unwrap();
        for file in [&file, &data.kcat_ca()] {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        // kcat itself says what it has read.
        let file = file.to_str().unwrap();
        let dump = ["-F", file, "-X", "dump"];
        let output = host::run_output(Path::new("kcat"), &dump, None).await.unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let value = |name: &str| {
            let line = said.lines().find(|line| line.trim().starts_with(name));
            line.and_then(|line| line.split_once('=')).map(|(_, value)| value.trim().to_owned())
        };
        assert_eq!(value("security.protocol").as_deref(), Some("sasl_ssl"), "{said}");
        assert_eq!(value("sasl.username").as_deref(), Some("u7k2m9qa"), "{said}");
        let ca = data.kcat_ca().display().to_string();
        assert_eq!(value("ssl.ca.location"), Some(ca), "{said}");
        assert!(fs::read_to_string(file).unwrap().contains("sasl.password=s3cret-_\n"));
        data.purge().unwrap();
        assert!(!data.path().exists(), "it goes with the rest");
    }
}
