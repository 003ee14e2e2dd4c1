//! `plimsoll drive list`.

use plimsoll_drive::catalog;
use plimsoll_drive::spec::DriveSpec;
use plimsoll_drive::spec::figure::SpecFigure;
use plimsoll_report::drive_catalog::{ListedDrive, catalog_page};
use plimsoll_report::message::Messages;
use plimsoll_report::table::Unit::{Whole, Words};
use plimsoll_report::table::{Table, TableCell};

use crate::cli::ListArgs;
use crate::commands::table::with_note;
use crate::drive_file;
use crate::failure::Failure;
use crate::output::write_whole;
use crate::output_kind::OutputKind;

pub fn list(args: &ListArgs) -> Result<String, Failure> {
    let drives: Result<Vec<DriveSpec>, Failure> = catalog::all()
        .iter()
        .map(|entry| drive_file::read(entry.name))
        .collect();
    let drives = drives?;
    if let Some(output) = &args.output {
        let listed: Vec<ListedDrive> = drives.iter().filter_map(listed).collect();
        let unverified = drives.iter().any(|drive| !drive.unverified().is_empty());
        let page = catalog_page(&table(), &drives, &listed, unverified);
        write_whole(output, &page, &OutputKind::Page)?;
    }
    let note = Messages::english().text("drives-note");
    Ok(with_note(&table(), drives, args.format, &note))
}

pub fn table() -> Table<'static, DriveSpec> {
    Table::<DriveSpec>::new("drives")
        .prefix("drives-")
        .column("drive", Words, |drive| drive.id.clone())
        .column("kind", Words, |drive| drive.kind.name())
        .column("capacity-gb", Whole, |drive| drive.file.capacity_gb.value)
        .column("sequential-read-mb-s", Whole, |drive| {
            marked(&drive.file.datasheet.sequential_read_mb_s)
        })
        .column("sequential-write-mb-s", Whole, |drive| {
            marked(&drive.file.datasheet.sequential_write_mb_s)
        })
        .column("random-read-iops", Whole, |drive| {
            marked(&drive.file.datasheet.random_read_iops)
        })
        .column("random-write-iops", Whole, |drive| {
            marked(&drive.file.datasheet.random_write_iops)
        })
        .column("write-cache", Words, |drive| {
            drive.file.write_cache.value.name()
        })
        .column("tbw", Whole, |drive| drive.tbw)
        .column("unverified", Words, |drive| {
            let all = drive.file.figures().len() + 1;
            format!("{} of {all}", drive.unverified().len())
        })
        .field("unverified_figures", |drive| drive.unverified().join(" "))
        .with_keys()
        .with_long_headings()
}

/// `None` of a drive whose data sheet has no random reads.
fn listed(drive: &DriveSpec) -> Option<ListedDrive> {
    let reads = drive.file.datasheet.random_read_iops.as_ref()?;
    Some(ListedDrive {
        name: drive.id.clone(),
        kind: drive.kind.name(),
        random_read_iops: reads.value,
    })
}

/// An unverified figure has a mark.
fn marked(figure: &Option<SpecFigure>) -> TableCell {
    let is_unverified = figure.as_ref().is_some_and(|figure| !figure.is_verified());
    let value = figure.as_ref().map(|figure| figure.value);
    TableCell::from(value).marked(if is_unverified { "?" } else { " " })
}
