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
    pub(super) body: Option<Sent>,
    /// Why the state of things may be in the way, as it is said.
    pub(super) refusal: Option<&'static str>,
    /// Whether what the body names may not be there.
    pub(super) or_not_found: bool,
    pub(super) answer: Answer,
}

/// A body.
pub(super) struct Sent {
    pub fields: Vec<Input>,
    pub example: Value,
    /// Whether the call says something without any.
    pub optional: bool,
}

/// A field of the body or the query, or a header.
#[derive(Clone, Copy)]
pub struct Input {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) what: &'static str,
    pub(super) required: bool,
    /// The bounds of a number; of a text's length; of the length of each text
    /// in a list.
    pub(super) least: Option<i64>,
    /// What a number must be greater than.
    pub(super) above: Option<i64>,
    pub(super) most: Option<i64>,
    pub(super) pattern: Option<&'static str>,
    /// A value that works, where not any of its kind does.
    pub(super) example: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub enum Kind {
    Text,
    Integer,
    Number,
    Flag,
    List,
    /// A list of integers.
    Integers,
    /// Written as one text with commas.
    CommaList,
    /// Names and values.
    Map,
    /// An object with these fields.
    Object(&'static [Input]),
    /// A list of objects with these fields.
    Objects(&'static [Input]),
}

/// No control characters; for lists no comma either.
const PLAIN: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";
const PLAIN_ITEM: &str = r"^[^,\x00-\x1f\x7f-\x9f]*$";
/// Empty means "not given", as everywhere.
const MONTH: &str = "^(([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-(0[1-9]|1[0-2]))?$";

/// What a success looks like.
pub struct Answer {
    pub status: u16,
    pub what: &'static str,
    pub content: Option<Content>,
    /// Fields that may be null, though they are not in the example.
    pub nullable: &'static [&'static str],
    /// Fields that may hold anything of their kind, whatever the example has.
    pub open: &'static [&'static str],
    /// Fields that may be absent.
    pub optional: &'static [&'static str],
    pub headers: &'static [(&'static str, &'static str)],
}

pub struct Content {
    pub kind: &'static str,
    pub example: Value,
}

impl About {
    pub fn new(summary: &'static str) -> Self {
        let answer = Answer {
            status: 204,
            what: "Done",
            content: None,
            nullable: &[],
            open: &[],
            optional: &[],
            headers: &[],
        };
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
        Self { body: Some(Sent { fields, example, optional: false }), ..self }
    }

    /// The same for a body that may be left out.
    pub fn optional_body(mut self, fields: &[Input], example: &impl Serialize) -> Self {
        let (fields, example) = (fields.to_vec(), value(example));
        self.body = Some(Sent { fields, example, optional: true });
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

    /// Answers 200 with a document like this one.
    pub fn json(self, what: &'static str, example: &impl Serialize) -> Self {
        self.answers(what, Content { kind: "application/json", example: value(example) })
    }

    /// Answers 200 with text like this one.
    pub fn text(self, what: &'static str, kind: &'static str, example: &str) -> Self {
        self.answers(what, Content { kind, example: example.into() })
    }

    /// Answers 201 without a body.
    pub fn created(mut self, what: &'static str) -> Self {
        self.answer = Answer { status: 201, what, content: None, ..self.answer };
        self
    }

    /// Answers 201 with a document like this one.
    pub fn created_json(self, what: &'static str, example: &impl Serialize) -> Self {
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

    pub fn nullable(mut self, nullable: &'static [&'static str]) -> Self {
        self.answer.nullable = nullable;
        self
    }

    pub fn open(mut self, open: &'static [&'static str]) -> Self {
        self.answer.open = open;
        self
    }

    pub fn optional(mut self, optional: &'static [&'static str]) -> Self {
        self.answer.optional = optional;
        self
    }

    pub fn answer_header(mut self, headers: &'static [(&'static str, &'static str)]) -> Self {
        self.answer.headers = headers;
        self
    }
}

impl Input {
    const fn new(name: &'static str, kind: Kind, what: &'static str) -> Self {
        let (least, above, most, pattern, example) = (None, None, None, None, None);
        Self { name, kind, what, required: false, least, above, most, pattern, example }
    }

    pub const fn text(name: &'static str, what: &'static str) -> Self {
        Self::new(name, Kind::Text, what)
    }

    /// What a thing is called; required.
    pub const fn name(name: &'static str) -> Self {
        let input = Self::text(name, "1 to 64 characters, without control characters");
        Self { pattern: Some(PLAIN), ..input.required().at_most(64) }
    }

    pub const fn integer(name: &'static str, what: &'static str) -> Self {
        Self::new(name, Kind::Integer, what)
    }

    pub const fn number(name: &'static str, what: &'static str) -> Self {
        Self::new(name, Kind::Number, what)
    }

    pub const fn flag(name: &'static str, what: &'static str) -> Self {
        Self::new(name, Kind::Flag, what)
    }

    pub const fn list(name: &'static str, what: &'static str) -> Self {
        Self::new(name, Kind::List, what)
    }

    pub const fn integers(name: &'static str, what: &'static str) -> Self {
        Self::new(name, Kind::Integers, what)
    }

    pub const fn object(name: &'static str, what: &'static str, fields: &'static [Input]) -> Self {
        Self::new(name, Kind::Object(fields), what)
    }

    pub const fn comma_list(name: &'static str, what: &'static str) -> Self {
        Self::new(name, Kind::CommaList, what)
    }

    pub const fn map(name: &'static str, what: &'static str) -> Self {
        Self::new(name, Kind::Map, what)
    }

    pub const fn objects(name: &'static str, what: &'static str, fields: &'static [Input]) -> Self {
        Self::new(name, Kind::Objects(fields), what)
    }

    /// Tags, each of 1 to 64 characters.
    pub const fn tags(name: &'static str, what: &'static str) -> Self {
        let input = Self::list(name, what).at_least(1).at_most(64);
        Self { pattern: Some(PLAIN_ITEM), ..input }
    }

    pub const fn required(self) -> Self {
        let least = match self.kind {
            // An empty text means "not given".
            Kind::Text => Some(1),
            _ => self.least,
        };
        Self { required: true, least, ..self }
    }

    pub const fn at_least(self, least: i64) -> Self {
        Self { least: Some(least), ..self }
    }

    pub const fn more_than(self, bound: i64) -> Self {
        Self { above: Some(bound), ..self }
    }

    pub const fn at_most(self, most: i64) -> Self {
        Self { most: Some(most), ..self }
    }

    pub const fn like(self, pattern: &'static str) -> Self {
        Self { pattern: Some(pattern), ..self }
    }

    /// A month as `YYYY-MM`.
    pub const fn month(name: &'static str, what: &'static str) -> Self {
        Self::text(name, what).like(MONTH)
    }

    pub const fn such_as(self, example: &'static str) -> Self {
        Self { example: Some(example), ..self }
    }
}

fn value(example: &impl Serialize) -> Value {
    serde_json::to_value(example).expect("plain data serialises")
}
