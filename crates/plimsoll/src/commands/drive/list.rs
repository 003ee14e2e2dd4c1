//! `plimsoll drive list`.

use plimsoll_drive::catalogue;
use plimsoll_drive::spec::figure::Figure;

use crate::cli::{Format, ListArgs};
use crate::commands::table::{Cell, Rows};
use crate::drive_file;
use crate::failure::Failure;

const COLUMNS: [(&str, &str); 11] = [
    ("drive", "drive"),
    ("kind", "kind"),
    ("capacity_gb", "GB"),
    ("sequential_read_mb_s", "seq r MB/s"),
    ("sequential_write_mb_s", "w MB/s"),
    ("random_read_iops", "rand r IO/s"),
    ("random_write_iops", "w IO/s"),
    ("write_cache", "cache"),
    ("tbw", "TBW"),
    ("unverified", "unverified"),
    ("unverified_figures", "which"),
];

pub fn list(args: &ListArgs) -> Result<String, Failure> {
    let mut rows = Rows::new(&COLUMNS);
    for entry in catalogue::all() {
        let spec = drive_file::read(entry.name)?;
        let sheet = &spec.file.datasheet;
        let figure = |figure: &Option<Figure>| {
            let doubtful = figure.as_ref().is_some_and(|figure| !figure.is_verified());
            Cell::maybe(figure.as_ref().map(|figure| figure.value), 0).marked(if doubtful {
                "?"
            } else {
                " "
            })
        };
        rows.push(vec![
            Cell::text(&spec.id),
            Cell::text(spec.kind.name()),
            Cell::number(spec.file.capacity_gb.value, 0),
            figure(&sheet.sequential_read_mb_s),
            figure(&sheet.sequential_write_mb_s),
            figure(&sheet.random_read_iops),
            figure(&sheet.random_write_iops),
            Cell::text(spec.file.write_cache.value.name()),
            Cell::maybe(spec.tbw, 0),
            Cell::text(format!(
                "{} of {}",
                spec.unverified().len(),
                spec.file.figures().len() + 1
            )),
            Cell::text(spec.unverified().join(" ")),
        ]);
    }
    Ok(match args.format {
        Format::Table => format!(
            "{}\n\n? was remembered or assumed, as are so many of the drive's figures in all.\n\
             `plimsoll drive show DRIVE` has every figure with its source.",
            rows.without(&["unverified_figures"]).table()
        ),
        Format::Json | Format::Csv => rows.render(args.format),
    })
}
