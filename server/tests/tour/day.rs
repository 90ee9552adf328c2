//! One cluster of a test and everybody who asks it: our API, and a client that knows
//! nothing of it.

use serde_json::Value;
use test_support::installation::Installation;
use test_support::witness::Witness;

pub struct Day<'a> {
    pub castellan: &'a Installation,
    pub witness: Witness,
    /// As many as there are servers, and no more than three.
    pub replicas: i64,
    id: i64,
}

impl<'a> Day<'a> {
    pub fn of(castellan: &'a Installation, instance: &Value) -> Self {
        let number = |field: &str| instance[field].as_i64().unwrap();
        let replicas = number("nodes").min(3);
        Self { castellan, witness: Witness::new(instance), replicas, id: number("id") }
    }

    pub fn path(&self, rest: &str) -> String {
        format!("/api/instances/{}/{rest}", self.id)
    }

    pub async fn get(&self, rest: &str) -> Value {
        let (status, answer) = self.castellan.get(&self.path(rest)).await;
        assert_eq!(status, 200, "{rest}: {answer}");
        answer
    }

    pub async fn post(&self, rest: &str, body: &Value, expected: u16) -> Value {
        let (status, answer) = self.castellan.post(&self.path(rest), body).await;
        assert_eq!(status, expected, "{rest} {body}: {answer}");
        answer
    }

    pub async fn put(&self, rest: &str, body: &Value) -> Value {
        let (status, answer) = self.castellan.put(&self.path(rest), body).await;
        assert_eq!(status, 200, "{rest} {body}: {answer}");
        answer
    }

    pub async fn delete(&self, rest: &str, expected: u16) {
        assert_eq!(self.castellan.delete(&self.path(rest)).await, expected, "{rest}");
    }
}
