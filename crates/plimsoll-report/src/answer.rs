//! The answer of a run in words: at most a screen of a terminal, and the first screen of a page.

use plimsoll_analysis::answer::{AnswerResult, RunAnswer, Trust, TrustLimit, TrustReason};
use plimsoll_analysis::summary::Verdict;
use plimsoll_record::Severity;

use crate::message::Messages;
use crate::number::three;
use crate::svg::color::MediumColors;

pub(crate) mod arrays;
pub(crate) mod backups;
pub(crate) mod blocks;
pub(crate) mod cuts;
pub(crate) mod lines;
pub(crate) mod noise;
pub(crate) mod transactions;
mod verdict;
pub(crate) mod words;

pub(crate) use words::{AnswerParts, distinct, reason};

/// Limits of trust that are listed; the others are counted.
pub(crate) const MOST_LIMITS: usize = 3;
/// One screen of a terminal.
const MOST_LINES: usize = 25;

/// A command that goes on from the answer.
pub struct NextStep {
    pub command: String,
    pub why: String,
}

pub(crate) fn parts<'a>(m: &Messages, answer: &'a RunAnswer) -> AnswerParts<'a> {
    let colors = MediumColors {
        media: &answer.media,
    };
    let parts = match &answer.result {
        AnswerResult::Lines { lines } => lines::parts(m, lines, colors),
        AnswerResult::Noise { effects } => noise::parts(m, effects, colors),
        AnswerResult::PowerCuts { media } => cuts::parts(m, media),
        AnswerResult::Arrays { media } => arrays::parts(m, media, colors),
        AnswerResult::Backups { backups } => backups::parts(m, backups, colors),
        AnswerResult::Block { jobs } => blocks::parts(m, jobs, colors),
        AnswerResult::Media(_) | AnswerResult::Load(_) | AnswerResult::None(_) => {
            transactions::parts(m, answer, colors)
        }
    };
    let sentences = verdict::first_sentences(m, answer, parts.sentences);
    AnswerParts {
        sentences: sentences
            .into_iter()
            .chain(simulated(m, answer))
            .chain(cpu_speeds(m, answer))
            .collect(),
        ..parts
    }
}

/// That nothing was measured.
fn simulated(m: &Messages, answer: &RunAnswer) -> Option<String> {
    let own = answer.simulated.as_ref()?;
    let known = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "none".to_owned());
    let args = [
        ("cpus", own.cpus.clone()),
        ("speed", known(&own.cpu_speed)),
        ("memory", known(&own.memory)),
    ];
    Some(m.text_with("answer-simulated", &args))
}

/// What processors of another speed would change, where a plan does not state theirs.
fn cpu_speeds(m: &Messages, answer: &RunAnswer) -> Option<String> {
    answer
        .simulated
        .as_ref()
        .filter(|own| own.cpu_speed.is_none())?;
    match &answer.result {
        AnswerResult::Media(own) => {
            let others = own.others.iter();
            let ratios = others.filter(|other| other.is_certain() != Some(false));
            let ratios = ratios.filter_map(|other| {
                let speeds = other.at_cpu_speeds?;
                let args = [
                    ("medium", other.medium.clone()),
                    ("slow", three(speeds.slow)),
                    ("fast", three(speeds.fast)),
                ];
                Some(m.text_with("answer-cpu-speeds-ratio", &args))
            });
            let ratios: Vec<String> = ratios.collect();
            let args = [("ratios", words::and(m, ratios.clone()))];
            (!ratios.is_empty()).then(|| m.text_with("answer-cpu-speeds", &args))
        }
        AnswerResult::Load(own) => {
            let speeds = own.at_cpu_speeds?;
            let args = [("slow", three(speeds.slow)), ("fast", three(speeds.fast))];
            Some(m.text_with("answer-cpu-speeds-rate", &args))
        }
        _ => None,
    }
}

/// The answer for a terminal of so many columns: at most 25 lines.
pub fn answer_text(answer: &RunAnswer, run: &str, width: usize) -> String {
    let m = Messages::english();
    let own = parts(&m, answer);
    let mut above = vec![
        wrapped(&answer.title, width, ""),
        wrapped(&own.sentences.join(" "), width, ""),
    ];
    above.extend(own.table.map(|table| table.to_text_within(&m, width)));
    let above = above.join("\n\n");
    let with_limits = |listed: usize| {
        let below = labeled(&m, answer, &own.limited_by, run, width, listed);
        format!("{above}\n\n{below}\n")
    };
    let mut texts = (0..=MOST_LIMITS).rev().map(with_limits);
    let fitting = texts.find(|text| text.lines().count() <= MOST_LINES);
    fitting.unwrap_or_else(|| with_limits(0))
}

/// What stands below the table.
fn labeled(
    m: &Messages,
    answer: &RunAnswer,
    limited_by: &[String],
    run: &str,
    width: usize,
    listed: usize,
) -> String {
    let mut labeled = Labeled::new(width);
    labeled.add(&m.text("answer-limited-label"), &limited_by.join(" "));
    labeled.add(&m.text("answer-trust-label"), &trust(m, &answer.trust));
    for limit in limits(m, &answer.trust, listed) {
        labeled.add("", &limit);
    }
    let report = format!("plimsoll report {run}");
    labeled.add_command(&m.text("answer-report-label"), &report, "");
    labeled.add_next(m, &next(m, answer, run));
    labeled.text()
}

