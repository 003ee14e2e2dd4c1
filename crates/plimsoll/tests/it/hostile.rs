//! Run files that somebody made to harm who opens them: each is refused or opens, in bounded time and memory.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::common::{Outcome, Place};

struct HostileFile {
    name: &'static str,
    /// What makes it of a good one.
    sql: &'static str,
}

const fn file(name: &'static str, sql: &'static str) -> HostileFile {
    HostileFile { name, sql }
}

/// What SQLite would run is refused by name.
const REFUSED: &[HostileFile] = &[
    file(
        "recursive-view",
        "DROP TABLE run; CREATE VIEW run AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT i AS id, i AS title FROM n",
    ),
    file(
        "view-of-huge-texts",
        "DROP TABLE event; CREATE VIEW event AS SELECT 0 AS at_ns, NULL AS subject, 'note' AS severity,
         printf('%.*c', 900000000, 'x') AS code, NULL AS text, NULL AS args",
    ),
    file("trigger", "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM point; END"),
    file(
        "virtual-table",
        "INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING rtree(a, b, c)')",
    ),
    file("generated-column", "ALTER TABLE run ADD COLUMN extra TEXT AS (hex(zeroblob(400000000)))"),
    file(
        "check",
        "UPDATE sqlite_schema SET sql = replace(sql, 'failure TEXT', 'failure TEXT CHECK (randomblob(9) > 0)')
         WHERE name = 'run'",
    ),
    file("default", "ALTER TABLE run ADD COLUMN extra TEXT DEFAULT 'x'"),
    file("partial-index", "CREATE INDEX i ON phase (id) WHERE kind = 'measure'"),
    file("expression-index", "CREATE INDEX i ON phase (abs(id))"),
    file(
        "collation",
        "UPDATE sqlite_schema SET sql = replace(sql, 'title TEXT', 'title TEXT COLLATE evil') WHERE name = 'run'",
    ),
    file("sequence", "CREATE TABLE s (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO s VALUES (9)"),
    file("name-of-another-database", "CREATE TABLE \"temp.run\" (id)"),
];

