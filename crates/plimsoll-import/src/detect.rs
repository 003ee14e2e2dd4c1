//! Detects from its content which tool wrote a text; logs of fio are detected by their name as well.

use super::tool::Tool;
use super::{fio, fio_log, pgbench, vdbench};

/// Lines that are searched for marks.
const SEARCHED_LINES: usize = 400;

/// The console begins a line with `hammerdb>`; its result may come after thousands of lines.
const HAMMERDB: [&str; 6] = [
    "TEST RESULT : System achieved",
    "HammerDB",
    "Hammerdb ",
    "hammerdb>",
    "Vuser 1",
    "\"elapsed_ms\"",
];

const GO_TPC: [&str; 3] = [" - Takes(s):", "\"Takes(s)\"", "| TAKES(S) |"];

pub fn detect(name: &str, text: &str) -> Option<Tool> {
    let text = text.trim_start_matches('\u{feff}');
    let start = Start::of(text);
    let first = start.lines.first()?;
    let is_sysstat = start.has("\"sysstat\"");
    Some(match () {
        () if start.has("\"fio version\"") || fio::is_for_people(text) => Tool::Fio,
        () if is_sysstat && start.has("\"cpu-load\"") => Tool::Mpstat,
        () if is_sysstat && (start.has("\"disk\"") || start.has("\"avg-cpu\"")) => Tool::Iostat,
        () if first.starts_with("sysbench ")
            || start.has_line("Running the test with following options") =>
        {
            Tool::Sysbench
        }
        () if first.starts_with("pgbench (")
            || (start.has_line("number of clients:") && start.has_line("tps = "))
            || pgbench::is_progress_alone(text) =>
        {
            Tool::Pgbench
        }
        () if start.has_line("<Results>") => Tool::Diskspd,
        () if HAMMERDB.iter().any(|mark| start.has(mark)) => Tool::Hammerdb,
        () if GO_TPC.iter().any(|mark| start.has(mark)) => Tool::GoTpc,
        () if vdbench::header(text).is_some() || start.has("Starting RD=") => Tool::Vdbench,
        () if start.has_line("avg-cpu:") || start.has_device_table() => Tool::Iostat,
        () if first.trim_start_matches('-').starts_with("procs") => Tool::Vmstat,
        () if start.has("%usr") && start.has("%idle") && start.has("CPU") => Tool::Mpstat,
        () if fio_log::named(name).is_some() && first.split(',').count() >= 4 => Tool::FioLog,
        () if is_transaction(first) => Tool::PgbenchLog,
        () => return None,
    })
}

/// The first lines that are not empty.
struct Start<'a> {
    lines: Vec<&'a str>,
}

impl<'a> Start<'a> {
    fn of(text: &'a str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        Self {
            lines: lines.take(SEARCHED_LINES).collect(),
        }
    }

    fn has(&self, mark: &str) -> bool {
        self.lines.iter().any(|line| line.contains(mark))
    }

    /// A line that begins so.
    fn has_line(&self, mark: &str) -> bool {
        self.lines.iter().any(|line| line.starts_with(mark))
    }

    fn has_device_table(&self) -> bool {
        let mut lines = self.lines.iter();
        lines.any(|line| line.starts_with("Device") || line.ends_with(" Device"))
            && (self.has("tps") || self.has("r/s"))
    }
}

/// Whether the line has the fields of a transaction, whose first two and fourth are numbers.
fn is_transaction(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut numbers = [0, 1, 3].into_iter().filter_map(|at| words.get(at));
    (6..=20).contains(&words.len()) && numbers.all(|word| word.parse::<u64>().is_ok())
}
