//! The audit: fired rules first, the others folded or, on a terminal, by code.

use plimsoll_analysis::audit::{Audit, Rule};
use plimsoll_record::Severity;

use crate::audit::{
    FindingsPlacement, Fired, SilentRule, adjusted, answer, counts, fired, not_evaluated, passed,
};
use crate::document::{PageAnswer, ReportBlock, ReportDocument, ReportSection};
use crate::message::Messages;
use crate::render;
use crate::table::Unit::{Plain, Sentences, Words};
use crate::table::{Table, TableCell};

/// The audit of a run, below its findings.
pub(crate) fn section(m: &Messages, audit: &Audit) -> ReportSection {
    let fired = fired(m, audit, FindingsPlacement::Above);
    let silent = SilentRules::of(m, audit);
    let title = m.text("audit-title");
    let mut section = ReportSection::new("audit", &title)
        .styled("doctor")
        .listed();
    let heading = m.text_with("audit-heading", &counts(audit, &fired));
    section.both(ReportBlock::text(heading));
    add_fired(m, audit, &fired, &mut section);
    section.page(ReportBlock::grid(m, &title, &fired_rules(), &fired));
    // Each rule once, as the heading counts them.
    let mut listed: Vec<&str> = fired.iter().map(|fired| fired.code).collect();
    for (title, rules) in [
        ("audit-passed", &silent.passed),
        ("audit-not-evaluated-rules", &silent.not_evaluated),
    ] {
        let codes = rules.iter().map(|silent| silent.code);
        let codes: Vec<&str> = codes.filter(|code| !listed.contains(code)).collect();
        if !codes.is_empty() {
            section.line(format!("{}: {}", m.text(title), codes.join(", ")));
        }
        listed.extend(codes);
    }
    silent.add_folded(m, &mut section);
    section
}

/// Changed thresholds and, on a terminal, the rules that fired.
fn add_fired(m: &Messages, audit: &Audit, fired: &[Fired], section: &mut ReportSection) {
    for line in adjusted(m, audit) {
        section.both(ReportBlock::note(line));
    }
    section.lines(fired.iter().map(|fired| entry(m, fired)));
}

/// Which rule and where; what it found; what to do.
fn entry(m: &Messages, fired: &Fired) -> String {
    let severity = m.text(&format!("severity-{}", fired.severity.name()));
    let next = m.text_with("audit-next", &[("next", fired.next.clone())]);
    let colon = if fired.place.is_empty() { "" } else { ": " };
    let head = format!("{severity}: {}{colon}{}", fired.code, fired.place);
    if fired.text == m.text("audit-see-above") {
        return format!("{head}: {}", fired.text);
    }
    format!("{head}\n  {}\n  {next}", fired.text)
}

/// Rules that did not fire.
struct SilentRules {
    passed: Vec<SilentRule>,
    not_evaluated: Vec<SilentRule>,
}

impl SilentRules {
    fn of(m: &Messages, audit: &Audit) -> Self {
        Self {
            passed: passed(m, audit),
            not_evaluated: not_evaluated(m, audit),
        }
    }

    fn add_folded(&self, m: &Messages, section: &mut ReportSection) {
        for (title, table, rules) in [
            ("audit-passed", passed_rules(), &self.passed),
            ("audit-not-evaluated", skipped_rules(), &self.not_evaluated),
        ] {
            let title = m.text(title);
            let codes: Vec<&str> = rules.iter().map(|silent| silent.code).collect();
            let summary = format!("{title}: {}", codes.join(", "));
            let rules = ReportBlock::grid(m, &title, &table, rules);
            section.page(ReportBlock::folded(summary, [rules]));
        }
    }

