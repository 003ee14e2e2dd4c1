//! A run file that somebody changed: values by SQL, then bytes and pages. The input is a list of changes.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plimsoll_analysis::summarise;
use plimsoll_record::runfile::{
    LiveCursor, TotalsCursor, read, read_added, read_head, read_live, read_plan,
};
use rusqlite::types::Value;
use rusqlite::Connection;

static GOOD: &[u8] = include_bytes!("../../runs/2026-11-25-vm-2cpu/member-failure.plimsoll");
const PAGE: usize = 4096;
/// Each reads the file again.
const MOST_CHANGES: usize = 20;

struct Column {
    table: String,
    name: String,
}

static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("good");
    std::fs::write(&path, GOOD).expect("a file");
    let db = Connection::open(path).expect("a database");
    let sql = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'";
    let mut statement = db.prepare(sql).expect("columns");
    let columns = statement.query_map([], |row| {
        Ok(Column {
            table: row.get(0)?,
            name: row.get(1)?,
        })
    });
    columns.expect("columns").map(|column| column.expect("a column")).collect()
});

/// Reads numbers off the input; zeros after its end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(*first)
    }

    fn number(&mut self) -> usize {
        self.byte() << 16 | self.byte() << 8 | self.byte()
    }

    fn value(&mut self) -> Value {
        match self.byte() % 10 {
            0 => Value::Null,
            1 => Value::Integer(-1),
            2 => Value::Integer(i64::MAX),
            3 => Value::Integer(i64::MIN),
            4 => Value::Integer(self.number() as i64),
            5 => Value::Real(f64::INFINITY),
            6 => Value::Text("[".repeat(self.number() % 70_000)),
            7 => Value::Blob(vec![self.byte() as u8; self.number() % 70_000]),
            8 => Value::Text("x".repeat(self.byte())),
            _ => Value::Integer(1 << (self.byte() % 63)),
        }
    }
}

fn change_values(path: &Path, input: &mut Input<'_>) -> rusqlite::Result<()> {
    let db = Connection::open(path)?;
    db.execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")?;
    for _ in 0..input.byte() % MOST_CHANGES {
        let Column { table, name } = &COLUMNS[input.number() % COLUMNS.len()];
        let each = input.byte() % 5 + 1;
        let sql = match input.byte() % 4 {
            0 => format!("DELETE FROM {table}"),
            1 => format!("INSERT INTO {table} SELECT * FROM {table}"),
            _ => format!("UPDATE {table} SET {name} = ?1 WHERE coalesce(length({name}), 0) % {each} = 0"),
        };
        let value = input.value();
        let mut statement = db.prepare(&sql)?;
        // A key may forbid it.
        let _ = match statement.parameter_count() {
            0 => statement.execute([]),
            _ => statement.execute([value]),
        };
    }
    Ok(())
}

fn change_bytes(bytes: &mut Vec<u8>, input: &mut Input<'_>) {
    while !input.0.is_empty() && !bytes.is_empty() {
        let at = input.number() % bytes.len();
        match input.byte() % 4 {
            0 => bytes[at] = input.byte() as u8,
            1 => {
                let end = bytes.len().min(at + 8);
                bytes[at..end].fill(0xff);
            }
            2 => {
                let (from, to) = (at / PAGE * PAGE, input.number() % bytes.len() / PAGE * PAGE);
                let end = bytes.len().min(from + PAGE);
                if to + end - from <= bytes.len() {
                    bytes.copy_within(from..end, to);
                }
            }
            _ => bytes.truncate(at.max(PAGE)),
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.plimsoll");
    std::fs::write(&path, GOOD).expect("a file");
    let mut input = Input(data);
    let _ = change_values(&path, &mut input);
    let mut bytes = std::fs::read(&path).expect("a file");
    change_bytes(&mut bytes, &mut input);
    std::fs::write(&path, bytes).expect("a file");
    let _ = (read_head(&path), read_plan(&path));
    let _ = read_live(&path, &mut LiveCursor::default());
    let _ = read_added(&path, &mut TotalsCursor::default(), |_| {});
    if let Ok(record) = read(&path) {
        let _ = summarise(&record);
    }
});
