//! `flatfile.html`: one line of column names, then a line for each interval.

use super::super::fault::Read;
use super::super::lines::{Header, NumberedLine, lines};
use super::super::when;
use super::run::{VdbenchInterval, VdbenchRow, VdbenchRun, offered, time_of};

/// The line of column names of a flatfile.
pub(crate) fn header(text: &str) -> Option<usize> {
    text.lines().position(is_header)
}

fn is_header(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    !line.trim_start().starts_with('*')
        && ["run", "interval", "rate", "resp"]
            .iter()
            .all(|name| words.iter().any(|word| word.eq_ignore_ascii_case(name)))
}

/// What was asked for, where it is the same for the whole run.
const PARAMETERS: [&str; 6] = ["xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct"];

pub(super) fn runs(text: &str) -> Read<Vec<VdbenchRun>> {
    let mut header = Header::default();
    let mut runs: Vec<VdbenchRun> = Vec::new();
    for line in lines(text).map(NumberedLine::trim) {
        if is_header(line.text) {
            // A title in HTML may stand before the first name.
            let names = line.text.rsplit('>').next().unwrap_or(line.text);
            header = Header(names.split_whitespace().map(str::to_lowercase).collect());
            continue;
        }
        if header.is_empty() || line.text.is_empty() || line.text.starts_with(['*', '<']) {
            continue;
        }
        let row = row(line, &header)?;
        let name = row.get("run").unwrap_or_default();
        if !runs.last().is_some_and(|run| continues(run, name, &row)) {
            runs.push(start(name, &row));
        }
        if let Some(run) = runs.last_mut() {
            run.add(row)?;
        }
    }
    Ok(runs)
}

fn row(line: NumberedLine<'_>, header: &Header) -> Read<VdbenchRow> {
    let mut row = VdbenchRow {
        line: line.number,
        interval: VdbenchInterval::Spread,
        time: None,
        columns: header.row(line, &line.words())?,
    };
    let number = row.get("interval").unwrap_or_default();
    let Some(interval) = VdbenchInterval::parse(number) else {
        let expected = "the number of an interval, or `avg_FIRST-LAST`";
        return Err(line.fault(number, expected));
    };
    row.interval = interval;
    row.time = row.get("tod").and_then(time_of);
    Ok(row)
}

/// A run ends with its average; one that has none is followed by interval 1 of the next.
fn continues(run: &VdbenchRun, name: &str, row: &VdbenchRow) -> bool {
    let restarts = row.interval == VdbenchInterval::Single(1)
        || (run.average.is_some() && row.interval != VdbenchInterval::Spread);
    run.name == name && !restarts
}

fn start(name: &str, row: &VdbenchRow) -> VdbenchRun {
    // `11/23/2026-15:57:49-UTC`
    let stamp: Vec<&str> = row
        .get("timestamp")
        .unwrap_or_default()
        .splitn(3, '-')
        .collect();
    // In file system workloads the column of sizes is what was observed.
    let is_observed = row.get("read_rate").is_some();
    let mut parameters = Vec::new();
    for name in PARAMETERS {
        let value = row.get(name).filter(|value| *value != "n/a");
        if let Some(value) = value.filter(|_| !(is_observed && name == "xfersize")) {
            parameters.push((name.to_owned(), value.to_owned()));
        }
    }
    VdbenchRun {
        name: name.to_owned(),
        day: stamp.first().and_then(|day| when::day(day)),
        zone: stamp.get(2).copied().unwrap_or_default().to_owned(),
        version: row.get("version").unwrap_or_default().to_owned(),
        offered_per_second: row.number("reqrate").and_then(offered),
        parameters,
        ..VdbenchRun::default()
    }
}