    /// With the evidence, or the reason why it was not evaluated.
    fn add_lines(&self, m: &Messages, section: &mut ReportSection) {
        for (title, rules) in [
            ("audit-passed", &self.passed),
            ("audit-not-evaluated", &self.not_evaluated),
        ] {
            if !rules.is_empty() {
                section.gap();
                section.line(format!("{}:", m.text(title)));
            }
            section.lines(rules.iter().map(|SilentRule { code, places, text }| {
                format!("  {code:<9} {places:>3} × {text}")
            }));
        }
    }
}

pub(crate) fn fired_rules<'a>() -> Table<'a, Fired> {
    Table::<Fired>::new("audit-fired")
        .prefix("column-")
        .message("severity", Words, |fired, m| {
            // A sign and text: not all readers can distinguish colors.
            let (sign, class) = match fired.severity {
                Severity::Error => ("✕", "invalid"),
                Severity::Warning => ("!", "doubtful"),
                Severity::Note => ("·", ""),
            };
            let severity = m.text(&format!("severity-{}", fired.severity.name()));
            TableCell::from(format!("{sign} {severity}")).styled(class)
        })
        .column("rule", Words, |fired| fired.code)
        .column("evidence", Sentences, Fired::evidence)
        .column("next", Sentences, |fired| fired.next.clone())
}

pub(crate) fn passed_rules<'a>() -> Table<'a, SilentRule> {
    quiet(Table::new("audit-passed")).column("evidence", Sentences, |own| own.text.clone())
}

pub(crate) fn skipped_rules<'a>() -> Table<'a, SilentRule> {
    quiet(Table::new("audit-not-evaluated")).column("because", Sentences, |own| own.text.clone())
}

fn quiet(table: Table<'_, SilentRule>) -> Table<'_, SilentRule> {
    table
        .prefix("column-")
        .column("rule", Words, |own| own.code)
        .column("places", Plain, |own| own.places)
}

/// The page of one audit, or of several.
pub fn audit_page(audits: &[Audit]) -> String {
    let m = Messages::english();
    let document = ReportDocument {
        title: m.text("audit-page-question"),
        is_question: true,
        header: Vec::new(),
        sections: audits.iter().map(|audit| audited(&m, audit)).collect(),
        footer: vec![ReportBlock::note(m.text("audit-page-how"))],
    };
    render::html::page(&m, &document)
}

/// Each rule with its evidence, or the reason why it was not evaluated.
pub fn audit_table(audit: &Audit) -> String {
    render::text::sections([&audited(&Messages::english(), audit)])
}

/// An audit by itself, with its answer.
fn audited(m: &Messages, audit: &Audit) -> ReportSection {
    let fired = fired(m, audit, FindingsPlacement::Here);
    let silent = SilentRules::of(m, audit);
    let answer = answer(m, audit, &fired, silent.passed.len());
    let trust = m.text_with("audit-heading", &counts(audit, &fired));
    let mut section = ReportSection::untitled("audit").styled("audited");
    section.line(&answer);
    section.line(&trust);
    section.page(ReportBlock::Answer(Box::new(PageAnswer {
        table: fired_rules().to_grid(m, &fired),
        table_name: audit.of.clone(),
        ..PageAnswer::new(m, answer, audit.verdict(), trust)
    })));
    add_fired(m, audit, &fired, &mut section);
    silent.add_lines(m, &mut section);
    silent.add_folded(m, &mut section);
    section
}

/// A rule: its definition, severity and thresholds.
pub fn explain(rule: Rule) -> String {
    let m = Messages::english();
    let severity = m.text(&format!("severity-{}", rule.severity().name()));
    let mut lines = vec![format!("{} ({severity})", rule.code()), m.rule(rule)];
    let prefix = format!("{}: ", rule.code());
    for threshold in plimsoll_plan::Thresholds::default().list() {
        if let Some(what) = threshold.what.strip_prefix(&prefix) {
            lines.push(format!(
                "\n[audit] {} = {} {}\n  {what}\n  {}",
                threshold.key, threshold.value, threshold.unit, threshold.source
            ));
        }
    }
    lines.join("\n") + "\n"
}
