//! What a caller asked for, kept closed until the caller's rights are checked.

use crate::{Error, FieldProblem, Result};

/// A request with the faults found while reading it. It is opened after the
/// checks of role and visibility: a caller without rights is told that and
/// nothing about its fields.
#[derive(Debug)]
pub struct Asked<T>(Result<(T, Problems)>);

impl<T> Asked<T> {
    /// A request without faults so far, as code makes it.
    pub fn given(request: T) -> Self {
        Self(Ok((request, Problems::default())))
    }

    /// A request whose reading already found fields to be wrong.
    pub fn read(request: T, problems: Problems) -> Self {
        Self(Ok((request, problems)))
    }

    /// Not even a request could be made of what was sent.
    pub fn unreadable(error: Error) -> Self {
        Self(Err(error))
    }

    /// The request, and its faults for the use case to add to.
    pub fn open(self) -> Result<(T, Problems)> {
        self.0
    }

    /// The request, for use cases that add no checks of their own.
    pub fn checked(self) -> Result<T> {
        let (request, problems) = self.0?;
        problems.finish()?;
        Ok(request)
    }
}

/// Everything that is wrong with the fields of one request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problems {
    found: Vec<FieldProblem>,
    /// What stands before the name of a field: the part of the request it is in.
    place: String,
}

impl Problems {
    pub fn add(&mut self, field: &str, what: impl Into<String>) {
        let field = format!("{}{field}", self.place);
        self.found.push(FieldProblem { field, what: what.into() });
    }

    /// Whether something is wrong with this field.
    pub fn has(&self, field: &str) -> bool {
        let is = |name: &str| name.strip_prefix(self.place.as_str()) == Some(field);
        self.found.iter().any(|problem| is(&problem.field))
    }

    /// Looks at one of a list: its fields are named by where they are, as in
    /// `rules[1].operation`.
    pub fn within<T>(&mut self, list: &str, number: usize, look: impl FnOnce(&mut Self) -> T) -> T {
        let place = format!("{}{list}[{number}].", self.place);
        let before = std::mem::replace(&mut self.place, place);
        let seen = look(self);
        self.place = before;
        seen
    }

    /// Notes the fault of one field's check.
    pub fn take<T, E: ToString>(
        &mut self,
        field: &str,
        checked: std::result::Result<T, E>,
    ) -> Option<T> {
        checked.map_err(|what| self.add(field, what.to_string())).ok()
    }

    /// Notes that a field is missing, unless it was sent and was wrong.
    pub fn required<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        if value.is_none() && !self.has(field) {
            self.add(field, "Field is required");
        }
        value
    }

    /// Those of a part of the request.
    pub fn extend(&mut self, part: Problems) {
        for FieldProblem { field, what } in part.found {
            self.add(&field, what);
        }
    }

    /// Fails with all of them, if there are any.
    pub fn finish(self) -> Result<()> {
        if self.found.is_empty() { Ok(()) } else { Err(Error::Invalid(self.found)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_list_are_named_by_where_they_are() {
        let mut read = Problems::default();
        read.add("value", "must be a string");
        let mut problems = Problems::default();
        problems.within("messages", 1, |problems| problems.extend(read));
        assert!(problems.has("messages[1].value") && !problems.has("value"));
        problems.within("messages", 1, |problems| {
            assert!(problems.has("value"));
            problems.required("value", None::<()>);
            problems.within("headers", 0, |problems| problems.add("name", "is odd"));
        });
        problems.within("messages", 10, |problems| problems.required("value", None::<()>));
        problems.add("topic", "is unknown");
        assert_eq!(
            problems.finish().unwrap_err().to_string(),
            "4 fields are missing or wrong: messages[1].value, messages[1].headers[0].name, \
             messages[10].value, topic"
        );
    }
}
