//! One text of SQL for every database: statements with `$1` placeholders,
//! values of four portable types, and rows read by column name.

use crate::seal::MasterKey;
use crate::{Error, Result};
use model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Decode, Postgres, Row as _, Sqlite, Type};

/// A value to bind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Bool(bool),
    Bytes(Vec<u8>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(Some(text.to_owned()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(Some(text))
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Self {
        Value::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(Some(number))
    }
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Self {
        Value::Int(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Int(Some(number.into()))
    }
}

impl From<Option<u32>> for Value {
    fn from(number: Option<u32>) -> Self {
        Value::Int(number.map(i64::from))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Bool(flag)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Value::Bytes(bytes)
    }
}

impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        Value::Int(Some(at.as_microsecond()))
    }
}

impl From<Option<Timestamp>> for Value {
    fn from(at: Option<Timestamp>) -> Self {
        Value::Int(at.map(Timestamp::as_microsecond))
    }
}

/// JSON text for lists and documents.
pub fn json(value: &impl Serialize) -> Value {
    Value::Text(Some(serde_json::to_string(value).expect("plain data serialises")))
}

/// A statement and its values.
#[derive(Clone, Debug)]
pub struct Query {
    sql: &'static str,
    values: Vec<Value>,
}

impl Query {
    pub fn new(sql: &'static str) -> Self {
        Self { sql, values: Vec::new() }
    }

    #[must_use]
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    pub(crate) fn sqlite(self) -> sqlx::query::Query<'static, Sqlite, SqliteArguments> {
        let query = sqlx::query(self.sql);
        self.values.into_iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text),
            Value::Int(number) => query.bind(number),
            Value::Bool(flag) => query.bind(flag),
            Value::Bytes(bytes) => query.bind(bytes),
        })
    }

    pub(crate) fn postgres(self) -> sqlx::query::Query<'static, Postgres, PgArguments> {
        // Not kept prepared: a newer control plane may add a column while this
        // one runs, and a kept `SELECT *` would fail from then on.
        let query = sqlx::query(self.sql).persistent(false);
        self.values.into_iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text),
            Value::Int(number) => query.bind(number),
            Value::Bool(flag) => query.bind(flag),
            Value::Bytes(bytes) => query.bind(bytes),
        })
    }
}

/// A row, whatever database it came from.
pub enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// What every database can give.
trait Column:
    for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

impl<T> Column for T where
    T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

impl Row {
    fn get<T: Column>(&self, column: &str) -> Result<T> {
        Ok(match self {
            Row::Sqlite(row) => row.try_get(column)?,
            Row::Postgres(row) => row.try_get(column)?,
        })
    }

    pub fn text(&self, column: &str) -> Result<String> {
        self.get(column)
    }

    pub fn text_or_none(&self, column: &str) -> Result<Option<String>> {
        self.get(column)
    }

    pub fn int(&self, column: &str) -> Result<i64> {
        self.get(column)
    }

    pub fn int_or_none(&self, column: &str) -> Result<Option<i64>> {
        self.get(column)
    }

    pub fn flag(&self, column: &str) -> Result<bool> {
        self.get(column)
    }

    pub fn bytes(&self, column: &str) -> Result<Vec<u8>> {
        self.get(column)
    }

    pub fn number<T: TryFrom<i64>>(&self, column: &'static str) -> Result<T> {
        let value = self.int(column)?;
        T::try_from(value).map_err(|_| Error::Corrupt { what: column, value: value.to_string() })
    }

    pub fn time(&self, column: &'static str) -> Result<Timestamp> {
        microseconds(column, self.int(column)?)
    }

    pub fn time_or_none(&self, column: &'static str) -> Result<Option<Timestamp>> {
        self.int_or_none(column)?.map(|value| microseconds(column, value)).transpose()
    }

    pub fn parse<T: std::str::FromStr>(&self, column: &'static str) -> Result<T> {
        let value = self.text(column)?;
        value.parse().map_err(|_| Error::Corrupt { what: column, value })
    }

    pub fn parse_or_none<T: std::str::FromStr>(&self, column: &'static str) -> Result<Option<T>> {
        let Some(value) = self.text_or_none(column)? else { return Ok(None) };
        value.parse().map(Some).map_err(|_| Error::Corrupt { what: column, value })
    }

    /// Whether the table has this column; one of an earlier release may lack it.
    pub fn has(&self, column: &str) -> bool {
        match self {
            Row::Sqlite(row) => row.try_column(column).is_ok(),
            Row::Postgres(row) => row.try_column(column).is_ok(),
        }
    }

    pub fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T> {
        let value = self.text(column)?;
        serde_json::from_str(&value).map_err(|_| Error::Corrupt { what: column, value })
    }
}

fn microseconds(what: &'static str, value: i64) -> Result<Timestamp> {
    Timestamp::from_microsecond(value)
        .map_err(|_| Error::Corrupt { what, value: value.to_string() })
}

/// Runs queries: on the read pool, or inside a transaction.
pub trait Run: Send {
    fn fetch(&mut self, query: Query) -> impl Future<Output = Result<Vec<Row>>> + Send;
    /// The number of rows it touched.
    fn execute(&mut self, query: Query) -> impl Future<Output = Result<u64>> + Send;
    fn master_key(&self) -> &MasterKey;
    /// The time that leases are counted by. Several machines share one
    /// PostgreSQL, and their clocks differ: there it is the database's own, and
    /// `given` is not looked at. A SQLite file has one process, and its clock,
    /// which tests set, is `given`.
    fn now(&mut self, given: Timestamp) -> impl Future<Output = Result<Timestamp>> + Send;

    fn fetch_one(&mut self, query: Query) -> impl Future<Output = Result<Option<Row>>> + Send {
        async { Ok(self.fetch(query).await?.into_iter().next()) }
    }
}

pub(crate) fn sqlite_rows(rows: Vec<sqlx::sqlite::SqliteRow>) -> Vec<Row> {
    rows.into_iter().map(Row::Sqlite).collect()
}
