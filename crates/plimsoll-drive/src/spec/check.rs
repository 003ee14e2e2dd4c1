//! What is wrong with a drive file: figures out of range or missing, sources that are not listed, tables of another
//! kind of drive.

use std::ops::RangeInclusive;

use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::cluster::ClusterSpec;
use plimsoll_plan::{PlanError, PlanErrors, SLOWER, read_toml, suggestion};

use super::figure::{ASSUMED, SpecFigure, UNVERIFIED};
use super::file::{DriveClass, DriveFile, FileFigure, OtherDrive, with_unit};

/// Ends of keys, and between what their values have to lie. Wide enough for any drive, narrow enough that no sum of
/// times overflows. The first that fits counts.
const RANGES: [(&str, f64, f64); 23] = [
    ("capacity_gb", 0.01, 1e6),
    ("slc_gb", 0.0, 1e6),
    ("_mb_s", 0.1, 1e6),
    ("mib_s", 0.1, 1e6),
    ("burst_ios", 0.0, 1e9),
    ("burst_mib", 0.0, 1e6),
    ("iops", 1.0, 1e8),
    ("flush_us", 0.0, 1e7),
    ("trim_us", 0.0, 1e7),
    ("firmware_us", 0.0, 1e7),
    ("program_us", 0.0, 1e7),
    ("_us", 0.1, 4e6),
    ("_ms", 0.001, 4e3),
    ("buffer_mb", 0.0, 1e6),
    ("unit_kib", 0.5, 1e6),
    ("units", 1.0, 4096.0),
    ("queue", 1.0, 32.0),
    ("rpm", 100.0, 1e6),
    ("physical_share", 0.05, 1.0),
    ("_share", 0.0, 1.0),
    ("_w", 0.0, 1e4),
    ("tbw", 0.001, 1e9),
    ("", 0.001, 1e3),
];

/// A drive file without faults.
pub(super) fn checked(text: &str) -> Result<DriveFile, PlanErrors> {
    let file = read_toml::<DriveFile>(text)?;
    let mut faults = Faults {
        text,
        errors: Vec::new(),
    };
    faults.of_figures(&file);
    faults.of_tables(&file);
    faults.of_assembly(&file);
    if faults.errors.is_empty() {
        faults.of_order(&file);
    }
    let Faults { mut errors, .. } = faults;
    errors.sort_by_key(|error| error.span.start);
    if errors.is_empty() {
        Ok(file)
    } else {
        Err(PlanErrors(errors))
    }
}

struct Faults<'t> {
    text: &'t str,
    errors: Vec<PlanError>,
}

