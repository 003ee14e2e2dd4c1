//! The answer of a run in words: at most a screen of a terminal, and the first screen of a page.

use plimsoll_analysis::answer::{
    AnswerLoad, AnswerResult, AnswerRow, ComparedBy, LimitedBy, LoadAnswer, MediaAnswer,
    MediumRatio, NoAnswer, RateBasis, RateEstimate, RunAnswer, Trust, TrustLimit,
};
use plimsoll_analysis::summary::{Interval, Verdict};
use plimsoll_record::Severity;

use crate::message::Messages;
use crate::number::{three, whole};
use crate::table::Table;
use crate::table::Unit::{Percent, Plain, Three, Words};

/// Limits of trust that are listed; the others are counted.
pub(crate) const MOST_LIMITS: usize = 3;
/// One screen of a terminal.
const MOST_LINES: usize = 25;

/// A command that goes on from the answer.
pub struct NextStep {
    pub command: String,
    pub why: String,
}

/// The answer for a terminal of so many columns: at most 25 lines.
pub fn answer_text(answer: &RunAnswer, run: &str, width: usize) -> String {
    let m = Messages::english();
    let texts = (0..=MOST_LIMITS).rev();
    let mut texts = texts.map(|listed| with_limits(&m, answer, run, width, listed));
    let fitting = texts.find(|text| text.lines().count() <= MOST_LINES);
    fitting.unwrap_or_else(|| with_limits(&m, answer, run, width, 0))
}

fn with_limits(m: &Messages, answer: &RunAnswer, run: &str, width: usize, listed: usize) -> String {
    let mut parts = vec![wrapped(&answer.title, width, "")];
    let sentences = sentences(m, answer).join(" ");
    parts.push(wrapped(&sentences, width, ""));
    let rows: Vec<Row<'_>> = rows(answer).collect();
    if !rows.is_empty() {
        parts.push(table().to_text_within(m, &rows, width));
    }
    let mut labeled = Labeled::new(width);
    labeled.add(
        &m.text("answer-limited-label"),
        &limited_by(m, answer).join(" "),
    );
    labeled.add(&m.text("answer-trust-label"), &trust(m, &answer.trust));
    for limit in limits(m, &answer.trust, listed) {
        labeled.add("", &limit);
    }
    labeled.add(
        &m.text("answer-report-label"),
        &format!("plimsoll report {run}"),
    );
    for (place, step) in next(m, answer, run).iter().enumerate() {
        let label = if place == 0 {
            m.text("answer-next-label")
        } else {
            String::new()
        };
        labeled.add(&label, &format!("{}\u{2003}{}", step.command, step.why));
    }
    parts.push(labeled.lines.join("\n"));
    parts.join("\n\n") + "\n"
}

/// Text beside a column of labels.
struct Labeled {
    width: usize,
    lines: Vec<String>,
}

impl Labeled {
    const INDENT: &str = "            ";

    fn new(width: usize) -> Self {
        Self {
            width,
            lines: Vec::new(),
        }
    }

    fn add(&mut self, label: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = wrapped(text, self.width, Self::INDENT);
        let indent = Self::INDENT.len();
        self.lines
            .push(format!("{label:<indent$}{}", &text[indent..]));
    }
}

