//! `plimsoll drive show`.

use plimsoll_drive::spec::DriveSpec;
use plimsoll_drive::spec::figure::{ASSUMED, UNVERIFIED};
use plimsoll_drive::spec::file::FileFigure;
use serde_json::json;

use crate::cli::{Format, ShowArgs};
use crate::commands::table::{Cell, Rows};
use crate::drive_file;
use crate::failure::Failure;

pub fn show(args: &ShowArgs) -> Result<String, Failure> {
    let spec = drive_file::read(&args.drive)?;
    let (figures, derived) = (figures(&spec), derived(&spec));
    Ok(match args.format {
        Format::Table => format!(
            "{} ({})\n\n{}\n\n{}\n\nWhat the model makes of them\n\n{}",
            spec.title,
            spec.id,
            figures.table(),
            sources(&spec),
            derived.table()
        ),
        Format::Json => format!(
            "{:#}",
            json!({
                "id": spec.id, "title": spec.title, "kind": spec.kind.name(),
                "write_cache": spec.file.write_cache.value.name(), "sources": spec.file.sources,
                "figures": figures.json(), "derived": derived.json(),
            })
        ),
        Format::Csv => figures.csv(),
    })
}

fn figures(spec: &DriveSpec) -> Rows {
    let mut rows = Rows::new(&[
        ("table", "table"),
        ("key", "figure"),
        ("value", "value"),
        ("block_kib", "KiB"),
        ("depth", "depth"),
        ("error_percent", "± %"),
        ("source", "source"),
    ]);
    for FileFigure { table, key, figure } in spec.file.figures() {
        rows.push(vec![
            Cell::text(table),
            Cell::text(key),
            Cell::number(
                figure.value,
                if figure.value.fract() == 0.0 { 0 } else { 3 },
            ),
            Cell::maybe(figure.block_kib, 0),
            Cell::maybe(figure.depth, 0),
            Cell::maybe(figure.error_percent, 1),
            Cell::text(&figure.source),
        ]);
    }
    rows
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

fn derived(spec: &DriveSpec) -> Rows {
    let mut rows = Rows::new(&[
        ("parameter", "parameter"),
        ("value", "value"),
        ("unit", "unit"),
    ]);
    for parameter in spec.parameters() {
        rows.push(vec![
            Cell::text(parameter.name),
            Cell::number(
                parameter.value,
                if parameter.value.fract() == 0.0 { 0 } else { 3 },
            ),
            Cell::text(parameter.unit),
        ]);
    }
    rows
}
