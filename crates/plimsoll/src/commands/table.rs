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
