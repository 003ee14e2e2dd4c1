//! Detects from its content which tool wrote a text; logs of fio are detected by their name as well.

use super::{Tool, fio, fio_log, vdbench};

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

pub fn detect(name: &str, text: &str) -> Option<Tool> {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(SEARCHED_LINES)
        .collect();
    let first = lines.first()?;
    let any = |mark: &str| lines.iter().any(|line| line.contains(mark));
    let begins = |mark: &str| lines.iter().any(|line| line.starts_with(mark));
    let is_table = |line: &&str| line.starts_with("Device") || line.ends_with(" Device");
    let table = lines.iter().any(is_table) && (any("tps") || any("r/s"));
    Some(match () {
        () if any("\"fio version\"") || fio::is_for_people(text) => Tool::Fio,
        () if any("\"sysstat\"") && any("\"cpu-load\"") => Tool::Mpstat,
        () if any("\"sysstat\"") && (any("\"disk\"") || any("\"avg-cpu\"")) => Tool::Iostat,
        () if first.starts_with("sysbench ")
            || begins("Running the test with following options") =>
        {
            Tool::Sysbench
        }
        () if first.starts_with("pgbench (")
            || (begins("number of clients:") && begins("tps = ")) =>
        {
            Tool::Pgbench
        }
        () if begins("<Results>") => Tool::Diskspd,
        () if HAMMERDB.into_iter().any(any) => Tool::Hammerdb,
        () if any(" - Takes(s):") || any("\"Takes(s)\"") || any("| TAKES(S) |") => Tool::GoTpc,
        () if vdbench::header(text).is_some() || any("Starting RD=") => Tool::Vdbench,
        () if begins("avg-cpu:") || table => Tool::Iostat,
        () if first.trim_start_matches('-').starts_with("procs") => Tool::Vmstat,
        () if any("%usr") && any("%idle") && any("CPU") => Tool::Mpstat,
        () if fio_log::named(name).is_some() && first.split(',').count() >= 4 => Tool::FioLog,
        () if is_numbers(first, 6) => Tool::PgbenchLog,
        () => return None,
    })
}

/// Whether the line has at least so many fields, the first two and the fourth of which are numbers.
fn is_numbers(line: &str, least: usize) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| word.parse::<u64>().is_ok())
    };
    words.len() >= least && words.len() <= 20 && [0, 1, 3].into_iter().all(number)
}
