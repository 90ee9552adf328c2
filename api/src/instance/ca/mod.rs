//! The authorities of an instance, and what they have signed for its clients.

pub mod certificate;
pub mod list;
pub mod revoke;
pub mod sign;

const EXAMPLE_PEM: &str = "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n";

/// One that works; nobody has its key.
const EXAMPLE_CSR: &str = concat!(
    "-----BEGIN CERTIFICATE REQUEST-----\n",
    "MIHLMHMCAQAwETEPMA0GA1UEAwwGb3JkZXJzMFkwEwYHKoZIzj0CAQYIKoZIzj0D\n",
    "AQcDQgAE6odcEuJQBVwNh1b61der92w2NSlLvwCeXyIEIMv4CyDsAj/2+pQGjdUy\n",
    "Zlv8Qf5v8VAGIjJ7nQXopHokyUiwUqAAMAoGCCqGSM49BAMCA0gAMEUCIQDxj5oY\n",
    "devtlwJ5JAXNXnSfyvLzmpbitteJDhkgkXfrPQIgfdMLMcNr1fPzWOYcJwQ+YGts\n",
    "diIYYgcyjT++Fu7nEwE=\n",
    "-----END CERTIFICATE REQUEST-----\n",
);