/// Lines of at most `width` columns, each behind `indent`.
fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = vec![String::from(indent)];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let is_first = lines[last].len() == indent.len();
        let needed = lines[last].chars().count() + word.chars().count() + usize::from(!is_first);
        if needed > width && !is_first {
            lines.push(format!("{indent}{word}"));
        } else {
            if !is_first {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.join("\n").replace('\u{2003}', "  ")
}

/// What the run answers: the sentence, and what has to be known beside it.
pub(crate) fn sentences(m: &Messages, answer: &RunAnswer) -> Vec<String> {
    match &answer.result {
        AnswerResult::Media(own) => of_media(m, own),
        AnswerResult::Load(own) => of_load(m, answer, own),
        AnswerResult::None(why) => vec![none(m, why)],
    }
}

fn at(m: &Messages, load: AnswerLoad, basis: RateBasis) -> String {
    let at = match load.offered_per_second {
        Some(rate) => m.text_with("answer-at-rate", &[("rate", three(rate))]),
        None => m.text_with("answer-at-users", &[("users", load.users.to_string())]),
    };
    match basis {
        RateBasis::Measured => at,
        RateBasis::Predicted { .. } => m.text_with("answer-at-full-speed", &[("at", at)]),
        RateBasis::Slowed { slower } => m.text_with(
            "answer-at-slowed",
            &[("at", at), ("slower", slower.to_string())],
        ),
    }
}

fn of_media(m: &Messages, own: &MediaAnswer) -> Vec<String> {
    let is_tied = |other: &&MediumRatio| other.is_certain() == Some(false);
    let (tied, others): (Vec<&MediumRatio>, Vec<&MediumRatio>) =
        own.others.iter().partition(is_tied);
    let ratios = others.iter().map(|other| {
        let args = [
            ("medium", other.medium.clone()),
            ("ratio", three(other.ratio.ratio)),
            ("interval", interval(m, other.ratio.interval)),
        ];
        m.text_with("answer-ratio", &args)
    });
    let at = at(m, own.load, own.basis);
    let mut args = vec![
        ("at", at.clone()),
        ("best", own.best.clone()),
        ("ratios", and(m, ratios.collect())),
    ];
    let mut sentences = Vec::new();
    if let Some(nearest) = tied.first() {
        let tied = tied.iter().map(|other| other.medium.clone());
        args.push(("tied", and(m, tied.collect())));
        args.push(("ratio", three(nearest.ratio.ratio)));
        args.push(("interval", interval(m, nearest.ratio.interval)));
        sentences.push(m.text_with("answer-media-tied", &args));
        if !others.is_empty() {
            sentences.push(m.text_with("answer-media-others", &args));
        }
    } else {
        let id = match own.compared {
            ComparedBy::Throughput => "answer-media",
            ComparedBy::ResponseTime => "answer-media-response",
        };
        sentences.push(m.text_with(id, &args));
    }
    sentences.extend(measured(m, own));
    if !own.left_out.is_empty() {
        let args = [("media", and(m, own.left_out.clone()))];
        sentences.push(m.text_with("answer-left-out", &args));
    }
    sentences
}

/// Beside a prediction, what was measured on slowed drives; the better medium of each pair comes first.
fn measured(m: &Messages, own: &MediaAnswer) -> Option<String> {
    let RateBasis::Predicted { slower } = own.basis else {
        return None;
    };
    let ratio = |other: &MediumRatio| {
        let measured = other.measured?;
        let is_better = measured.ratio >= 1.0;
        let [best, medium] = if is_better {
            [&own.best, &other.medium]
        } else {
            [&other.medium, &own.best]
        };
        let turned = |value: f64| if is_better { value } else { 1.0 / value };
        let ends = measured.interval.map(|own| {
            let [low, high] = [own.low, own.high].map(turned);
            Interval::new(turned(own.mean), low.min(high), low.max(high))
        });
        let args = [
            ("best", best.clone()),
            ("medium", medium.clone()),
            ("ratio", three(turned(measured.ratio))),
            ("interval", interval(m, ends)),
        ];
        Some(m.text_with("answer-measured-ratio", &args))
    };
    let ratios: Vec<String> = own.others.iter().filter_map(ratio).collect();
    (!ratios.is_empty()).then(|| {
        let args = [("slower", slower.to_string()), ("ratios", and(m, ratios))];
        m.text_with("answer-measured", &args)
    })
}

fn of_load(m: &Messages, answer: &RunAnswer, own: &LoadAnswer) -> Vec<String> {
    let medium = own
        .medium
        .clone()
        .unwrap_or_else(|| m.text("answer-system"));
    let mut args = vec![
        ("at", at(m, own.load, own.basis)),
        ("medium", medium),
        ("p99", own.p99_ms.map_or_else(String::new, three)),
    ];
    if own.compared == ComparedBy::ResponseTime {
        return vec![m.text_with("answer-load-response", &args)];
    }
    args.push(("rate", rate(answer, own.rate)));
    args.push(("interval", rate_interval(m, answer, own.rate)));
    args.push(("unit", unit(m, answer)));
    let mut sentences = vec![m.text_with("answer-load", &args)];
    if !own.is_peak {
        sentences.push(m.text("answer-load-grows"));
    }
    sentences
}

fn none(m: &Messages, why: &NoAnswer) -> String {
    match why {
        NoAnswer::NothingMeasured => m.text("answer-none-nothing"),
        NoAnswer::OneValidMedium { valid } => m.text_with(
            "answer-none-one",
            &[("valid", valid.clone().unwrap_or_default())],
        ),
        NoAnswer::NoCommonLoad => m.text("answer-none-load"),
        NoAnswer::UnequalSpeeds => m.text("answer-none-speeds"),
    }
}

fn and(m: &Messages, mut parts: Vec<String>) -> String {
    let Some(last) = parts.pop() else {
        return String::new();
    };
    if parts.is_empty() {
        return last;
    }
    m.text_with("answer-and", &[("first", parts.join(", ")), ("last", last)])
}

fn interval(m: &Messages, interval: Option<Interval>) -> String {
    let Some(own) = interval else {
        return String::new();
    };
    m.text_with(
        "answer-interval",
        &[("low", three(own.low)), ("high", three(own.high))],
    )
}

pub(crate) fn rate(answer: &RunAnswer, rate: RateEstimate) -> String {
    shown_rate(answer.nopm, rate.value)
}

fn shown_rate(nopm: bool, value: f64) -> String {
    // Three digits that mean something, and none of a decimal of orders.
    if nopm && value < 1000.0 {
        whole(value)
    } else {
        three(value)
    }
}

pub(crate) fn rate_interval(m: &Messages, answer: &RunAnswer, rate: RateEstimate) -> String {
    let Some(own) = rate.interval else {
        return String::new();
    };
    let [low, high] = [own.low, own.high].map(|end| shown_rate(answer.nopm, end));
    m.text_with("answer-interval", &[("low", low), ("high", high)])
}

pub(crate) fn unit(m: &Messages, answer: &RunAnswer) -> String {
    m.text(if answer.nopm {
        "answer-unit-nopm"
    } else {
        "answer-unit-rate"
    })
}

/// The figure that rows are compared by: predicted for full speed where there is such a figure.
pub(crate) fn row_rate(answer: &RunAnswer, row: &AnswerRow) -> Option<RateEstimate> {
    let mut rows = answer.rows.iter();
    if rows.any(|other| other.at_full_speed.is_some()) {
        row.at_full_speed
    } else {
        row.throughput
    }
}

/// A row of the small table.
pub(crate) struct Row<'a> {
    row: &'a AnswerRow,
    nopm: bool,
    /// Whether rows are media at one load; else one medium's loads.
    media: bool,
}

