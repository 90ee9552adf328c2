//! Rows as plain values, for any number of readers at once.
//!
//! sqlx's rows of SQLite can't be shared, so their values are copied. A column of a cached
//! row reads the same as that of the row it was copied from.

use crate::Result;
use crate::db::Row;
use sqlx::sqlite::SqliteRow;
use sqlx::{Column as _, Row as _, TypeInfo as _, ValueRef as _};
use std::sync::Arc;

/// What a value costs besides its text.
const OVERHEAD: usize = 32;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(Box<str>),
}

/// All rows of one answer, one after another.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct CachedRows {
    columns: Vec<Box<str>>,
    cells: Vec<Cell>,
}

impl CachedRows {
    /// None if a value is neither text, number nor null.
    pub fn copy(rows: &[SqliteRow]) -> Option<Self> {
        let Some(first) = rows.first() else {
            return Some(Self { columns: Vec::new(), cells: Vec::new() });
        };
        let columns: Vec<_> = first.columns().iter().map(|column| column.name().into()).collect();
        let cells = rows.iter().flat_map(|row| (0..columns.len()).map(|at| cell(row, at)));
        Some(Self { cells: cells.collect::<Option<_>>()?, columns })
    }

    pub fn rows(self: &Arc<Self>) -> Vec<Row> {
        let count = self.cells.len().checked_div(self.columns.len()).unwrap_or(0);
        (0..count).map(|at| Row::Cached(CachedRow { rows: Arc::clone(self), at })).collect()
    }

    #[cfg(test)]
    pub fn with(text: &str) -> Self {
        Self { columns: vec!["text".into()], cells: vec![Cell::Text(text.into())] }
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        let text = |cell: &Cell| if let Cell::Text(text) = cell { text.len() } else { 0 };
        let columns: usize = self.columns.iter().map(|name| OVERHEAD + name.len()).sum();
        let cells: usize = self.cells.iter().map(|cell| OVERHEAD + text(cell)).sum();
        columns + cells
    }
}

fn cell(row: &SqliteRow, at: usize) -> Option<Cell> {
    let value = row.try_get_raw(at).ok()?;
    if value.is_null() {
        return Some(Cell::Null);
    }
    match value.type_info().name() {
        "INTEGER" => row.try_get(at).ok().map(Cell::Int),
        "TEXT" => row.try_get::<String, _>(at).ok().map(|text| Cell::Text(text.into())),
        _ => None,
    }
}

/// One row of an answer.
#[derive(Debug)]
pub struct CachedRow {
    rows: Arc<CachedRows>,
    at: usize,
}

impl CachedRow {
    pub(crate) fn get<T: FromCell>(&self, column: &str) -> Result<T> {
        let columns = &self.rows.columns;
        // As in SQLite's rows, the last of several columns of a name counts.
        let Some(position) = columns.iter().rposition(|name| **name == *column) else {
            return Err(sqlx::Error::ColumnNotFound(column.to_owned()).into());
        };
        T::from_cell(&self.rows.cells[self.at * columns.len() + position]).ok_or_else(|| {
            let source = "the value is of another type".into();
            sqlx::Error::ColumnDecode { index: column.to_owned(), source }.into()
        })
    }
}

/// A type that a column is read as. As in SQLite's rows, null is an empty text, zero or
/// false where the type has no null.
pub(crate) trait FromCell: Sized {
    fn from_cell(cell: &Cell) -> Option<Self>;
}

impl FromCell for String {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Null => Some(String::new()),
            Cell::Text(text) => Some(text.to_string()),
            Cell::Int(_) => None,
        }
    }
}

impl FromCell for i64 {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Null => Some(0),
            Cell::Int(number) => Some(*number),
            Cell::Text(_) => None,
        }
    }
}

impl FromCell for bool {
    fn from_cell(cell: &Cell) -> Option<Self> {
        i64::from_cell(cell).map(|number| number != 0)
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            cell => T::from_cell(cell).map(Some),
        }
    }
}
