//! `flatfile.html`: one line of column names, then a line for each interval.

use super::super::fault::{Fault, Read};
use super::super::when;
use super::{Columns, Interval, Row, Run, offered, time_of};

/// The line of column names of a flatfile.
pub(crate) fn header(text: &str) -> Option<usize> {
    text.lines().position(is_header)
}

fn is_header(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let has = |name: &&str| words.iter().any(|word| word.eq_ignore_ascii_case(name));
    !line.trim_start().starts_with('*') && ["run", "interval", "rate", "resp"].iter().all(has)
}

/// What was asked for, where it is the same for the whole run.
const PARAMETERS: [&str; 6] = ["xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct"];

pub(super) fn runs(text: &str) -> Read<Vec<Run>> {
    let mut names: Vec<String> = Vec::new();
    let mut runs: Vec<Run> = Vec::new();
    for (at, content) in text
        .lines()
        .enumerate()
        .map(|(at, content)| (at, content.trim()))
    {
        if is_header(content) {
            // A title in HTML may stand before the first name.
            let content = content.rsplit('>').next().unwrap_or(content);
            names = content.split_whitespace().map(str::to_lowercase).collect();
            continue;
        }
        if names.is_empty() || content.is_empty() || content.starts_with(['*', '<']) {
            continue;
        }
        let words: Vec<&str> = content.split_whitespace().collect();
        if words.len() != names.len() {
            return Err(Fault::at(
                at + 1,
                content,
                format!("{} columns, as the line of names has", names.len()),
            ));
        }
        let columns = Columns(
            names
                .iter()
                .cloned()
                .zip(words.into_iter().map(str::to_owned))
                .collect(),
        );
        let name = columns.get("run").unwrap_or_default().to_owned();
        let number = columns.get("interval").unwrap_or_default();
        let expected = "the number of an interval, or `avg_FIRST-LAST`";
        let interval =
            Interval::parse(number).ok_or_else(|| Fault::at(at + 1, number, expected))?;
        let row = Row {
            line: at + 1,
            interval,
            time: columns.get("tod").and_then(time_of),
            columns,
        };
        if !runs
            .last()
            .is_some_and(|run| continues(run, &name, interval))
        {
            runs.push(start(name, &row));
        }
        if let Some(run) = runs.last_mut() {
            run.add(row)?;
        }
    }
    Ok(runs)
}

/// A run ends with its average; one that has none is followed by interval 1 of the next.
fn continues(run: &Run, name: &str, interval: Interval) -> bool {
    let restarts =
        interval == Interval::Single(1) || (run.average.is_some() && interval != Interval::Spread);
    run.name == name && !restarts
}

fn start(name: String, row: &Row) -> Run {
    let columns = &row.columns;
    // `11/23/2026-15:57:49-UTC`
    let mut stamp = columns.get("timestamp").unwrap_or_default().splitn(3, '-');
    let (day, zone) = (stamp.next().and_then(when::day), stamp.nth(1));
    // In file system workloads the column of sizes is what was observed.
    let observed = columns.get("read_rate").is_some();
    let asked = PARAMETERS
        .into_iter()
        .filter(|name| !(observed && *name == "xfersize"));
    let parameter = |name: &str| {
        Some((
            name.to_owned(),
            columns
                .get(name)
                .filter(|value| *value != "n/a")?
                .to_owned(),
        ))
    };
    Run {
        name,
        day,
        zone: zone.unwrap_or_default().to_owned(),
        version: columns.get("version").unwrap_or_default().to_owned(),
        offered_per_second: columns.number("reqrate").and_then(offered),
        parameters: asked.filter_map(parameter).collect(),
        ..Run::default()
    }
}