pub(crate) fn rows(answer: &RunAnswer) -> impl Iterator<Item = Row<'_>> {
    let first = answer.rows.first().map(|row| &row.medium);
    let media = answer.rows.iter().any(|row| Some(&row.medium) != first);
    let nopm = answer.nopm;
    let rows = answer.rows.iter();
    rows.map(move |row| Row { row, nopm, media })
}

/// Media at one load, or one medium's loads.
pub(crate) fn table<'a>() -> Table<'a, Row<'a>> {
    let is_open = |r: &Row<'_>| r.row.load.offered_per_second.is_some();
    let table = Table::<Row<'_>>::new("answer")
        .prefix("answered-")
        .column("medium", Words, |r| r.row.medium.clone())
        .if_any(|r| r.media)
        .column("users", Plain, |r| r.row.load.users.to_string())
        .if_any(move |r| !r.media && !is_open(r))
        .column("offered", Three, |r| r.row.load.offered_per_second)
        .if_any(move |r| !r.media && is_open(r));
    let percent = |own: Option<RateEstimate>| Some(own?.interval?.relative()? * 100.0);
    table
        .column("nopm", Three, |r| Some(r.row.throughput?.value))
        .if_any(|r| r.nopm)
        .column("rate", Three, |r| Some(r.row.throughput?.value))
        .unless_any(|r| r.nopm)
        .text_column("interval", Percent, move |r| percent(r.row.throughput))
        .if_any(|r| r.row.throughput.is_some_and(|own| own.interval.is_some()))
        .column("full-speed", Three, |r| Some(r.row.at_full_speed?.value))
        .if_any(|r| r.row.at_full_speed.is_some())
        .text_column("full-speed-interval", Percent, move |r| {
            percent(r.row.at_full_speed)
        })
        .if_any(|r| r.row.at_full_speed.is_some())
        .column("p99", Three, |r| r.row.p99_ms)
        .column("ratio", Three, |r| Some(r.row.ratio?.ratio))
        .if_any(|r| r.row.ratio.is_some())
        .column("ratio-interval", Three, |r| r.row.ratio?.interval)
        .if_any(|r| r.row.ratio.is_some_and(|own| own.interval.is_some()))
        .column("verdict", Plain, |r| r.row.verdict)
        .spare(&["interval", "full-speed-interval", "ratio-interval", "p99"])
}

