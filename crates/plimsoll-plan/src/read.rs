//! From text to the raw plan, with every fault of syntax and shape found.
//!
//! serde stops at the first fault. So whatever a fault points at is taken out of the parsed document and the rest is
//! read again, until nothing is left to complain about: the types in [`super::raw`] stay the only description of a
//! plan's shape.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, Deserializer};
use toml::{Spanned, de};

use super::error::{PlanError, nearest, suggestion};
use super::findings::{BrokenKey, Findings};

/// Most faults reported of one plan.
const MOST_FAULTS: usize = 50;

/// `None` if there is nothing that could be checked further; findings give the reason.
pub(super) fn read<T: DeserializeOwned>(findings: &mut Findings<'_>) -> Option<T> {
    let (mut document, faults) = DeTable::parse_recoverable(findings.text());
    if !faults.is_empty() {
        report_syntax(findings, &faults);
        return None;
    }
    for _ in 0..MOST_FAULTS {
        let fault = match T::deserialize(Deserializer::from(document.clone())) {
            Ok(plan) => return Some(plan),
            Err(fault) => fault,
        };
        let meant = explain(findings, &fault);
        let root = document.span();
        let mut broken = take_out(document.get_mut(), root, &fault.span()?, &mut Vec::new())?;
        if let Some(meant) = meant
            && let Some(last) = broken.path.last_mut()
        {
            *last = meant;
        }
        findings.broke(broken);
    }
    None
}

/// One fault per line: the first one leads to the others.
fn report_syntax(findings: &mut Findings<'_>, faults: &[de::Error]) {
    let mut last_line = 0;
    for fault in faults.iter().take(MOST_FAULTS) {
        let error = PlanError::new(
            findings.text(),
            fault.span().unwrap_or_default(),
            fault.message(),
        );
        if error.line != last_line {
            last_line = error.line;
            findings.push(error.help("it has to be TOML, see https://toml.io"));
        }
    }
}

/// Reports the fault; gives the name that was probably meant if it is a misspelled one.
fn explain(findings: &mut Findings<'_>, fault: &de::Error) -> Option<String> {
    let span = fault.span().unwrap_or_default();
    let message = fault.message();
    let error = |message: String| PlanError::new(findings.text(), span.clone(), message);
    for (start, what) in [("unknown field `", "key"), ("unknown variant `", "value")] {
        let Some((written, rest)) = message
            .strip_prefix(start)
            .and_then(|rest| rest.split_once("`, "))
        else {
            continue;
        };
        // serde quotes every name with backticks: every other piece is one.
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let meant = nearest(written, known.iter().copied()).map(str::to_owned);
        let error = error(format!("unknown {what} `{written}`")).help(suggestion(
            written,
            &known,
            "there is nothing to set",
        ));
        findings.push(error);
        return meant.filter(|_| what == "key");
    }
    let plain = plain_message(message);
    let help = [
        ("number, found \"", "numbers stand without quotes"),
        ("numbers, found \"", "numbers stand without quotes"),
        (
            "a list, found a table",
            "double brackets start an entry of a list: [[step]]",
        ),
        (
            "a table, found a list",
            "single brackets and a name start a table: [system.db]",
        ),
    ];
    let help = help
        .iter()
        .find(|(part, _)| plain.contains(part))
        .map(|(_, help)| *help);
    let error = error(plain);
    findings.push(match help {
        Some(help) => error.help(help),
        None => error,
    });
    None
}

/// serde's names for kinds of values, in plain English.
fn plain_message(message: &str) -> String {
    let Some((found, expected)) = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|start| message.strip_prefix(start))
        .and_then(|rest| rest.rsplit_once(", expected "))
    else {
        return match message {
            "wanted string or table" => "expected text in quotes".to_owned(),
            other => other.to_owned(),
        };
    };
    let expected = match expected {
        "a string" | "string" => "text in quotes",
        "i64" => "a whole number",
        "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a map" => "a table",
        "a sequence" => "a list",
        other => other,
    };
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    let found = match kind {
        "integer" | "boolean" => value.replace('`', ""),
        "floating" => value.trim_start_matches("point ").replace('`', ""),
        "string" => value.to_owned(),
        "sequence" => "a list".to_owned(),
        "map" => "a table or date".to_owned(),
        _ => found.to_owned(),
    };
    format!("expected {expected}, found {found}")
}

/// Removes what stands at `span`, the key's or the value's own place, from the table at `at`.
fn take_out(
    table: &mut DeTable<'_>,
    at: Range<usize>,
    span: &Range<usize>,
    path: &mut Vec<String>,
) -> Option<BrokenKey> {
    let mut doomed = None;
    for (key, value) in table.iter_mut() {
        path.push(key.get_ref().to_string());
        if key.span() != *span {
            if let Some(broken) = take_out_below(value, span, path) {
                return Some(broken);
            }
            if value.span() != *span {
                path.pop();
                continue;
            }
        }
        doomed = path.last().cloned();
        break;
    }
    table.remove(doomed?.as_str())?;
    Some(BrokenKey {
        parent: at,
        path: path.clone(),
    })
}

fn take_out_below(
    value: &mut Spanned<DeValue<'_>>,
    span: &Range<usize>,
    path: &mut Vec<String>,
) -> Option<BrokenKey> {
    let at = value.span();
    match value.get_mut() {
        DeValue::Table(table) => take_out(table, at, span, path),
        DeValue::Array(items) => {
            let mut doomed = None;
            for (i, item) in items.iter_mut().enumerate() {
                if let Some(broken) = take_out_below(item, span, path) {
                    return Some(broken);
                }
                if item.span() == *span {
                    doomed = Some(i);
                    break;
                }
            }
            let doomed = doomed?;
            let all = std::mem::replace(items, std::iter::empty().collect());
            *items = all
                .into_iter()
                .enumerate()
                .filter(|(i, _)| *i != doomed)
                .map(|(_, item)| item)
                .collect();
            Some(BrokenKey {
                parent: at,
                path: path.clone(),
            })
        }
        _ => None,
    }
}
