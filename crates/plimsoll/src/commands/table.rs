//! Tables of commands, in the format that is asked for.

use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;

use crate::cli::Format;

pub fn render<R>(table: &Table<'_, R>, rows: Vec<R>, format: Format) -> String {
    match format {
        Format::Table => table.to_text(&Messages::english(), &rows),
        Format::Json => format!("{:#}", table.to_json(&rows)),
        Format::Csv => table.to_csv(rows),
    }
}

/// What people see has a note below it.
pub fn with_note<R>(table: &Table<'_, R>, rows: Vec<R>, format: Format, note: &str) -> String {
    let text = render(table, rows, format);
    match format {
        Format::Table => format!("{text}\n\n{note}"),
        Format::Json | Format::Csv => text,
    }
}

/// In lines of so many characters; a longer word has a line of its own.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().map(|line| (line.chars().count(), line));
        match last {
            Some((0, line)) => line.push_str(word),
            Some((used, line)) if used + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use plimsoll_report::table::Declaration;

    use super::*;
    use crate::commands::{check, drive, plans, predict, profile};

    const ALL_TABLES: &[fn() -> Declaration] = &[
        || check::table().declaration(),
        || drive::list::table().declaration(),
        || drive::show::figures().declaration(),
        || drive::show::parameters().declaration(),
        || drive::replay::table().declaration(),
        || drive::assembly::member_table().declaration(),
        || drive::reliability::table().declaration(),
        || drive::request_stats::table().declaration(),
        || drive::simulate::sheet().declaration(),
        || plans::table(plans::CellWidths::default()).declaration(),
        || predict::table().declaration(),
        || predict::verify_table().declaration(),
        || profile::list::table().declaration(),
        || profile::show::table().declaration(),
    ];

    #[test]
    fn every_heading_id_and_key_is_right() {
        let m = Messages::english();
        let tables = ALL_TABLES.iter();
        let faults: Vec<String> = tables.flat_map(|table| table().faults(&m)).collect();
        assert_eq!(faults, Vec::<String>::new());
    }
}
