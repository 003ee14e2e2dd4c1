//! Kinds of files that commands write, and how one that an earlier command wrote is recognized.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use plimsoll_drive::spec::DriveSpec;
use plimsoll_record::APPLICATION_ID;
use rustix::fs::OFlags;

/// Columns of the table of a set, behind those of its axes.
const SET_COLUMNS: &str = "step,system,scene,users,";
/// Bytes at the beginning and at the end by which a file is recognized.
const SAMPLE: u64 = 1 << 16;
/// The first columns of each table that is exported. Single ones, such as `step`, are in files of others as well.
const EXPORTED_COLUMNS: [&str; 12] = [
    "at_s,step,data_medium,",
    "point,step,ordinal,",
    "run_id,run_file,run_title,",
    "source,step,medium,",
    "start_s,end_s,medium,",
    "start_s,end_s,step,",
    "start_s,end_s,system,",
    "step,medium,drive,",
    "step,method,beside_ordinal,",
    "step,ordinal,system,",
    "step,workload,profile,",
    "t_s,subject_kind,subject,",
];

/// Of a file that exists, only one of the same kind that plimsoll wrote is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputKind {
    /// It replaces no file.
    New,
    /// It replaces no file, and is written by SQLite.
    RunFile,
    Page,
    Pdf,
    Json,
    Csv,
    Parquet,
    DriveFile,
    /// A text replaces one that starts with this.
    Text(String),
}

/// The beginning and the end of a file.
#[derive(Debug)]
pub struct FileSample {
    bytes: u64,
    start: Vec<u8>,
    end: Vec<u8>,
}

impl OutputKind {
    /// A text that replaces one with the same first line.
    pub fn text(text: &str) -> Self {
        let first = text.lines().next().unwrap_or_default();
        Self::Text(format!("{first}\n"))
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::New | Self::RunFile => "empty",
            Self::Page => "a page of plimsoll",
            Self::Pdf => "a printed page",
            Self::Json => "an export to JSON",
            Self::Csv => "an export to CSV",
            Self::Parquet => "an export to Parquet",
            Self::DriveFile => "a drive file",
            Self::Text(_) => "the same text of an earlier time",
        }
    }

    /// Whether it can go to a device or a pipe.
    pub fn can_be_streamed(&self) -> bool {
        *self != Self::RunFile
    }

    /// Whether it may take the place of a file.
    pub fn replaces(&self, sample: &FileSample) -> bool {
        match self {
            Self::New | Self::RunFile => false,
            _ if sample.bytes == 0 => true,
            Self::Page => {
                sample.starts_with("<!doctype html>") && sample.start_has("default-src 'none'")
            }
            Self::Pdf => sample.starts_with("%PDF-") && sample.start_has("Skia/PDF"),
            Self::Json => is_json_export(&sample.start),
            Self::Csv => has_export_columns(&sample.start),
            Self::Parquet => sample.starts_with("PAR1") && has(&sample.end, "plimsoll.table"),
            Self::DriveFile => sample.is_drive_file(),
            Self::Text(start) => sample.starts_with(start),
        }
    }
}

impl FileSample {
    pub fn read(path: &Path) -> io::Result<Self> {
        let file = File::options()
            .read(true)
            .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
            .open(path)?;
        let bytes = file.metadata()?.len();
        let mut start = Vec::new();
        (&file).take(SAMPLE).read_to_end(&mut start)?;
        let mut end = vec![0; start.len()];
        file.read_exact_at(&mut end, bytes.saturating_sub(start.len() as u64))?;
        Ok(Self { bytes, start, end })
    }

    /// SQLite's magic string, and the application's id at offset 68.
    pub fn is_run_file(&self) -> bool {
        self.starts_with("SQLite format 3\0")
            && self.start.get(68..72) == Some(&APPLICATION_ID.to_be_bytes())
    }

    fn is_drive_file(&self) -> bool {
        self.starts_with("# Learned on ")
            || (self.bytes < SAMPLE
                && std::str::from_utf8(&self.start)
                    .is_ok_and(|text| DriveSpec::parse("existing", text).is_ok()))
    }

    fn starts_with(&self, text: &str) -> bool {
        self.start.starts_with(text.as_bytes())
    }

    fn start_has(&self, text: &str) -> bool {
        has(&self.start, text)
    }
}

/// Of a run or of a set of runs.
fn is_json_export(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let body = text.strip_prefix('{').unwrap_or_default().trim_start();
    // Others have a version of a schema, too.
    let version = body.strip_prefix("\"schema_version\": ");
    let next = version.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    next.is_some_and(|next| next.starts_with(",\n  \"run\": {\n    \"id\": "))
        || (body.starts_with("\"title\":") && body.contains("\n  \"axes\": ["))
}

fn has_export_columns(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let header = text.lines().next().unwrap_or_default();
    header.contains(SET_COLUMNS)
        || EXPORTED_COLUMNS
            .iter()
            .any(|columns| header.starts_with(columns))
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}
