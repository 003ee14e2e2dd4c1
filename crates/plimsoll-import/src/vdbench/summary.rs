//! `summary.html`, `totals.html` and what vdbench prints: a line `Starting RD=` for each run, headers of two lines, rows.

use jiff::civil::Date;

use super::super::fault::Read;
use super::super::lines::{Header, NumberedLine, first_word, lines};
use super::super::when;
use super::run::{VdbenchInterval, VdbenchRow, VdbenchRun, offered, time_of};

pub(super) fn runs(text: &str) -> Read<Vec<VdbenchRun>> {
    let mut reader = VdbenchReader::default();
    let mut lines = lines(text);
    while let Some(line) = lines.next() {
        reader.about_file(line.text);
        if let Some((before, rest)) = line.text.split_once("Starting RD=") {
            reader.start(before, rest);
        } else if let Some(place) = place_of_interval(line) {
            let second = lines.next().map_or("", |line| line.text);
            reader.header(line, place, second)?;
        } else {
            reader.row(line)?;
        }
    }
    Ok(reader.runs)
}

#[derive(Default)]
struct VdbenchReader {
    runs: Vec<VdbenchRun>,
    /// What holds for all runs of the file.
    zone: String,
    version: String,
    /// Of the rows that follow: columns after the interval.
    header: Option<Header>,
    day: Option<Date>,
}

/// Where a header has the word for its intervals.
fn place_of_interval(line: NumberedLine<'_>) -> Option<usize> {
    let words = line.words();
    let place = words.iter().position(|word| is_interval(word));
    place.filter(|_| when::clock(words[0]).is_none())
}

fn is_interval(word: &str) -> bool {
    word.trim_matches('.').eq_ignore_ascii_case("interval")
}

impl VdbenchReader {
    fn about_file(&mut self, line: &str) {
        // `Vdbench summary report, created 15:57:45 Nov 23 2026 UTC`, with the same in another zone behind it.
        if let Some((_, created)) = line.split_once("report, created ") {
            let zone = created.split_whitespace().nth(4);
            self.zone = zone.unwrap_or_default().to_owned();
        }
        if let Some((_, version)) = line.split_once("Vdbench distribution: vdbench") {
            self.version = first_word(version).to_owned();
        }
    }

    /// `15:57:53.002 Starting RD=rd2; I/O rate: 5000; elapsed=3 warmup=2; For loops: threads=1 xfersize=8k`, for file
    /// systems with `fwdrate=100;` or `fwdrate=max.`.
    fn start(&mut self, before: &str, rest: &str) {
        let rest = rest.split('<').next().unwrap_or(rest);
        let rate = number_after(rest, "I/O rate:").or(number_after(rest, "fwdrate="));
        let loops = rest.split_once("For loops:").map_or("", |(_, loops)| loops);
        let mut parameters = Vec::new();
        for pair in loops.split_whitespace() {
            if let Some((key, value)) = pair.trim_end_matches(',').split_once('=') {
                parameters.push((key.to_owned(), value.to_owned()));
            }
        }
        let clock = before.rsplit('>').next().unwrap_or(before).trim();
        let name = rest.split([';', ' ']).next().unwrap_or_default();
        self.runs.push(VdbenchRun {
            name: name.to_owned(),
            start: time_of(clock),
            zone: self.zone.clone(),
            version: self.version.clone(),
            warmup_s: number_after(rest, "warmup="),
            offered_per_second: rate.and_then(offered),
            parameters,
            ..VdbenchRun::default()
        });
    }

    fn header(&mut self, line: NumberedLine<'_>, place: usize, second: &str) -> Read<()> {
        let words = line.words();
        self.day = date(&words[..place]);
        self.header = Some(columns(line, &words[place + 1..], second)?);
        Ok(())
    }

    fn row(&mut self, line: NumberedLine<'_>) -> Read<()> {
        let words = line.words();
        let [time, interval, figures @ ..] = words.as_slice() else {
            return Ok(());
        };
        let time = time_of(time);
        let interval = match VdbenchInterval::parse(interval) {
            Some(interval) if time.is_some() && !figures.is_empty() => interval,
            _ => return Ok(()),
        };
        if interval == VdbenchInterval::Spread {
            return Ok(());
        }
        let Some(header) = &self.header else {
            return Err(line.unexpected("a header of columns above it"));
        };
        let row = VdbenchRow {
            line: line.number,
            interval,
            time,
            columns: header.row(line, figures)?,
        };
        if self.runs.is_empty() {
            self.runs.push(VdbenchRun {
                name: "run".into(),
                ..VdbenchRun::default()
            });
        }
        let Some(run) = self.runs.last_mut() else {
            return Ok(());
        };
        run.day = run.day.or(self.day);
        run.add(row)
    }
}