impl Faults<'_> {
    fn at(&mut self, figure: &SpecFigure, message: String, help: &str) {
        self.errors
            .push(PlanError::new(self.text, figure.span(), message).help(help));
    }

    fn anywhere(&mut self, message: String, help: String) {
        self.errors
            .push(PlanError::new(self.text, 0..0, message).help(help));
    }

    fn of_figures(&mut self, file: &DriveFile) {
        for FileFigure { table, key, figure } in file.figures() {
            self.of_range(key, figure);
            self.of_source(file, figure);
            if table != "datasheet" && (figure.block_kib.is_some() || figure.depth.is_some()) {
                self.at(
                    figure,
                    "`block_kib` and `depth` belong to [datasheet]".into(),
                    "leave them out here",
                );
            }
            if is_outside(figure.block_kib, 0.5..=65536.0) || is_outside(figure.depth, 1.0..=4096.0)
            {
                let help = "block_kib lies between 0.5 and 65536, depth between 1 and 4096";
                self.at(figure, "no drive is measured like that".into(), help);
            }
            if is_outside(figure.error_percent, 0.0..=1e6) {
                self.at(
                    figure,
                    "`error_percent` is no percentage".into(),
                    "give a number from 0 upwards",
                );
            }
        }
        if let Some(times) = file.slower.filter(|times| !SLOWER.contains(times)) {
            let help = format!("it lies between {} and {}", SLOWER.start(), SLOWER.end());
            self.anywhere(format!("`slower` cannot be {times}"), help);
        }
        if !is_known(file, &file.write_cache.source) {
            let text = format!(
                "`{}`, the source of write_cache, is not in [sources]",
                file.write_cache.source
            );
            self.anywhere(text, format!("list it there, or write \"{UNVERIFIED}\""));
        }
    }

    fn of_range(&mut self, key: &str, figure: &SpecFigure) {
        let Some((_, low, high)) = RANGES.iter().find(|(end, _, _)| key.ends_with(end)) else {
            return;
        };
        if !(*low..=*high).contains(&figure.value) {
            let help = format!(
                "it lies between {} and {}",
                with_unit(key, *low),
                with_unit(key, *high)
            );
            self.at(figure, format!("`{key}` cannot be {}", figure.value), &help);
        }
    }

    fn of_source(&mut self, file: &DriveFile, figure: &SpecFigure) {
        let id = figure.source.as_str();
        if !is_known(file, id) {
            let mut known: Vec<&str> = file.sources.keys().map(String::as_str).collect();
            known.extend([UNVERIFIED, ASSUMED]);
            self.at(
                figure,
                format!("source `{id}` is not in [sources]"),
                &suggestion(id, &known, ""),
            );
        }
    }

    /// The table of its kind, no other, and in it what has to be there.
    fn of_tables(&mut self, file: &DriveFile) {
        let own = match file.kind {
            DriveClass::Nvme | DriveClass::Sata => "flash",
            DriveClass::Disk => "disk",
            DriveClass::Volume => "volume",
        };
        let tables = [
            ("flash", file.flash.is_some()),
            ("disk", file.disk.is_some()),
            ("volume", file.volume.is_some()),
        ];
        for (table, _) in tables
            .iter()
            .filter(|(table, there)| *there && *table != own)
        {
            let text = format!(
                "[{table}] does not describe a drive of kind `{}`",
                file.kind.name()
            );
            self.anywhere(text, format!("state it in [{own}], or give another kind"));
        }
        let needed: &[(&str, &str)] = match file.kind {
            DriveClass::Nvme | DriveClass::Sata => &[
                ("datasheet", "sequential_read_mb_s"),
                ("datasheet", "sequential_write_mb_s"),
                ("datasheet", "random_read_iops"),
                ("datasheet", "random_write_iops"),
                ("flash", "read_us"),
                ("flash", "write_us"),
            ],
            DriveClass::Disk => &[
                ("disk", "rpm"),
                ("disk", "seek_average_ms"),
                ("datasheet", "sequential_read_mb_s"),
            ],
            DriveClass::Volume => &[
                ("volume", "iops"),
                ("volume", "mib_s"),
                ("volume", "read_us"),
                ("volume", "write_us"),
            ],
        };
        let there = file.figures();
        for (table, key) in needed {
            if !there
                .iter()
                .any(|entry| entry.table == *table && entry.key == *key)
            {
                let help = format!(
                    "[{table}] of a drive of kind `{}` requires it",
                    file.kind.name()
                );
                self.anywhere(format!("`{table}.{key}` is missing"), help);
            }
        }
    }

    fn of_assembly(&mut self, file: &DriveFile) {
        if let Some(Err(error)) = file.array.as_ref().map(ArraySpec::check) {
            self.anywhere(
                format!("[array]: {error}"),
                "change level or members".into(),
            );
        }
        if let Some(Err(error)) = file.cluster.as_ref().map(ClusterSpec::check) {
            self.anywhere(
                format!("[cluster]: {error}"),
                "change policy or hosts".into(),
            );
        }
        self.of_other_drives(file);
        let bytes = (file.capacity_gb.value * 1e9) as u64;
        if file
            .cluster
            .as_ref()
            .is_some_and(|own| own.usable(bytes) == 0)
        {
            self.anywhere(
                "[cluster]: a virtual disk has less than 1 MiB".into(),
                "give larger drives or fewer virtual disks".into(),
            );
        }
        if file.array.is_some() && file.cluster.is_some() {
            self.anywhere(
                "[array] and [cluster] exclude each other".into(),
                "leave one of them out".into(),
            );
        }
    }

    fn of_other_drives(&mut self, file: &DriveFile) {
        let (given, most) = match file.assembly() {
            Some(own) => (1 + file.other_drives.len(), own.turns() as usize),
            None => (file.other_drives.len(), 0),
        };
        if given > most {
            self.anywhere(
                "there are more `other_drives` than places for them".into(),
                "they are drives of an [array] or a [cluster], after the first one".into(),
            );
        }
        for OtherDrive { id, file } in &file.other_drives {
            let own = checked(file);
            let is_assembly = own.as_ref().is_ok_and(|own| own.assembly().is_some());
            if let Err(errors) = own {
                let text = format!("`other_drives`, {id}: {errors}");
                self.anywhere(text, "give the text of a drive file".into());
            } else if is_assembly {
                let text = format!("`other_drives`, {id}: it is no single drive");
                self.anywhere(text, "leave out its [array] or [cluster]".into());
            }
        }
    }

    fn rising(
        &mut self,
        low: Option<&SpecFigure>,
        high: Option<&SpecFigure>,
        what: &str,
        help: &str,
    ) {
        if let (Some(low), Some(high)) = (low, high)
            && low.value > high.value
        {
            self.at(high, what.into(), help);
        }
    }

    /// Figures that contradict each other.
    fn of_order(&mut self, file: &DriveFile) {
        const TAIL: &str = "the 99th percentile lies below the median";
        if let Some(flash) = &file.flash {
            self.rising(
                flash.read_us.as_ref(),
                flash.read_p99_us.as_ref(),
                TAIL,
                "read_p99_us ≥ read_us",
            );
            self.rising(
                flash.write_us.as_ref(),
                flash.write_p99_us.as_ref(),
                TAIL,
                "write_p99_us ≥ write_us",
            );
        }
        if let Some(disk) = &file.disk {
            let order = "seek_track_ms ≤ seek_average_ms ≤ seek_full_ms";
            self.rising(
                disk.seek_track_ms.as_ref(),
                disk.seek_average_ms.as_ref(),
                "a seek to the next track is longest",
                order,
            );
            self.rising(
                disk.seek_average_ms.as_ref(),
                disk.seek_full_ms.as_ref(),
                "the longest seek is shorter than the mean",
                order,
            );
            self.rising(
                disk.inner_mb_s.as_ref(),
                disk.outer_mb_s.as_ref(),
                "the inner edge is faster than the outer",
                "inner_mb_s ≤ outer_mb_s",
            );
        }
        if let Some(volume) = &file.volume {
            self.rising(
                volume.read_us.as_ref(),
                volume.read_p99_us.as_ref(),
                TAIL,
                "read_p99_us ≥ read_us",
            );
            self.rising(
                volume.write_us.as_ref(),
                volume.write_p99_us.as_ref(),
                TAIL,
                "write_p99_us ≥ write_us",
            );
        }
        self.of_latency(file);
    }

    /// The command and the transfer are parts of the latency at depth 1.
    fn of_latency(&mut self, file: &DriveFile) {
        let Some(flash) = &file.flash else { return };
        let spec = super::resolve::flash(file, flash);
        let parts =
            spec.read_command.0 as f64 + spec.read_ns_per_byte * 4096.0 + spec.firmware.0 as f64;
        if let Some(read) = &flash.read_us
            && read.value * 1e3 <= parts
        {
            let help = format!(
                "command, transfer and firmware alone take {:.1} µs by the other figures",
                parts / 1e3
            );
            self.at(read, "`read_us` leaves no time for the flash".into(), &help);
        }
        let parts = spec.write_command.0 as f64 + spec.write_ns_per_byte * 4096.0;
        if let Some(write) = &flash.write_us
            && write.value * 1e3 <= parts
        {
            let help = format!(
                "command and transfer alone take {:.1} µs by the other figures",
                parts / 1e3
            );
            self.at(
                write,
                "`write_us` is shorter than what it consists of".into(),
                &help,
            );
        }
    }
}

fn is_known(file: &DriveFile, source: &str) -> bool {
    source == UNVERIFIED || source == ASSUMED || file.sources.contains_key(source)
}

fn is_outside(value: Option<f64>, range: RangeInclusive<f64>) -> bool {
    value.is_some_and(|value| !range.contains(&value))
}
