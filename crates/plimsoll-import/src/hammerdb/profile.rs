//! Time profiles: those of xtprof in `hdbxtprofile.log`, and those that etprof prints every ten seconds.

use super::super::lines::lines;
use super::super::load::{PrintedFigures, Span};
use super::super::when;
use plimsoll_plan::units::Nanos;

/// Time between two lines of etprof.
const INTERVAL: Nanos = Nanos::from_secs(10);

/// Position of a profile's result relative to the profile.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum ResultPosition {
    /// xtprof reports once the test is over.
    #[default]
    Above,
    /// etprof reports while it runs.
    Below,
    /// JSON is printed by hand.
    Either,
}

/// Figures of a time profile, or of JSON, with the line at which they begin.
#[derive(Default)]
pub(super) struct TimeProfile {
    pub line: usize,
    pub result: ResultPosition,
    pub users: u32,
    pub figures: PrintedFigures,
}

/// A line of a virtual user (`Vuser 11:New Order …`), or of the console.
pub(super) struct HammerDbMessage<'a> {
    /// Number of the user; empty: the console.
    pub user: &'a str,
    pub text: &'a str,
}

impl<'a> HammerDbMessage<'a> {
    pub fn of(line: &'a str) -> Self {
        let own = line.strip_prefix("Vuser ");
        match own.and_then(|own| own.split_once(':')) {
            Some((user, text)) => Self { user, text },
            None => Self {
                user: "",
                text: line,
            },
        }
    }
}

/// One profile for each report of xtprof. What etprof prints is a profile for each of its runs.
pub(super) fn read(text: &str) -> Vec<TimeProfile> {
    let mut reports = Reports {
        is_over: true,
        ..Reports::default()
    };
    let mut sampled = PercentileSamples::default();
    for line in lines(text) {
        let message = HammerDbMessage::of(line.text);
        if !reports.line(line.number, message.text.trim()) {
            sampled.line(line.number, &message);
        }
    }
    reports.all.extend(sampled.profiles);
    reports.all
}

/// Reports of xtprof.
#[derive(Default)]
struct Reports {
    all: Vec<TimeProfile>,
    /// What the figures are of beside the procedure: `, virtual user 3`.
    user: String,
    procedure: String,
    is_over: bool,
}

impl Reports {
    /// `false` where the line is of no report.
    fn line(&mut self, line: usize, text: &str) -> bool {
        if text.contains("Hammerdb Time Profile Report @") {
            self.begin(line);
            self.procedure.clear();
        } else if let Some(heading) = text.strip_prefix(">>>>> ") {
            if self.is_over {
                self.begin(line);
            }
            self.heading(heading);
        } else if text.starts_with("+-+-") {
            // The line below the summary ends a report.
            self.is_over = self.user.is_empty() && !self.procedure.is_empty();
            self.procedure.clear();
        } else if let Some(report) = self.all.last_mut().filter(|_| !self.procedure.is_empty()) {
            let txn = format!("{}{}", self.procedure, self.user);
            add_pairs(&mut report.figures, &txn, text);
        } else {
            return false;
        }
        true
    }

    fn begin(&mut self, line: usize) {
        self.all.push(TimeProfile {
            line,
            ..TimeProfile::default()
        });
        self.is_over = false;
    }

    fn heading(&mut self, heading: &str) {
        if let Some(name) = heading.strip_prefix("PROC:") {
            self.procedure = name.trim().to_owned();
        } else if let Some(number) = heading.strip_prefix("VIRTUAL USER ") {
            let number = number.split(' ').next().unwrap_or_default();
            self.user = format!(", virtual user {number}");
        } else if let Some(users) = heading.strip_prefix("SUMMARY OF ") {
            self.user.clear();
            let users = users.split(' ').next().unwrap_or_default();
            if let Some(report) = self.all.last_mut() {
                report.users = users.parse().unwrap_or_default();
            }
        }
    }
}

/// `CALLS: 34794 MIN: 0.586ms AVG: 1.429ms`, also where the tabs between them are lost (`CALLS: 34794MIN: 0.586ms`).
fn add_pairs(figures: &mut PrintedFigures, txn: &str, text: &str) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(':') {
        let name = trailing_name(before);
        let next = after
            .split_once(':')
            .map_or("", |(value, _)| trailing_name(value));
        let value_end = match after.find(':') {
            Some(colon) => colon - next.len(),
            None => after.len(),
        };
        let value = after[..value_end].trim();
        let unit = match name {
            _ if value.ends_with('%') => "%",
            "CALLS" | "SD" => "",
            _ => "ms",
        };
        let digits = value.trim_end_matches("ms").trim_end_matches('%');
        figures.add_of(txn, name, digits, unit);
        rest = after;
    }
}

/// The capitals and digits at the end of a text, from the first capital on: `MIN` of `322104MIN`, `P95` of `14.197msP95`.
fn trailing_name(text: &str) -> &str {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    let run = &text[text.trim_end_matches(is_part).len()..];
    run.trim_start_matches(|c: char| c.is_ascii_digit())
}

/// `|PERCENTILES 2019-07-15 10:38:47 to 2019-07-15 10:38:57`, below it
/// `|neword|MIN-391|P50%-685|P95%-1286|P99%-3298|MAX-246555|SAMPLES-3603` in microseconds, of one virtual user.
#[derive(Default)]
struct PercentileSamples {
    profiles: Vec<TimeProfile>,
    first: Option<Nanos>,
    from: Option<Nanos>,
}

impl PercentileSamples {
    fn line(&mut self, line: usize, message: &HammerDbMessage<'_>) {
        let text = message.text.trim();
        if let Some(times) = text.strip_prefix("|PERCENTILES ") {
            self.interval(line, times);
        } else if let Some(row) = text.strip_prefix('|') {
            self.row(message.user.trim(), row.trim_matches('|'));
        }
    }

    fn interval(&mut self, line: usize, times: &str) {
        let from = times.split_once(" to ").map(|(from, _)| from);
        self.from = from.and_then(when::instant);
        let restarts = match self.first {
            Some(first) => self.from.is_some_and(|from| from < first),
            None => true,
        };
        if self.profiles.is_empty() || restarts {
            self.profiles.push(TimeProfile {
                line,
                result: ResultPosition::Below,
                ..TimeProfile::default()
            });
            self.first = self.from;
        }
    }

    fn row(&mut self, user: &str, row: &str) {
        let Some((procedure, values)) = row.split_once('|') else {
            return;
        };
        let start = match self.first.zip(self.from) {
            Some((first, from)) if values.starts_with("MIN-") => from.saturating_sub(first),
            _ => return,
        };
        let Some(profile) = self.profiles.last_mut() else {
            return;
        };
        let over = Span {
            start,
            end: start + INTERVAL,
        };
        let txn = format!("{}, virtual user {user}", procedure.to_uppercase());
        for value in values.split('|') {
            if let Some((name, value)) = value.split_once('-') {
                let unit = if name == "SAMPLES" { "" } else { "us" };
                let name = name.trim_end_matches('%');
                profile.figures.put(&txn, name, value, unit, Some(over));
            }
        }
    }
}
