//! What the doctor found on machine and media before the first load.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::DiagnosisSummary;
use plimsoll_record::{Diagnosis, DiagnosisLevel};

use crate::answer::wrapped;
use crate::document::{ReportBlock, ReportSection};
use crate::message::Messages;
use crate::render;
use crate::table::Unit::{Sentences, Words};
use crate::table::{Table, TableCell};

/// Passed checks are counted on a terminal, the others listed, the worst first. `None` where the doctor was not asked.
pub(crate) fn section(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let all = &summary.figures.diagnoses;
    if all.is_empty() {
        return None;
    }
    let title = m.text("doctor-title");
    let counts = counts(m, all.iter().map(|found| &found.diagnosis));
    let problems = problems(summary);
    let passed: Vec<&DiagnosisSummary> = all
        .iter()
        .filter(|found| found.diagnosis.level == DiagnosisLevel::Ok)
        .collect();
    let mut section = ReportSection::new("doctor", &title).styled("doctor");
    section.line(format!("{title}. {counts}"));
    section.lines(problems.iter().map(|found| line(m, found)));
    section.page(ReportBlock::text(counts));
    section.page(ReportBlock::grid(m, &title, &table(), &problems));
    let label = m.text("doctor-fine");
    let passed = ReportBlock::grid(m, &label, &table(), &passed);
    section.page(ReportBlock::folded(label, [passed]));
    Some(section)
}

fn line(m: &Messages, found: &DiagnosisSummary) -> String {
    let diagnosis = &found.diagnosis;
    let level = m.text(&format!("level-{}", diagnosis.level.name()));
    let text = m.diagnosis(diagnosis);
    let stop = if text.ends_with('.') { "" } else { "." };
    let text = format!(
        "{level}: {}, {}: {text}{stop} {}",
        subject(m, found),
        diagnosis.code,
        m.advice(diagnosis)
    );
    text.trim_end().to_owned()
}

/// How much of each level there is.
fn counts<'a>(m: &Messages, all: impl Iterator<Item = &'a Diagnosis> + Clone) -> String {
    let count = |level| {
        let found = all.clone().filter(|own| own.level == level);
        found.count().to_string()
    };
    let args = [
        ("errors", count(DiagnosisLevel::Error)),
        ("warnings", count(DiagnosisLevel::Warning)),
        ("unknown", count(DiagnosisLevel::Unknown)),
        ("ok", count(DiagnosisLevel::Ok)),
    ];
    m.text_with("doctor-sentence", &args)
}

/// What the doctor examined.
pub struct ExaminedMedium<'a> {
    pub name: &'a str,
    /// Such as `directory`.
    pub kind: &'a str,
    pub findings: &'a [Diagnosis],
}

/// All checks of a machine and of media, in lines of so many columns.
pub fn checks_text(machine: &[Diagnosis], media: &[ExaminedMedium<'_>], width: usize) -> String {
    let m = Messages::english();
    let all = machine
        .iter()
        .chain(media.iter().flat_map(|medium| medium.findings));
    let codes = all.clone().map(|row| row.code.chars().count()).max();
    let codes = codes.unwrap_or(0);
    let section = |heading: String, findings: &[Diagnosis]| {
        let mut section = ReportSection::bare("checks");
        section.line(heading);
        section.lines(findings.iter().map(|row| check(&m, row, codes, width)));
        section
    };
    let mut sections = vec![section(m.text("doctor-machine"), machine)];
    for medium in media {
        let args = [
            ("name", medium.name.to_owned()),
            ("kind", medium.kind.to_owned()),
        ];
        let heading = m.text_with("doctor-medium", &args);
        sections.push(section(heading, medium.findings));
    }
    let mut sum = ReportSection::bare("sum");
    sum.line(counts(&m, all));
    sections.push(sum);
    render::text::sections(&sections)
}

/// The level, the code, what was found, and below it what to do.
fn check(m: &Messages, row: &Diagnosis, codes: usize, width: usize) -> String {
    let level = m.text(&format!("level-{}", row.level.name()));
    let front = format!("  {level:<7}  {:<codes$}  ", row.code);
    let indent = " ".repeat(front.chars().count());
    let found = wrapped(&m.diagnosis(row), width, &indent);
    let lines = format!("{front}{}", &found[indent.len()..]);
    let next = m.advice(row);
    if next.is_empty() {
        return lines.trim_end().to_owned();
    }
    let next = wrapped(&next, width, &format!("{indent}  "));
    format!("{lines}\n{indent}→ {}", &next[indent.len() + 2..])
}

/// What is not as it should be, the worst first.
fn problems(summary: &Summary) -> Vec<&DiagnosisSummary> {
    let found = summary.figures.diagnoses.iter();
    let mut problems: Vec<_> = found
        .filter(|own| own.diagnosis.level > DiagnosisLevel::Ok)
        .collect();
    problems.sort_by_key(|own| std::cmp::Reverse(own.diagnosis.level));
    problems
}

/// A medium, or the machine.
fn subject(m: &Messages, found: &DiagnosisSummary) -> String {
    let medium = found.medium.clone();
    medium.unwrap_or_else(|| m.text("subject-host"))
}

pub(crate) fn table<'a>() -> Table<'a, &'a DiagnosisSummary> {
    Table::<&DiagnosisSummary>::new("doctor")
        .prefix("column-")
        .message("level", Words, |found, m| {
            // A sign and a word: not all readers can distinguish colors.
            let (sign, class) = match found.diagnosis.level {
                DiagnosisLevel::Ok => ("✓", "valid"),
                DiagnosisLevel::Unknown => ("?", ""),
                DiagnosisLevel::Warning => ("!", "doubtful"),
                DiagnosisLevel::Error => ("✕", "invalid"),
            };
            let level = m.text(&format!("level-{}", found.diagnosis.level.name()));
            TableCell::from(format!("{sign} {level}")).styled(class)
        })
        .message("subject", Words, |found, m| subject(m, found))
        .column("check", Words, |found| found.diagnosis.code.clone())
        .message("found", Sentences, |found, m| m.diagnosis(&found.diagnosis))
        .message("next", Sentences, |found, m| {
            Some(m.advice(&found.diagnosis)).filter(|next| !next.is_empty())
        })
}

#[cfg(test)]
mod tests {
    use plimsoll_record::message::DoctorFinding;

    use super::*;

    fn row(level: DiagnosisLevel, code: &str, found: &str, next: &str) -> Diagnosis {
        Diagnosis {
            subject: None,
            code: code.into(),
            level,
            disk: None,
            finding: DoctorFinding::Stored {
                found: found.into(),
                next: Some(next.into()),
            },
        }
    }

    #[test]
    fn checks_are_wrapped_below_their_text() {
        let machine = [row(DiagnosisLevel::Ok, "steal", "none", "")];
        let findings = [
            row(
                DiagnosisLevel::Error,
                "fsync",
                "one two three four five six seven eight nine ten",
                "do this, and then that",
            ),
            row(DiagnosisLevel::Unknown, "health", "no report", ""),
        ];
        let media = [ExaminedMedium {
            name: "/srv",
            kind: "directory",
            findings: &findings,
        }];
        let expected = "\
This machine
  ok       steal   none

/srv (directory)
  error    fsync   one two three four five six seven
                   eight nine ten
                   → do this, and then that
  unknown  health  no report

Errors: 1; warnings: 0; not evaluated: 1; passed: 1.
";
        assert_eq!(checks_text(&machine, &media, 55), expected);
        let narrow = checks_text(&machine, &media, 60);
        assert!(narrow.lines().all(|line| line.chars().count() <= 60));
    }
}