/// Some open, some are damaged.
const BOUNDED: &[HostileFile] = &[
    file(
        "two-cases-of-a-name",
        "INSERT INTO sqlite_schema SELECT 'table', 'Run', 'Run', rootpage, replace(sql, 'TABLE run', 'TABLE Run')
         FROM sqlite_schema WHERE name = 'run'",
    ),
    file(
        "shared-pages",
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'tick')
         WHERE name IN ('phase', 'point', 'window')",
    ),
    file("page-of-the-schema", "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'event'"),
    file("page-beyond-the-end", "UPDATE sqlite_schema SET rootpage = 4000000000 WHERE name = 'tick'"),
    file("wrong-types", "UPDATE point SET users = 'many', txns = x'00', step_index = 'a'"),
    file("negative-ids", "UPDATE phase SET point = -1; UPDATE point SET system = -7"),
    file(
        "infinities",
        "UPDATE point SET offered_per_second = 9e999, offered_to_per_second = -9e999; UPDATE steady SET range = 9e999",
    ),
    file(
        "last-times",
        "UPDATE tick SET end_ns = 9223372036854775807; UPDATE phase SET end_ns = 9223372036854775807;
         UPDATE run SET lasted_ns = 9223372036854775807; UPDATE event SET at_ns = 9223372036854775807",
    ),
    file(
        "ends-before-begins",
        "UPDATE tick SET start_ns = end_ns + 5000000000; UPDATE phase SET end_ns = 0",
    ),
    file(
        "years-between-seconds",
        "UPDATE tick SET start_ns = start_ns + id * 1000000000000000, end_ns = end_ns + id * 1000000000000000;
         UPDATE phase SET end_ns = 9000000000000000000; UPDATE sample SET at_ns = at_ns + rowid * 1000000000000000",
    ),
    file("points-of-themselves", "UPDATE phase SET point = id; UPDATE point SET system = id, medium = id"),
    file("no-run", "DELETE FROM run"),
    file(
        "many-runs",
        "INSERT INTO run SELECT run.* FROM run, (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
         LIMIT 3000) SELECT i FROM n)",
    ),
    file(
        "many-points",
        "INSERT INTO point SELECT i + 1000, step, step_index, i, system, medium, workload, mode, users,
         offered_per_second, txns, connections, offered_to_per_second, repeat, purpose, scene, parameters
         FROM (SELECT * FROM point LIMIT 1), (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000)
         SELECT i FROM n)",
    ),
    file(
        "many-types",
        "UPDATE point SET txns = (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000)
         SELECT json_group_array('t') FROM n)",
    ),
    file("escapes", "UPDATE run SET title = char(27) || '[2J' || char(27) || ']0;x' || char(7), id = char(10)"),
    file("large-counts", "UPDATE tick SET counts = '[[0,72057594037927935,72057594037927935]]'"),
    file("type-beyond-all", "UPDATE tick SET counts = '[[9999999999999,1]]'"),
    file("deep-plan", "UPDATE plan SET text = replace(printf('%.*c', 100000, 'x'), 'x', '[')"),
    file("numbers-of-the-plan", "UPDATE plan SET text = replace(text, ':1', ':18446744073709551615')"),
    file("references-of-the-plan", "UPDATE plan SET text = replace(text, '\"system\":0', '\"system\":77')"),
    file("large-plan", "UPDATE plan SET text = text || printf('%.*c', 3000000, ' ')"),
    file("long-names", "UPDATE subject SET name = printf('%.*c', 300000, 'x') || id; UPDATE point SET step = hex(zeroblob(100000))"),
    file("long-wait-events", "INSERT INTO wait_event SELECT i, 'io', printf('%.*c', 100000, 'x') || i FROM (SELECT 900 AS i UNION SELECT 901)"),
    file(
        "many-metrics",
        "UPDATE layout SET metrics = (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 8000)
         SELECT json_group_array('cpu_idle') FROM n) WHERE id = 1; UPDATE sample SET data = zeroblob(1000), layout = 1",
    ),
    file("histograms-of-nothing", "UPDATE window SET response = zeroblob(90000); UPDATE tick SET times = zeroblob(9)"),
    file("many-digests", "INSERT INTO digest SELECT hex(zeroblob(900000)) FROM point; UPDATE digest SET sha256 = x'00'"),
    file("version-below-all", "PRAGMA user_version = -2147483648"),
];

/// In a directory of hostile files.
fn make(dir: &Path, hostile: &HostileFile) -> PathBuf {
    let good = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../runs/2026-11-25-vm-2cpu/member-failure.plimsoll"
    );
    let path = dir.join(format!("{}.plimsoll", hostile.name));
    fs::copy(good, &path).unwrap();
    let db = Connection::open(&path).unwrap();
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
        .unwrap();
    db.execute_batch(
        "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA writable_schema = ON; BEGIN",
    )
    .unwrap();
    db.execute_batch(hostile.sql).unwrap();
    db.execute_batch("COMMIT").unwrap();
    path
}

