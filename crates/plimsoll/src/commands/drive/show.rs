//! `plimsoll drive show`.

use plimsoll_drive::spec::DriveSpec;
use plimsoll_drive::spec::figure::{ASSUMED, UNVERIFIED};
use plimsoll_drive::spec::file::FileFigure;
use plimsoll_drive::spec::parameters::Parameter;
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Fraction, Whole, Words};
use serde_json::json;

use crate::cli::{Format, ShowArgs};
use crate::drive_file;
use crate::failure::Failure;

pub fn show(args: &ShowArgs) -> Result<String, Failure> {
    let spec = drive_file::read(&args.drive)?;
    let figures = spec.file.figures();
    Ok(match args.format {
        Format::Table => {
            let m = Messages::english();
            format!(
                "{} ({})\n\n{}\n\n{}\n\nWhat the model makes of them\n\n{}",
                spec.title,
                spec.id,
                figure_table().to_text(&m, &figures),
                sources(&spec),
                parameter_table().to_text(&m, &spec.parameters())
            )
        }
        Format::Json => format!(
            "{:#}",
            json!({
                "id": spec.id, "title": spec.title, "kind": spec.kind.name(),
                "write_cache": spec.file.write_cache.value.name(), "sources": spec.file.sources,
                "figures": figure_table().to_json(&figures),
                "derived": parameter_table().to_json(&spec.parameters()),
            })
        ),
        Format::Csv => figure_table().to_csv(figures),
    })
}

fn figure_table<'a>() -> Table<'a, FileFigure<'a>> {
    Table::<FileFigure<'_>>::with_prefix("figures-")
        .column("table", Words, |own| own.table)
        .column("key", Words, |own| own.key)
        .column("value", Fraction(3), |own| own.figure.value)
        .column("block-kib", Whole, |own| own.figure.block_kib)
        .column("depth", Whole, |own| own.figure.depth)
        .column("error-percent", Decimals(1), |own| own.figure.error_percent)
        .column("source", Words, |own| own.figure.source.clone())
        .with_keys()
        .with_long_headings()
}

fn sources(spec: &DriveSpec) -> String {
    let own = spec
        .file
        .sources
        .iter()
        .map(|(id, text)| format!("{id}: {text}"));
    let cache = &spec.file.write_cache;
    let cache = format!(
        "write cache: {} (source: {})",
        cache.value.name(),
        cache.source
    );
    let general = [
        format!("{UNVERIFIED}: remembered, found in no public copy"),
        format!("{ASSUMED}: chosen as usual for such a drive, because nothing is published"),
    ];
    std::iter::once(cache)
        .chain(own)
        .chain(general)
        .collect::<Vec<_>>()
        .join("\n")
}

/// What the model makes of the figures.
fn parameter_table() -> Table<'static, Parameter> {
    Table::<Parameter>::with_prefix("parameters-")
        .column("parameter", Words, |own| own.name.clone())
        .column("value", Fraction(3), |own| own.value)
        .column("unit", Words, |own| own.unit)
        .with_keys()
        .with_long_headings()
}
