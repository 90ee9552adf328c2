//! What an endpoint says of itself.

pub mod answers;
mod input;

pub use input::{Counts, Input, Kind, Words};

use app::Right;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// One operation, without what follows from its route.
pub struct About {
    pub(crate) summary: &'static str,
    /// The right that a customer key needs.
    pub(crate) right: Option<Right>,
    pub(crate) query: Vec<Input>,
    pub(crate) headers: Vec<Input>,
    pub(crate) body: Option<Sent>,
    /// Why the state of things may be in the way, as it is said.
    pub(crate) refusal: Option<&'static str>,
    /// Whether what the body names may not be there.
    pub(crate) or_not_found: bool,
    pub(crate) answer: Answer,
}

/// A body.
pub(crate) struct Sent {
    pub fields: Vec<Input>,
    pub example: Value,
    /// Whether the call says something without any.
    pub optional: bool,
    /// Whether it is a list where it is JSON; its one field is that list everywhere else.
    pub is_list: bool,
    /// Of each of these groups at least one field must be given.
    pub groups: Vec<Vec<(&'static str, Counts)>>,
    pub cases: Vec<Case>,
}

/// What other fields must be where a field is one of these words.
pub(crate) struct Case {
    pub field: &'static str,
    pub words: Vec<&'static str>,
    pub then: Vec<Input>,
}

/// What a success looks like.
pub struct Answer {
    pub status: u16,
    pub what: &'static str,
    pub content: Option<Content>,
    pub headers: &'static [(&'static str, &'static str)],
}

pub struct Content {
    pub kind: &'static str,
    pub schema: Value,
    pub example: Value,
}

impl About {
    pub fn new(summary: &'static str) -> Self {
        let answer = Answer { status: 204, what: "Done", content: None, headers: &[] };
        let (query, headers) = (vec![], vec![]);
        Self {
            summary,
            right: None,
            query,
            headers,
            body: None,
            refusal: None,
            or_not_found: false,
            answer,
        }
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
        let (fields, example) = (fields.to_vec(), value(example));
        let (groups, cases) = (vec![], vec![]);
        let (optional, is_list) = (false, false);
        let sent = Sent { fields, example, optional, is_list, groups, cases };
        Self { body: Some(sent), ..self }
    }

    /// A body that is a list in JSON, and that field in a form.
    pub fn list_body(self, list: Input, example: &impl Serialize) -> Self {
        let mut about = self.body(&[list], example);
        about.body = about.body.map(|sent| Sent { is_list: true, ..sent });
        about
    }

    /// The same for a body that may be left out.
    pub fn optional_body(self, fields: &[Input], example: &impl Serialize) -> Self {
        let mut about = self.body(fields, example);
        about.body = about.body.map(|sent| Sent { optional: true, ..sent });
        about
    }

    /// The body must have at least one of these fields.
    pub fn at_least_one(mut self, of: &[(&'static str, Counts)]) -> Self {
        if let Some(sent) = &mut self.body {
            sent.groups.push(of.to_vec());
        }
        self
    }

    /// Where a field of the body is one of these words, others must be like this.
    pub fn when(mut self, field: &'static str, words: &[&'static str], then: &[Input]) -> Self {
        if let Some(sent) = &mut self.body {
            sent.cases.push(Case { field, words: words.to_vec(), then: then.to_vec() });
        }
        self
    }

    /// May be refused for the state of things, in words like these.
    pub fn refuses(self, sentence: &'static str) -> Self {
        Self { refusal: Some(sentence), ..self }
    }

    /// May answer 404 for what its body names.
    pub fn or_not_found(self) -> Self {
        Self { or_not_found: true, ..self }
    }

    /// Answers 200 with a document of this one's type.
    pub fn json<T: Serialize + JsonSchema>(self, what: &'static str, example: &T) -> Self {
        let (schema, example) = (answers::schema_of::<T>(), value(example));
        self.answers(what, Content { kind: "application/json", schema, example })
    }

    /// Answers 200 with a list of such documents.
    pub fn list<T: Serialize + JsonSchema>(self, what: &'static str, example: T) -> Self {
        self.json(what, &vec![example])
    }

    /// Answers 200 with text like this one.
    pub fn text(self, what: &'static str, kind: &'static str, example: &str) -> Self {
        let (schema, example) = (json!({"type": "string"}), example.into());
        self.answers(what, Content { kind, schema, example })
    }

    /// Answers 201 without a body.
    pub fn created(mut self, what: &'static str) -> Self {
        self.answer = Answer { status: 201, what, content: None, ..self.answer };
        self
    }

    /// Answers 201 with a document of this one's type.
    pub fn created_json<T: Serialize + JsonSchema>(self, what: &'static str, example: &T) -> Self {
        let mut about = self.json(what, example);
        about.answer.status = 201;
        about
    }

    /// May be refused because the cluster can't be asked.
    pub fn asks_kafka(self) -> Self {
        self.refuses(
            "The cluster is being created (waiting for server 1); try again once `ready` reads true",
        )
    }

    fn answers(mut self, what: &'static str, content: Content) -> Self {
        self.answer = Answer { status: 200, what, content: Some(content), ..self.answer };
        self
    }

    pub fn answer_header(mut self, headers: &'static [(&'static str, &'static str)]) -> Self {
        self.answer.headers = headers;
        self
    }
}

fn value(example: &impl Serialize) -> Value {
    serde_json::to_value(example).expect("plain data serialises")
}