/// Text beside a column of labels.
pub(crate) struct Labeled {
    width: usize,
    lines: Vec<String>,
}

impl Labeled {
    const INDENT: &str = "            ";

    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            lines: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, label: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = wrapped(text, self.width, Self::INDENT);
        let indent = Self::INDENT.len();
        self.lines
            .push(format!("{label:<indent$}{}", &text[indent..]));
    }

    /// A command is one line, however long, so that it can be copied. Its purpose stands behind it where both fit, else below.
    pub(crate) fn add_command(&mut self, label: &str, command: &str, why: &str) {
        let indent = Self::INDENT.len();
        let line = format!("{label:<indent$}{command}");
        let whole = format!("{line}  {why}");
        match () {
            () if why.is_empty() => self.lines.push(line),
            () if columns(&whole) <= self.width => self.lines.push(whole),
            () => {
                self.lines.push(line);
                self.add("", why);
            }
        }
    }

    pub(crate) fn add_next(&mut self, m: &Messages, steps: &[NextStep]) {
        let mut label = m.text("answer-next-label");
        for step in steps {
            self.add_command(&label, &step.command, &step.why);
            label.clear();
        }
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// Lines of at most `width` columns, each behind `indent`.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = vec![String::from(indent)];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let is_first = lines[last].len() == indent.len();
        let needed = columns(&lines[last]) + columns(word) + usize::from(!is_first);
        if needed > width && !is_first {
            lines.push(format!("{indent}{word}"));
        } else {
            if !is_first {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.join("\n")
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// The verdict, and how many points it rests on.
fn trust(m: &Messages, trust: &Trust) -> String {
    let word = m.text(&format!("verdict-{}", trust.verdict.name()));
    format!("{word} · {}", trusted_points(m, trust))
}

/// Backups alone have no points.
pub(crate) fn trusted_points(m: &Messages, trust: &Trust) -> String {
    let points = trust.points;
    let args = [
        ("valid", points.valid.to_string()),
        ("doubtful", points.doubtful.to_string()),
        ("invalid", points.invalid.to_string()),
        (
            "total",
            (points.valid + points.doubtful + points.invalid).to_string(),
        ),
    ];
    let id = match (points.invalid, points.doubtful) {
        (0, 0) if points.valid == 0 => "answer-points-none",
        (0, 0) => "answer-points-valid",
        (0, _) => "answer-points-doubtful",
        _ => "answer-points-invalid",
    };
    let points = m.text_with(id, &args);
    if trust.verdict > trust.points.worst() {
        let id = if trust.limits.is_empty() {
            "answer-trust-findings"
        } else {
            "answer-trust-audit"
        };
        return m.text_with(id, &[("points", points)]);
    }
    points
}

/// The words, then the rule's code, whether it is an error, and how often; what to do about a finding.
fn limit(m: &Messages, own: &TrustLimit) -> String {
    let code = own.rule().map(|rule| rule.code().to_owned());
    let error = (own.severity == Severity::Error).then(|| m.text("severity-error"));
    let cases = [("n", own.cases.to_string())];
    let cases = (own.cases > 1).then(|| m.text_with("answer-limit-cases", &cases));
    let aside: Vec<String> = [code, error, cases].into_iter().flatten().collect();
    let what = reason(m, own);
    let text = match aside.is_empty() {
        true => format!("{what}."),
        false => format!("{what} ({}).", aside.join(", ")),
    };
    match &own.reason {
        TrustReason::Finding(kind) => {
            let next = m.finding_next(kind);
            [text, next].join(" ").trim_end().to_owned()
        }
        TrustReason::Rule { .. } | TrustReason::Fault(_) => text,
    }
}

/// The most important limits, each in a line; a last one counts the others.
pub(crate) fn limits(m: &Messages, trust: &Trust, listed: usize) -> Vec<String> {
    let mut all: Vec<String> = trust
        .limits
        .iter()
        .take(listed)
        .map(|own| limit(m, own))
        .collect();
    let more = trust.limits.len().saturating_sub(listed);
    if more > 0 {
        all.push(m.text_with("answer-limit-more", &[("n", more.to_string())]));
    }
    all
}

/// Commands that go on from here.
pub(crate) fn next(m: &Messages, answer: &RunAnswer, run: &str) -> Vec<NextStep> {
    let mut limits = answer.trust.limits.iter();
    let explain = limits
        .find_map(TrustLimit::rule)
        .filter(|_| answer.trust.verdict > Verdict::Valid)
        .map(|rule| NextStep {
            command: format!("plimsoll audit --explain {}", rule.code()),
            why: m.text("answer-next-explain"),
        });
    let tables = NextStep {
        command: format!("plimsoll export {run} --to text"),
        why: m.text("answer-next-tables"),
    };
    explain.into_iter().chain([tables]).collect()
}

#[cfg(test)]
mod tests;
