//! A drive file as it is written: TOML in which every figure has its source.

use std::collections::BTreeMap;

use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::cluster::ClusterSpec;
use serde::{Deserialize, Serialize};

use super::figure::{SpecFigure, number, quoted};

/// What the drive is, and so which table describes it: `[flash]`, `[disk]` or `[volume]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveClass {
    /// Flash behind PCI Express: reads and writes have links of their own.
    Nvme,
    /// Flash behind serial ATA: reads and writes share one link.
    Sata,
    /// A rotating disk.
    Disk,
    /// A cloud's block volume.
    Volume,
}

impl DriveClass {
    pub fn name(self) -> &'static str {
        match self {
            Self::Nvme => "nvme",
            Self::Sata => "sata",
            Self::Disk => "disk",
            Self::Volume => "volume",
        }
    }
}

/// What becomes of acknowledged writes when the power fails, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Capacitors (or the cloud) save it.
    Protected,
    /// What has not been flushed is lost.
    Volatile,
    /// A write is acknowledged when it is on the medium.
    None,
}

impl CacheKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Protected => "protected",
            Self::Volatile => "volatile",
            Self::None => "none",
        }
    }
}

/// The write cache and the source of that.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a statement such as { value = \"volatile\", source = \"sheet\" }"
)]
pub struct Cache {
    pub value: CacheKind,
    pub source: String,
}

/// A table of figures: each key is optional here, and [`super::check`] knows which ones are required.
macro_rules! figures {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $key:ident,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$doc])* pub $key: Option<SpecFigure>,)*
        }

        impl $name {
            /// The figures that are there, with their keys, in the order of the documentation.
            pub fn figures(&self) -> Vec<(&'static str, &SpecFigure)> {
                let all = [$((stringify!($key), self.$key.as_ref()),)*];
                all.into_iter().filter_map(|(key, figure)| figure.map(|figure| (key, figure))).collect()
            }

            /// The same, to be changed.
            pub fn figures_mut(&mut self) -> Vec<(&'static str, &mut SpecFigure)> {
                let all = [$((stringify!($key), self.$key.as_mut()),)*];
                all.into_iter().filter_map(|(key, figure)| figure.map(|figure| (key, figure))).collect()
            }
        }
    };
}

figures! {
    /// What the maker states, for a drive in the state that `written_share` gives.
    Datasheet {
        sequential_read_mb_s,
        sequential_write_mb_s,
        random_read_iops,
        random_write_iops,
        /// Share of the drive that holds data when the figures hold: 1 (steady state) unless given.
        written_share,
    }
}

figures! {
    /// Flash. What follows from the data sheet's figures is derived from them.
    Flash {
        /// Median of a 4 KiB random read at depth 1, from the request to the answer.
        read_us,
        /// Its 99th percentile.
        read_p99_us,
        /// Median of a 4 KiB write at depth 1, until it is acknowledged.
        write_us,
        write_p99_us,
        /// The part of `read_us` that firmware spends and that keeps no flash busy.
        firmware_us,
        /// Planes that read independently of each other. Derived unless given.
        units,
        /// Most that a read waits for a unit that is programming: the part that cannot be suspended.
        program_us,
        /// Of the link; the faster of the sequential figures unless given.
        interface_mb_s,
        /// Acknowledged writes that the drive holds before they are on flash.
        buffer_mb,
        /// Of a flush when nothing is left to write.
        flush_us,
        trim_us,
        /// Share of the flash that data fill when the drive is full: capacity ÷ flash. Sets the write amplification.
        physical_share,
        /// Flash that is first written one bit per cell; 0 unless given.
        slc_gb,
        /// Sequential writes when that is used up.
        folded_write_mb_s,
    }
}

figures! {
    /// A rotating disk.
    Disk {
        rpm,
        seek_track_ms,
        seek_average_ms,
        seek_full_ms,
        /// Sustained rate at the outer edge, where the first byte is. `sequential_read_mb_s` unless given.
        outer_mb_s,
        inner_mb_s,
        interface_mb_s,
        /// Of a command, apart from the mechanics.
        command_us,
        /// Requests among which the disk chooses the nearest.
        queue,
        /// For reading ahead, and for writes if the cache is volatile or protected.
        buffer_mb,
    }
}

figures! {
    /// A cloud's volume: two token buckets behind a network.
    Volume {
        iops,
        mib_s,
        /// A request counts as one for every started piece of this size.
        unit_kib,
        /// Requests that may be ahead of the rate.
        burst_ios,
        burst_mib,
        read_us,
        read_p99_us,
        write_us,
        write_p99_us,
        flush_us,
    }
}

figures! {
    Power { idle_w, read_w, write_w, }
}

figures! {
    Endurance {
        /// Terabytes (10¹² bytes) that may be written in all.
        tbw,
        /// Drive writes per day over `years`.
        dwpd,
        years,
    }
}

