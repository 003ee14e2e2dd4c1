//! Time profiles: those of xtprof in `hdbxtprofile.log`, and those that etprof prints every ten seconds.

use super::super::load::Figure;
use super::super::when;
use super::{Profile, ResultPosition};
use plimsoll_plan::units::Nanos;

/// Time between two lines of etprof.
const INTERVAL: Nanos = Nanos::from_secs(10);

/// One profile for each report of xtprof. What etprof prints is a profile for each of its runs.
pub(super) fn read(text: &str) -> Vec<Profile> {
    let mut reports: Vec<Profile> = Vec::new();
    let (mut user, mut procedure, mut done) = (String::new(), String::new(), true);
    let mut sampled = Sampled::default();
    for (line, content) in text
        .lines()
        .enumerate()
        .map(|(i, content)| (i + 1, content))
    {
        let (who, message) = match content
            .split_once(':')
            .filter(|(who, _)| who.starts_with("Vuser "))
        {
            Some((who, message)) => (who, message.trim()),
            None => ("", content.trim()),
        };
        if message.contains("Hammerdb Time Profile Report @") {
            reports.push(Profile {
                line,
                ..Profile::default()
            });
            (done, procedure) = (false, String::new());
        } else if let Some(heading) = message.strip_prefix(">>>>> ") {
            if done {
                reports.push(Profile {
                    line,
                    ..Profile::default()
                });
                done = false;
            }
            if let Some(name) = heading.strip_prefix("PROC:") {
                procedure = name.trim().to_owned();
            } else if let Some(number) = heading.strip_prefix("VIRTUAL USER ") {
                user = format!(
                    ", virtual user {}",
                    number.split(' ').next().unwrap_or_default()
                );
            } else if let Some(users) = heading.strip_prefix("SUMMARY OF ") {
                user.clear();
                let users = users
                    .split(' ')
                    .next()
                    .and_then(|users| users.parse().ok())
                    .unwrap_or_default();
                reports
                    .iter_mut()
                    .last()
                    .into_iter()
                    .for_each(|report| report.users = users);
            }
        } else if message.starts_with("+-+-") {
            // The line below the summary ends a report.
            done = user.is_empty() && !procedure.is_empty();
            procedure.clear();
        } else if !procedure.is_empty()
            && let Some(report) = reports.last_mut()
        {
            report
                .figures
                .extend(pairs(message, &format!("{procedure}{user}")));
        } else {
            sampled.line(line, who, message);
        }
    }
    reports.extend(sampled.profiles);
    reports
}

/// `CALLS: 34794 MIN: 0.586ms AVG: 1.429ms`
fn pairs(content: &str, txn: &str) -> Vec<Figure> {
    let words: Vec<&str> = content.split_whitespace().collect();
    let figure = |pair: &[&str]| {
        let name = pair[0].strip_suffix(':')?;
        let unit = match name {
            _ if pair[1].ends_with('%') => "%",
            "CALLS" | "SD" => "",
            _ => "ms",
        };
        Some(
            Figure::new(
                name,
                pair[1].trim_end_matches("ms").trim_end_matches('%'),
                unit,
            )?
            .of_txn(txn),
        )
    };
    words.windows(2).filter_map(figure).collect()
}

/// `|PERCENTILES 2019-07-15 10:38:47 to 2019-07-15 10:38:57`, below it
/// `|neword|MIN-391|P50%-685|P95%-1286|P99%-3298|MAX-246555|SAMPLES-3603` in microseconds, of one virtual user.
#[derive(Default)]
struct Sampled {
    profiles: Vec<Profile>,
    first: Option<Nanos>,
    from: Option<Nanos>,
}

impl Sampled {
    fn line(&mut self, line: usize, who: &str, message: &str) {
        if let Some(times) = message.strip_prefix("|PERCENTILES ") {
            self.from = times
                .split_once(" to ")
                .and_then(|(from, _)| when::instant(from));
            let restarts = self
                .first
                .is_none_or(|first| self.from.is_some_and(|from| from < first));
            if self.profiles.is_empty() || restarts {
                self.profiles.push(Profile {
                    line,
                    result: ResultPosition::Below,
                    ..Profile::default()
                });
                self.first = self.from;
            }
            return;
        }
        let cells: Vec<&str> = message.trim_matches('|').split('|').collect();
        let [procedure, values @ ..] = cells.as_slice() else {
            return;
        };
        let (Some(first), Some(from), Some(profile)) =
            (self.first, self.from, self.profiles.last_mut())
        else {
            return;
        };
        if !message.starts_with('|')
            || !values
                .first()
                .is_some_and(|value| value.starts_with("MIN-"))
        {
            return;
        }
        let user = who.trim_start_matches("Vuser ").trim();
        let txn = format!("{}, virtual user {user}", procedure.to_uppercase());
        let start = from.saturating_sub(first);
        for (name, value) in values.iter().filter_map(|value| value.split_once('-')) {
            let unit = if name == "SAMPLES" { "" } else { "us" };
            let figure = Figure::new(name.trim_end_matches('%'), value, unit);
            profile
                .figures
                .extend(figure.map(|figure| figure.of_txn(&txn).over(start, start + INTERVAL)));
        }
    }
}
