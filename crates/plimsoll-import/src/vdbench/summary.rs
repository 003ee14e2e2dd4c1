//! `summary.html`, `totals.html` and what vdbench prints: a line `Starting RD=` for each run, headers of two lines, rows.

use jiff::civil::Date;

use super::super::fault::{Fault, Read};
use super::super::when;
use super::{Columns, Interval, Row, Run, offered, time_of};

/// What holds for all runs of the file.
#[derive(Default)]
struct Heading {
    zone: String,
    version: String,
}

pub(super) fn runs(text: &str) -> Read<Vec<Run>> {
    let (mut heading, mut runs) = (Heading::default(), Vec::<Run>::new());
    let (mut names, mut day): (Option<Vec<String>>, Option<Date>) = (None, None);
    let mut lines = text.lines().enumerate();
    while let Some((at, content)) = lines.next() {
        heading.line(content);
        if let Some((before, rest)) = content.split_once("Starting RD=") {
            runs.push(starting(before, rest, &heading));
            continue;
        }
        let words: Vec<&str> = content.split_whitespace().collect();
        if let Some(place) = words.iter().position(|word| is_interval(word))
            && when::clock(words[0]).is_none()
        {
            day = date(&words[..place]);
            let second = lines.next().map_or("", |(_, line)| line);
            names = Some(columns(at + 1, content, &words[place + 1..], second)?);
            continue;
        }
        let [time, interval, figures @ ..] = words.as_slice() else {
            continue;
        };
        let (Some(time), Some(interval)) = (time_of(time), Interval::parse(interval)) else {
            continue;
        };
        if interval == Interval::Spread || figures.is_empty() {
            continue;
        }
        let Some(names) = &names else {
            return Err(Fault::at(at + 1, content, "a header of columns above it"));
        };
        if figures.len() != names.len() {
            let expected = format!(
                "{} figures after the interval, as the header above has",
                names.len()
            );
            return Err(Fault::at(at + 1, content, expected));
        }
        let values = figures.iter().map(|value| (*value).to_owned());
        let columns = Columns(names.iter().cloned().zip(values).collect());
        if runs.is_empty() {
            runs.push(Run {
                name: "run".into(),
                ..Run::default()
            });
        }
        if let Some(run) = runs.last_mut() {
            run.day = run.day.or(day);
            run.add(Row {
                line: at + 1,
                interval,
                time: Some(time),
                columns,
            })?;
        }
    }
    Ok(runs)
}

impl Heading {
    fn line(&mut self, content: &str) {
        // `Vdbench summary report, created 15:57:45 Nov 23 2026 UTC`, with the same in another zone behind it.
        if let Some((_, created)) = content.split_once("report, created ") {
            self.zone = created
                .split_whitespace()
                .nth(4)
                .unwrap_or_default()
                .to_owned();
        }
        if let Some((_, version)) = content.split_once("Vdbench distribution: vdbench") {
            self.version = version
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned();
        }
    }
}

/// `15:57:53.002 Starting RD=rd2; I/O rate: 5000; elapsed=3 warmup=2; For loops: threads=1 xfersize=8k`, for file systems
/// with `fwdrate=100;` or `fwdrate=max.`.
fn starting(before: &str, rest: &str, heading: &Heading) -> Run {
    let rest = rest.split('<').next().unwrap_or(rest);
    let value = |key: &str| {
        rest.split_once(key)
            .map(|(_, value)| value.split([';', ' ']).find(|v| !v.is_empty()))
    };
    let number = |key: &str| {
        value(key)
            .flatten()
            .and_then(|value| value.trim_end_matches('.').parse::<f64>().ok())
    };
    let loops = rest.split_once("For loops:").map_or("", |(_, loops)| loops);
    let pairs = loops
        .split_whitespace()
        .filter_map(|pair| pair.trim_end_matches(',').split_once('='));
    let clock = before.rsplit('>').next().unwrap_or(before).trim();
    Run {
        name: rest.split([';', ' ']).next().unwrap_or_default().to_owned(),
        start: time_of(clock),
        zone: heading.zone.clone(),
        version: heading.version.clone(),
        warmup_s: number("warmup="),
        offered_per_second: number("I/O rate:").or(number("fwdrate=")).and_then(offered),
        parameters: pairs
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
        ..Run::default()
    }
}

fn is_interval(word: &str) -> bool {
    word.trim_matches('.').eq_ignore_ascii_case("interval")
}

/// `Nov 23, 2026`; other languages have other months.
fn date(words: &[&str]) -> Option<Date> {
    Date::strptime("%b %d, %Y", words.join(" ")).ok()
}

/// The names of the columns after the interval, those of a flatfile, from both lines of a header.
fn columns(line: usize, content: &str, first: &[&str], second: &str) -> Read<Vec<String>> {
    let groups: Vec<String> = first
        .iter()
        .map(|word| word.trim_matches('.').to_lowercase())
        .collect();
    let below: Vec<&str> = second.split_whitespace().collect();
    let file_system = groups.first().is_some_and(|name| name == "reqstdops");
    let names = if file_system {
        file_system_names(&groups, &below)
    } else {
        raw_names(&groups, &below)
    };
    let needed: &[&str] = match file_system {
        true => &[
            "rate",
            "resp",
            "read_rate",
            "write_rate",
            "mb_read",
            "mb_write",
        ],
        false => &["rate", "resp", "read%", "bytes/io"],
    };
    let understood = names.filter(|names| {
        needed
            .iter()
            .all(|own| names.iter().filter(|name| *name == own).count() == 1)
    });
    let expected = format!(
        "a header with {} in its two lines, as vdbench 5.04 writes it",
        needed.join(", ")
    );
    understood.ok_or_else(|| Fault::at(line, content, expected))
}

/// Raw workloads have as many words in one line as in the other.
fn raw_names(groups: &[String], below: &[&str]) -> Option<Vec<String>> {
    let name = |(group, below): (&String, &&str)| match (group.as_str(), *below) {
        ("i/o", "rate") => "rate".to_owned(),
        ("mb/sec", "1024**2") => "mb/sec".to_owned(),
        ("mb/sec", "1000**2") => "decimal_mb/sec".to_owned(),
        ("bytes", "i/o") => "bytes/io".to_owned(),
        ("read", "pct") => "read%".to_owned(),
        ("resp", "time") => "resp".to_owned(),
        ("resp", "max") => "resp_max".to_owned(),
        ("resp", "stddev") => "resp_std".to_owned(),
        ("queue", "depth") => "queue_depth".to_owned(),
        ("cpu%", "sys") => "cpu_kernel".to_owned(),
        ("cpu%", below) if below.starts_with("sys+u") => "cpu_used".to_owned(),
        (group, below) => format!("{group}_{below}"),
    };
    (groups.len() == below.len()).then(|| groups.iter().zip(below).map(name).collect())
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
        names.extend(
            below[..width]
                .iter()
                .map(|below| match (group.as_str(), *below) {
                    ("reqstdops", below) => below.to_owned(),
                    ("cpu%", "total") => "cpu_used".to_owned(),
                    ("cpu%", "sys") => "cpu_kernel".to_owned(),
                    ("mb/sec", "total") => "mb/sec".to_owned(),
                    ("mb/sec", below) => format!("mb_{below}"),
                    ("read", "pct") => "read%".to_owned(),
                    ("xfer", "size") => "xfersize".to_owned(),
                    (group, below) => format!("{group}_{below}"),
                }),
        );
        below = &below[width..];
    }
    below.is_empty().then_some(names)
}
