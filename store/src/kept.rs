//! Rows as plain values, for any number of readers at once.
//!
//! SQLite's own values change while they are read, so a row of it is of one
//! reader. What is read from a kept row is what the same call reads from the row
//! that it was made of.

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
pub(crate) struct Page {
    columns: Vec<Box<str>>,
    cells: Vec<Cell>,
}

impl Page {
    /// None if it holds what no row of ours does, such as bytes.
    pub fn of(rows: &[SqliteRow]) -> Option<Self> {
        let Some(first) = rows.first() else {
            return Some(Self { columns: Vec::new(), cells: Vec::new() });
        };
        let columns: Vec<_> = first.columns().iter().map(|column| column.name().into()).collect();
        let cells = rows.iter().flat_map(|row| (0..columns.len()).map(|at| cell(row, at)));
        Some(Self { cells: cells.collect::<Option<_>>()?, columns })
    }

    pub fn rows(self: &Arc<Self>) -> Vec<Row> {
        let count = self.cells.len().checked_div(self.columns.len()).unwrap_or(0);
        (0..count).map(|at| Row::Kept(KeptRow { page: Arc::clone(self), at })).collect()
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

/// One row of a page.
#[derive(Debug)]
pub struct KeptRow {
    page: Arc<Page>,
    at: usize,
}

impl KeptRow {
    pub(crate) fn get<T: FromCell>(&self, column: &str) -> Result<T> {
        let columns = &self.page.columns;
        // As in SQLite's rows, the last of several columns of a name counts.
        let Some(position) = columns.iter().rposition(|name| **name == *column) else {
            return Err(sqlx::Error::ColumnNotFound(column.to_owned()).into());
        };
        T::from_cell(&self.page.cells[self.at * columns.len() + position]).ok_or_else(|| {
            let source = "the value is of another type".into();
            sqlx::Error::ColumnDecode { index: column.to_owned(), source }.into()
        })
    }
}

/// A type that a column is read as. As of SQLite's rows, nothing is read as an
/// empty text, zero or no, where it was not asked for.
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