/// The number that follows a key.
fn number_after(text: &str, key: &str) -> Option<f64> {
    let (_, rest) = text.split_once(key)?;
    let value = rest.split([';', ' ']).find(|value| !value.is_empty())?;
    value.trim_end_matches('.').parse().ok()
}

/// `Nov 23, 2026`; other languages have other months.
fn date(words: &[&str]) -> Option<Date> {
    Date::strptime("%b %d, %Y", words.join(" ")).ok()
}

const OF_FILES: [&str; 6] = [
    "rate",
    "resp",
    "read_rate",
    "write_rate",
    "mb_read",
    "mb_write",
];
const OF_RAW: [&str; 4] = ["rate", "resp", "read%", "bytes/io"];

/// The names of the columns after the interval, those of a flatfile, from both lines of a header.
fn columns(line: NumberedLine<'_>, first: &[&str], second: &str) -> Read<Header> {
    let groups = first.iter();
    let groups: Vec<String> = groups
        .map(|word| word.trim_matches('.').to_lowercase())
        .collect();
    let below: Vec<&str> = second.split_whitespace().collect();
    let is_of_files = groups.first().is_some_and(|name| name == "reqstdops");
    let names = match is_of_files {
        true => file_system_names(&groups, &below),
        false => raw_names(&groups, &below),
    };
    let needed: &[&str] = if is_of_files { &OF_FILES } else { &OF_RAW };
    match names {
        Some(names) if needed.iter().all(|own| is_once(&names, own)) => Ok(Header(names)),
        _ => Err(line.unexpected(format!(
            "a header with {} in its two lines, as vdbench 5.04 writes it",
            needed.join(", ")
        ))),
    }
}

fn is_once(names: &[String], own: &str) -> bool {
    names.iter().filter(|name| *name == own).count() == 1
}

/// Raw workloads have as many words in one line as in the other.
fn raw_names(groups: &[String], below: &[&str]) -> Option<Vec<String>> {
    let names = groups.iter().zip(below);
    (groups.len() == below.len())
        .then(|| names.map(|(group, below)| raw_name(group, below)).collect())
}

fn raw_name(group: &str, below: &str) -> String {
    let name = match (group, below) {
        ("i/o", "rate") => "rate",
        ("mb/sec", "1024**2") => "mb/sec",
        ("mb/sec", "1000**2") => "decimal_mb/sec",
        ("bytes", "i/o") => "bytes/io",
        ("read", "pct") => "read%",
        ("resp", "time") => "resp",
        ("resp", "max") => "resp_max",
        ("resp", "stddev") => "resp_std",
        ("queue", "depth") => "queue_depth",
        ("cpu%", "sys") => "cpu_kernel",
        ("cpu%", below) if below.starts_with("sys+u") => "cpu_used",
        (group, below) => return format!("{group}_{below}"),
    };
    name.to_owned()
}

/// A group of a file system workload is over two columns (`rate resp`, `total sys`, `read write`) or over one.
fn file_system_names(groups: &[String], mut below: &[&str]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for group in groups {
        let width = match below {
            ["rate", "resp", ..] | ["total", "sys", ..] | ["read", "write", ..] => 2,
            ["pct" | "total" | "size", ..] => 1,
            _ => return None,
        };
        let own = below[..width].iter();
        names.extend(own.map(|below| file_system_name(group, below)));
        below = &below[width..];
    }
    below.is_empty().then_some(names)
}

fn file_system_name(group: &str, below: &str) -> String {
    match (group, below) {
        ("reqstdops", below) => below.to_owned(),
        ("cpu%", "total") => "cpu_used".to_owned(),
        ("cpu%", "sys") => "cpu_kernel".to_owned(),
        ("mb/sec", "total") => "mb/sec".to_owned(),
        ("mb/sec", below) => format!("mb_{below}"),
        ("read", "pct") => "read%".to_owned(),
        ("xfer", "size") => "xfersize".to_owned(),
        (group, below) => format!("{group}_{below}"),
    }
}
