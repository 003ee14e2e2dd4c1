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
use super::value::ValueFault;

/// Most faults reported of one plan.
const MOST_FAULTS: usize = 50;

/// `None` if there is nothing that could be checked further; findings give the reason.
pub(super) fn read<T: DeserializeOwned>(findings: &mut Findings<'_>) -> Option<T> {
    let (mut document, faults) = DeTable::parse_recoverable(findings.text());
    if let Some(first) = faults.first() {
        report_syntax(findings, first);
        return None;
    }
    for _ in 0..MOST_FAULTS {
        let fault = match T::deserialize(Deserializer::from(document.clone())) {
            Ok(plan) => return Some(plan),
            Err(fault) => fault,
        };
        let root = document.span();
        let broken = fault
            .span()
            .and_then(|span| take_out(document.get_mut(), root, &span, &mut Vec::new()));
        let key = broken.as_ref().and_then(|broken| broken.path.last());
        let meant = explain(findings, &fault, key.map_or("", String::as_str));
        let mut broken = broken?;
        if let Some(meant) = meant
            && let Some(last) = broken.path.last_mut()
        {
            *last = meant;
        }
        findings.broke(broken);
    }
    None
}

/// The first fault: whatever follows it may be its consequence. Its line is marked where it has no length of its own.
fn report_syntax(findings: &mut Findings<'_>, fault: &de::Error) {
    let text = findings.text();
    let at = fault.span().unwrap_or_default();
    let mut error = PlanError::new(text, at, fault.message());
    let help = syntax_help(fault.message(), line_at(text, error.span.start));
    if error.span.is_empty() {
        let line = line_at(text, error.span.start);
        let start = text[..error.span.start]
            .rfind('\n')
            .map_or(0, |end| end + 1);
        error.span = start..start + line.trim_end().len();
    }
    findings.push(error.help(help));
}

/// The line that holds a byte, without its end.
fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..].lines().next().unwrap_or("")
}

/// What to do about a fault of syntax, by the parser's words and the line that it is in.
fn syntax_help(message: &str, line: &str) -> String {
    let key = line.split('=').next().unwrap_or_default().trim();
    let table = line.trim().trim_matches(['[', ']']);
    let has = |part: &str| message.contains(part);
    match () {
        () if has("duplicate key") && line.trim_start().starts_with('[') => format!(
            "`{table}` is there already; each entry of a list begins with double brackets: [[{table}]]"
        ),
        () if has("duplicate key") => format!("`{key}` is there already; remove one of them"),
        () if has("missing comma between array") => {
            "a list ends with ], on this line or on one before: users = [1, 2, 4]".to_owned()
        }
        () if has("string values must be quoted") => {
            let value = line.split_once('=').map_or("", |(_, value)| value.trim());
            format!("write text in quotes: {key} = \"{value}\"")
        }
        () if has("invalid basic string") || has("invalid literal string") => {
            "text ends with a quotation mark, on the same line".to_owned()
        }
        () if has("key with no value") => "write KEY = VALUE".to_owned(),
        () if has("unclosed array table") => format!("write [[{table}]]"),
        () if has("unclosed table") => format!("write [{table}]"),
        () => "it has to be TOML, see https://toml.io".to_owned(),
    }
}

/// Reports the fault of a key; gives the name that was probably meant if it is a misspelled one.
pub(super) fn explain(findings: &mut Findings<'_>, fault: &de::Error, key: &str) -> Option<String> {
    let span = fault.span().unwrap_or_default();
    let message = fault.message();
    // Of serde itself, which quotes names as they are written, lines included.
    let is_unknown = message.starts_with("unknown ");
    let of_value = ValueFault::parse(message).filter(|_| !is_unknown);
    if let Some(ValueFault { message, help }) = of_value {
        let message = match message.starts_with(|c: char| c.is_ascii_lowercase()) {
            true => format!("`{key}` {message}"),
            false => message,
        };
        findings.error(span, message, help);
        return None;
    }
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
        .map(|(_, help)| (*help).to_owned());
    let help = unit_in_key(findings.text(), &span).or(help);
    let error = error(plain);
    findings.push(match help {
        Some(help) => error.help(help),
        None => error,
    });
    None
}

/// `p99_ms = "20ms"`: the key has the unit already.
fn unit_in_key(text: &str, value: &Range<usize>) -> Option<String> {
    const UNITS: [&str; 6] = ["_ms", "_us", "_s", "_gb", "_percent", "_mb_s"];
    let before = text[..value.start].trim_end().strip_suffix('=')?.trim_end();
    let key = before
        .rsplit(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()?;
    UNITS.iter().find(|unit| key.ends_with(**unit))?;
    let written = text.get(value.clone())?.strip_prefix('"')?;
    let end = written.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let number = written[..end].parse::<f64>().ok()?;
    Some(format!("the unit is in the name: {key} = {number}"))
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
        "map" => "a table".to_owned(),
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
                if item.span() == *span || is_pair_with(item.get_ref(), span) {
                    doomed = Some(i);
                    break;
                }
                if let Some(broken) = take_out_below(item, span, path) {
                    return Some(broken);
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

/// Whether it is a list in a list, which would be another pair without the value at `span`.
fn is_pair_with(value: &DeValue<'_>, span: &Range<usize>) -> bool {
    match value {
        DeValue::Array(items) => items.iter().any(|item| item.span() == *span),
        _ => false,
    }
}
