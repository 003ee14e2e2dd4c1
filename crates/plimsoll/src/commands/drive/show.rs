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
    let file = spec.file.figures();
    Ok(match args.format {
        Format::Table => {
            let m = Messages::english();
            let title = format!("{} ({})", spec.title, spec.id);
            let parts = [
                title,
                figures().to_text(&m, &file),
                sources(&m, &spec),
                m.text("parameters-title"),
                parameters().to_text(&m, &spec.parameters()),
            ];
            parts.join("\n\n")
        }
        Format::Json => format!(
            "{:#}",
            json!({
                "id": spec.id, "title": spec.title, "kind": spec.kind.name(),
                "write_cache": spec.file.write_cache.value.name(), "sources": spec.file.sources,
                "figures": figures().to_json(&file),
                "derived": parameters().to_json(&spec.parameters()),
            })
        ),
        Format::Csv => figures().to_csv(file),
    })
}

pub fn figures<'a>() -> Table<'a, FileFigure<'a>> {
    Table::<FileFigure<'_>>::new("figures")
        .prefix("figures-")
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

fn sources(m: &Messages, spec: &DriveSpec) -> String {
    let cache = &spec.file.write_cache;
    let args = [
        ("cache", cache.value.name().to_owned()),
        ("source", cache.source.clone()),
    ];
    let mut lines = vec![m.text_with("figures-write-cache", &args)];
    let own = spec.file.sources.iter();
    lines.extend(own.map(|(id, text)| format!("{id}: {text}")));
    for (id, name) in [
        ("figures-unverified", UNVERIFIED),
        ("figures-assumed", ASSUMED),
    ] {
        lines.push(m.text_with(id, &[("name", name.to_owned())]));
    }
    lines.join("\n")
}

/// What the model makes of the figures.
pub fn parameters() -> Table<'static, Parameter> {
    Table::<Parameter>::new("parameters")
        .prefix("parameters-")
        .column("parameter", Words, |own| own.name.clone())
        .column("value", Fraction(3), |own| own.value)
        .column("unit", Words, |own| own.unit)
        .with_keys()
        .with_long_headings()
}