/// What limits each medium, in words.
pub(crate) fn limited_by(m: &Messages, answer: &RunAnswer) -> Vec<String> {
    let text = |own: &LimitedBy| {
        let locks = own
            .locks_percent
            .map(|percent| m.text_with("answer-limited-locks", &[("percent", whole(percent))]));
        let args = [
            ("locks", locks.unwrap_or_default()),
            (
                "medium",
                own.medium
                    .clone()
                    .unwrap_or_else(|| m.text("answer-system")),
            ),
            (
                "what",
                m.text(&format!("answer-limiter-{}", own.limiter.name())),
            ),
            ("percent", whole(own.percent)),
        ];
        m.text_with("answer-limited", &args)
    };
    answer.limited_by.iter().map(text).collect()
}

/// The verdict, and how many points it rests on.
pub(crate) fn trust(m: &Messages, trust: &Trust) -> String {
    let word = m.text(&format!("verdict-{}", trust.verdict.name()));
    format!("{word} · {}", trusted_points(m, trust))
}

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
        (0, 0) => "answer-points-valid",
        (0, _) => "answer-points-doubtful",
        _ => "answer-points-invalid",
    };
    m.text_with(id, &args)
}

/// The most important limits, each in a line; a last one counts the others.
pub(crate) fn limits(m: &Messages, trust: &Trust, listed: usize) -> Vec<String> {
    let text = |own: &TrustLimit| {
        let code = own.rule.code();
        let args = [
            ("code", code.to_owned()),
            (
                "what",
                m.text(&format!("answer-limit-{}", code.to_lowercase())),
            ),
            ("cases", own.cases.to_string()),
        ];
        let id = if own.severity == Severity::Error {
            "answer-limit-error"
        } else {
            "answer-limit"
        };
        m.text_with(id, &args)
    };
    let mut all: Vec<String> = trust.limits.iter().take(listed).map(text).collect();
    let more = trust.limits.len().saturating_sub(listed);
    if more > 0 {
        all.push(m.text_with("answer-limit-more", &[("n", more.to_string())]));
    }
    all
}

/// Commands that go on from here.
pub(crate) fn next(m: &Messages, answer: &RunAnswer, run: &str) -> Vec<NextStep> {
    let doubt = answer.trust.limits.first();
    let explain = doubt
        .filter(|_| answer.trust.verdict > Verdict::Valid)
        .map(|limit| NextStep {
            command: format!("plimsoll audit --explain {}", limit.rule.code()),
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
