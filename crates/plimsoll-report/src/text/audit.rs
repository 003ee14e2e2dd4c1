//! The audit on the terminal.

use plimsoll_analysis::audit::{Audit, Rule};

use crate::audit::{
    FindingsPlacement, Fired, SilentRule, adjusted, answer, counts, fired, not_evaluated, passed,
};
use crate::message::Messages;

/// Fired rules below the findings of a run; the others in two lines, each rule once, as the heading counts them.
pub(super) fn section(m: &Messages, audit: &Audit) -> String {
    let fired = fired(m, audit, FindingsPlacement::Above);
    let mut lines = head(m, audit, &fired);
    let mut listed: Vec<&str> = fired.iter().map(|fired| fired.code).collect();
    for (title, all) in [
        ("audit-passed", passed(m, audit)),
        ("audit-not-evaluated-rules", not_evaluated(m, audit)),
    ] {
        let codes: Vec<&str> = all
            .iter()
            .map(|quiet| quiet.code)
            .filter(|code| !listed.contains(code))
            .collect();
        if !codes.is_empty() {
            lines.push(format!("{}: {}", m.text(title), codes.join(", ")));
        }
        listed.extend(codes);
    }
    format!("\n{}\n", lines.join("\n"))
}

fn head(m: &Messages, audit: &Audit, fired: &[Fired]) -> Vec<String> {
    let mut lines = vec![m.text_with("audit-heading", &counts(audit, fired))];
    lines.extend(adjusted(m, audit));
    lines.extend(fired.iter().map(|fired| entry(m, fired)));
    lines
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

/// Each rule with its evidence, or the reason why it was not evaluated.
pub fn audit_table(audit: &Audit) -> String {
    let m = Messages::english();
    let fired = fired(&m, audit, FindingsPlacement::Here);
    let passed = passed(&m, audit);
    let mut lines = vec![answer(&m, audit, &fired, passed.len())];
    lines.extend(head(&m, audit, &fired));
    for (title, all) in [
        ("audit-passed", passed),
        ("audit-not-evaluated", not_evaluated(&m, audit)),
    ] {
        if !all.is_empty() {
            lines.push(format!("\n{}:", m.text(title)));
        }
        lines.extend(
            all.into_iter().map(|SilentRule { code, places, text }| {
                format!("  {code:<9} {places:>3} × {text}")
            }),
        );
    }
    lines.join("\n") + "\n"
}

/// A rule: its definition, severity and thresholds.
pub fn explain(rule: Rule) -> String {
    let m = Messages::english();
    let severity = m.text(&format!("severity-{}", rule.severity().name()));
    let mut lines = vec![format!("{} ({severity})", rule.code()), m.rule(rule)];
    let own = format!("{}: ", rule.code());
    for threshold in plimsoll_plan::Thresholds::default().list() {
        if let Some(what) = threshold.what.strip_prefix(&own) {
            lines.push(format!(
                "\n[audit] {} = {} {}\n  {what}\n  {}",
                threshold.key, threshold.value, threshold.unit, threshold.source
            ));
        }
    }
    lines.join("\n") + "\n"
}
