//! What an endpoint says of itself.

use app::Right;
use serde::Serialize;
use serde_json::Value;

/// One operation, without what follows from its route.
pub struct About {
    pub(super) summary: &'static str,
    /// The right that a customer key needs.
    pub(super) right: Option<Right>,
    pub(super) query: Vec<Input>,
    pub(super) headers: Vec<Input>,
    pub(super) body: Option<(Vec<Input>, Value)>,
    pub(super) answer: Answer,
}

/// A field of the body or the query, or a header.
#[derive(Clone, Copy)]
pub struct Input {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) what: &'static str,
    pub(super) required: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Flag,
    List,
}

/// What a success looks like.
pub struct Answer {
    pub status: u16,
    pub what: &'static str,
    pub content: Option<Content>,
    /// Fields that may be null, though they are not in the example.
    pub nullable: &'static [&'static str],
    pub headers: &'static [(&'static str, &'static str)],
}

pub struct Content {
    pub kind: &'static str,
    pub example: Value,
}

impl About {
    pub fn new(summary: &'static str) -> Self {
        let answer =
            Answer { status: 204, what: "Done", content: None, nullable: &[], headers: &[] };
        Self { summary, right: None, query: vec![], headers: vec![], body: None, answer }
    }

    pub fn needs(self, right: Right) -> Self {
        Self { right: Some(right), ..self }
    }

    pub fn query(self, query: &[Input]) -> Self {
        Self { query: query.to_vec(), ..self }
    }

    pub fn header(mut self, header: Input) -> Self {
        self.headers.push(header);
        self
    }

    pub fn body(self, fields: &[Input], example: &impl Serialize) -> Self {
        Self { body: Some((fields.to_vec(), value(example))), ..self }
    }

    /// Answers 200 with a document like this one.
    pub fn json(self, what: &'static str, example: &impl Serialize) -> Self {
        self.answers(what, Content { kind: "application/json", example: value(example) })
    }

    /// Answers 200 with text like this one.
    pub fn text(self, what: &'static str, kind: &'static str, example: &str) -> Self {
        self.answers(what, Content { kind, example: example.into() })
    }

    fn answers(mut self, what: &'static str, content: Content) -> Self {
        self.answer = Answer { status: 200, what, content: Some(content), ..self.answer };
        self
    }

    pub fn nullable(mut self, nullable: &'static [&'static str]) -> Self {
        self.answer.nullable = nullable;
        self
    }

    pub fn answer_header(mut self, headers: &'static [(&'static str, &'static str)]) -> Self {
        self.answer.headers = headers;
        self
    }
}

impl Input {
    pub const fn text(name: &'static str, what: &'static str) -> Self {
        Self { name, kind: Kind::Text, what, required: false }
    }

    pub const fn integer(name: &'static str, what: &'static str) -> Self {
        Self { name, kind: Kind::Integer, what, required: false }
    }

    pub const fn flag(name: &'static str, what: &'static str) -> Self {
        Self { name, kind: Kind::Flag, what, required: false }
    }

    pub const fn list(name: &'static str, what: &'static str) -> Self {
        Self { name, kind: Kind::List, what, required: false }
    }

    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

fn value(example: &impl Serialize) -> Value {
    serde_json::to_value(example).expect("plain data serialises")
}