/// A drive file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveFile {
    /// As people call it.
    pub title: String,
    pub kind: DriveClass,
    /// Of 10⁹ bytes.
    pub capacity_gb: SpecFigure,
    pub write_cache: Cache,
    /// Every time in this file counts this many times, every rate as much less: a slowed drive, for machines that
    /// cannot emulate it at full speed.
    pub slower: Option<f64>,
    /// What such a drive calls itself begins with one of these: by them a real drive is recognized.
    #[serde(default)]
    pub models: Vec<String>,
    /// What is meant by the sources that figures name.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    #[serde(default)]
    pub datasheet: Datasheet,
    pub flash: Option<Flash>,
    pub disk: Option<Disk>,
    pub volume: Option<Volume>,
    /// Several such drives, as one of both.
    pub array: Option<ArraySpec>,
    pub cluster: Option<ClusterSpec>,
    /// Drives of it that differ from this one, in turn after it; the last one stands for all that follow.
    #[serde(default)]
    pub other_drives: Vec<OtherDrive>,
    #[serde(default)]
    pub power: Power,
    #[serde(default)]
    pub endurance: Endurance,
}

/// A drive of an array or a cluster that has a file of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherDrive {
    pub id: String,
    /// Its text.
    pub file: String,
}

/// A figure with its table, empty for the capacity, and its key.
pub struct FileFigure<'f> {
    pub table: &'static str,
    pub key: &'static str,
    pub figure: &'f SpecFigure,
}

impl DriveFile {
    pub fn figures(&self) -> Vec<FileFigure<'_>> {
        let flash = self.flash.iter().flat_map(Flash::figures);
        let disk = self.disk.iter().flat_map(Disk::figures);
        let volume = self.volume.iter().flat_map(Volume::figures);
        std::iter::once(("capacity_gb", &self.capacity_gb))
            .map(in_table(""))
            .chain(
                self.datasheet
                    .figures()
                    .into_iter()
                    .map(in_table("datasheet")),
            )
            .chain(flash.map(in_table("flash")))
            .chain(disk.map(in_table("disk")))
            .chain(volume.map(in_table("volume")))
            .chain(self.power.figures().into_iter().map(in_table("power")))
            .chain(
                self.endurance
                    .figures()
                    .into_iter()
                    .map(in_table("endurance")),
            )
            .collect()
    }

    /// The file's text. Reads back as the same file.
    pub fn to_toml(&self) -> String {
        let mut out = format!(
            "title = {}\nkind = \"{}\"\ncapacity_gb = {}\nwrite_cache = {{ value = \"{}\", source = {} }}\n",
            quoted(&self.title),
            self.kind.name(),
            self.capacity_gb.to_toml(),
            self.write_cache.value.name(),
            quoted(&self.write_cache.source)
        );
        if let Some(times) = self.slower {
            out.push_str(&format!("slower = {}\n", number(times)));
        }
        if !self.models.is_empty() {
            let models: Vec<String> = self.models.iter().map(|model| quoted(model)).collect();
            out.push_str(&format!("models = [{}]\n", models.join(", ")));
        }
        if !self.sources.is_empty() {
            out.push_str("\n[sources]\n");
        }
        for (id, text) in &self.sources {
            out.push_str(&format!("{} = {}\n", key(id), quoted(text)));
        }
        let mut last = "";
        for FileFigure { table, key, figure } in self.figures().into_iter().skip(1) {
            if table != last {
                out.push_str(&format!("\n[{table}]\n"));
                last = table;
            }
            out.push_str(&format!("{key} = {}\n", figure.to_toml()));
        }
        let others = self.other_drives.clone();
        let assembly = self.assembly();
        out.push_str(&assembly.map_or_else(String::new, |own| assembly_tables(own, others)));
        out
    }

    pub fn assembly(&self) -> Option<DriveAssembly> {
        let array = self.array.clone().map(DriveAssembly::Array);
        array.or_else(|| self.cluster.clone().map(DriveAssembly::Cluster))
    }
}

/// The end of a drive file.
#[derive(Default, Serialize)]
struct AssemblyTables {
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<ArraySpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<ClusterSpec>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_drives: Vec<OtherDrive>,
}

pub fn assembly_tables(assembly: DriveAssembly, other_drives: Vec<OtherDrive>) -> String {
    let mut tables = AssemblyTables {
        other_drives,
        ..AssemblyTables::default()
    };
    match assembly {
        DriveAssembly::Array(own) => tables.array = Some(own),
        DriveAssembly::Cluster(own) => tables.cluster = Some(own),
    }
    let text = toml::to_string_pretty(&tables).expect("numbers and texts");
    format!("\n{text}")
}

/// A key as TOML has it: bare if it may be.
fn key(id: &str) -> String {
    let is_bare = !id.is_empty()
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare { id.to_owned() } else { quoted(id) }
}

fn in_table<'f>(table: &'static str) -> impl Fn((&'static str, &'f SpecFigure)) -> FileFigure<'f> {
    move |(key, figure)| FileFigure { table, key, figure }
}

/// `value unit`, the unit being the end of the key: `3100 mb_s`.
pub fn with_unit(key: &str, value: f64) -> String {
    let unit = UNITS
        .iter()
        .find(|(end, _)| key.ends_with(end))
        .map_or("", |(_, unit)| unit);
    format!("{} {unit}", number(value)).trim_end().to_owned()
}

/// Ends of keys, and how a person writes them.
const UNITS: [(&str, &str); 13] = [
    ("_mb_s", "MB/s"),
    ("mib_s", "MiB/s"),
    ("iops", "IOPS"),
    ("_us", "µs"),
    ("_ms", "ms"),
    ("_gb", "GB"),
    ("_mb", "MB"),
    ("_mib", "MiB"),
    ("_kib", "KiB"),
    ("_w", "W"),
    ("tbw", "TB"),
    ("rpm", "1/min"),
    ("years", "years"),
];
