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
pub struct Problems(Vec<FieldProblem>);

impl Problems {
    pub fn add(&mut self, field: &str, what: impl Into<String>) {
        self.0.push(FieldProblem { field: field.into(), what: what.into() });
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
        if value.is_none() && !self.0.iter().any(|problem| problem.field == field) {
            self.add(field, "Field is required");
        }
        value
    }

    /// Those of a part of the request.
    pub fn extend(&mut self, part: Problems) {
        self.0.extend(part.0);
    }

    /// Fails with all of them, if there are any.
    pub fn finish(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Invalid(self.0)) }
    }
}