/// A table of 500^6 rows in six pages: each page but the last holds the next one 500 times.
fn repeat_pages(path: &Path) {
    const PAGE: usize = 4096;
    const CELLS: usize = 500;
    let db = Connection::open(path).unwrap();
    let root: usize = db
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'event'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(db);
    let mut bytes = fs::read(path).unwrap();
    let leaf = bytes[(root - 1) * PAGE..root * PAGE].to_vec();
    let first = bytes.len() / PAGE + 1;
    for level in 0..6 {
        let next = (first + level) as u32;
        let mut page = vec![0; PAGE];
        page[0] = 5;
        page[3..5].copy_from_slice(&(CELLS as u16).to_be_bytes());
        page[8..12].copy_from_slice(&next.to_be_bytes());
        for cell in 0..CELLS {
            let at = 12 + 2 * CELLS + 5 * cell;
            page[12 + 2 * cell..][..2].copy_from_slice(&(at as u16).to_be_bytes());
            page[at..at + 4].copy_from_slice(&next.to_be_bytes());
        }
        page[5..7].copy_from_slice(&((12 + 2 * CELLS) as u16).to_be_bytes());
        if level == 0 {
            bytes[(root - 1) * PAGE..root * PAGE].copy_from_slice(&page);
        } else {
            bytes.extend(page);
        }
    }
    bytes.extend(leaf);
    let pages = (bytes.len() / PAGE) as u32;
    bytes[28..32].copy_from_slice(&pages.to_be_bytes());
    fs::write(path, bytes).unwrap();
}

/// In 30 seconds of processor time and 3 GB of address space.
fn bounded(place: &Place, args: &[&str]) -> Outcome {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "ulimit -t 30; ulimit -v 3000000; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_plimsoll"),
        ])
        .args(args)
        .current_dir(place.path(""))
        .env("TMPDIR", place.path("tmp"));
    let outcome = place.start_command(command).wait();
    assert!(matches!(outcome.code, Some(0..=4)), "{args:?}: {outcome:?}");
    assert!(
        !outcome.stderr.contains("panicked"),
        "{args:?}: {outcome:?}"
    );
    outcome
}

#[test]
fn hostile_run_files_neither_hang_nor_fill_memory() {
    let place = Place::new();
    let dir = place.path("runs");
    fs::create_dir(&dir).unwrap();
    let mut files: Vec<PathBuf> = REFUSED
        .iter()
        .chain(BOUNDED)
        .map(|hostile| make(&dir, hostile))
        .collect();
    let repeated = make(&dir, &file("repeated-pages", ""));
    repeat_pages(&repeated);
    files.push(repeated);
    assert!(files.len() > 40);

    let list = bounded(&place, &["list", "runs"]);
    for hostile in REFUSED {
        let refused = format!("{}.plimsoll holds the ", hostile.name);
        assert!(
            list.stderr.contains(&refused),
            "{}: {}",
            hostile.name,
            list.stderr
        );
    }
    std::thread::scope(|scope| {
        for half in files.chunks(files.len().div_ceil(2)) {
            let place = &place;
            scope.spawn(move || {
                for path in half {
                    let path = path.to_str().unwrap();
                    bounded(place, &["export", path, "--to", "csv"]);
                }
            });
        }
    });
}

#[test]
fn directories_with_links_pipes_and_sockets_are_listed() {
    let place = Place::new();
    let dir = place.path("runs");
    fs::create_dir(&dir).unwrap();
    let set = dir.join("a.set");
    fs::create_dir(&set).unwrap();
    fs::write(set.join("set.json"), "{}").unwrap();
    for name in ["self.set", "self"] {
        symlink("../a.set", set.join(name)).unwrap();
    }
    symlink("/dev/zero", dir.join("device.plimsoll")).unwrap();
    symlink("nowhere", dir.join("dangling.plimsoll")).unwrap();
    symlink("loop.plimsoll", dir.join("loop.plimsoll")).unwrap();
    fs::create_dir(dir.join("directory.plimsoll")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = dir.join("pipe.plimsoll");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = UnixListener::bind(dir.join("socket.plimsoll")).unwrap();
    let good = file("good", "");
    make(&set, &good);
    let list = bounded(&place, &["list", "runs"]).succeeded();
    assert_eq!(list.stdout.matches("good.plimsoll").count(), 1, "{list:?}");
    for name in ["pipe", "socket", "device", "directory", "loop", "dangling"] {
        let path = format!("runs/{name}.plimsoll");
        bounded(&place, &["report", &path]).failed(2, &[&path]);
    }
}
