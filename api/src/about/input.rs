//! A field of a body or a query, or a header: what validation wants of it.

/// A field of the body or the query, or a header.
#[derive(Clone, Copy)]
pub struct Input {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) what: &'static str,
    pub(crate) required: bool,
    /// The bounds of a number; of a text's length; of the length of each text
    /// in a list.
    pub(crate) least: Option<i64>,
    /// What a number must be greater than.
    pub(crate) above: Option<i64>,
    pub(crate) most: Option<i64>,
    /// What a number must be a multiple of.
    pub(crate) step: Option<i64>,
    pub(crate) pattern: Option<&'static str>,
    /// Kafka's and our own words, where a text must be one of them.
    pub(crate) words: Option<Words>,
    pub(crate) is_email: bool,
    /// The bounds of a list's length.
    pub(crate) least_items: Option<usize>,
    pub(crate) most_items: Option<usize>,
    /// A value that works, where not any of its kind does.
    pub(crate) example: Option<&'static str>,
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

/// Made when the document is: the types that have them list them.
#[derive(Clone, Copy)]
pub enum Words {
    Exactly(fn() -> Vec<&'static str>),
    AnyCase(fn() -> Vec<&'static str>),
}

/// When a field counts as given, of those of which at least one must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Not as null, and not as an empty text or list.
    Given,
    /// Also as an empty text or list.
    EvenEmpty,
    /// Also as null.
    EvenNull,
}

/// No control characters; for lists no comma either.
const PLAIN: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";
const PLAIN_ITEM: &str = r"^[^,\x00-\x1f\x7f-\x9f]*$";
/// An address without quoted parts, comments and literals.
const EMAIL: &str = r"^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$";
/// Empty means "not given", as everywhere.
const SUBNET: &str = r"^([0-9]{1,3}(\.[0-9]{1,3}){3}/(1[6-9]|2[0-8]))?$";
const MONTH: &str = "^(([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-(0[1-9]|1[0-2]))?$";

impl Input {
    const fn new(name: &'static str, kind: Kind, what: &'static str) -> Self {
        Self {
            name,
            kind,
            what,
            required: false,
            least: None,
            above: None,
            most: None,
            step: None,
            pattern: None,
            words: None,
            is_email: false,
            least_items: None,
            most_items: None,
            example: None,
        }
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

    /// At most 20 tags, each of 1 to 64 characters.
    pub const fn tags(name: &'static str, what: &'static str) -> Self {
        let input = Self::list(name, what).at_least(1).at_most(64).items(0, 20);
        Self { pattern: Some(PLAIN_ITEM), ..input }
    }

    /// A text without control characters.
    pub const fn plain(name: &'static str, what: &'static str) -> Self {
        Self::text(name, what).like(PLAIN)
    }

    pub const fn email(name: &'static str, what: &'static str) -> Self {
        let input = Self::text(name, what).at_most(254).like(EMAIL).such_as("ada@example.com");
        Self { is_email: true, ..input }
    }

    /// A private range in CIDR notation.
    pub const fn subnet(name: &'static str, what: &'static str) -> Self {
        Self::text(name, what).like(SUBNET)
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

    pub const fn multiple_of(self, step: i64) -> Self {
        Self { step: Some(step), ..self }
    }

    /// One of these words and no other text.
    pub const fn one_of(self, words: fn() -> Vec<&'static str>) -> Self {
        Self { words: Some(Words::Exactly(words)), ..self }
    }

    /// The same, in any case.
    pub const fn one_of_any_case(self, words: fn() -> Vec<&'static str>) -> Self {
        Self { words: Some(Words::AnyCase(words)), ..self }
    }

    /// How many items a list has.
    pub const fn items(self, least: usize, most: usize) -> Self {
        let least_items = if least == 0 { None } else { Some(least) };
        Self { least_items, most_items: Some(most), ..self }
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
