//! What a load consists of, and where two loads are of different workloads.
//!
//! Facts come from [`Point::workload`] and [`Point::parameters`], of block I/O from its streams, and for runs from before
//! points had parameters from their plan. Names are those of fio and of plans (`rw`, `bs`, `warehouses`), so that runs of
//! plimsoll and of other tools can be compared.

use std::collections::{BTreeMap, BTreeSet};

use super::difference::{Difference, Group};
use plimsoll_record::import_facts::TOOL_FACT;
use plimsoll_record::{BlockPoint, BlockStreamInfo, Point, Record};

/// Names and values that define a load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkloadParameters(BTreeMap<String, String>);

/// Parameters of the amount of data: loads of another size are unlike.
const SIZES: [&str; 15] = [
    "scale",
    "scaling_factor",
    "warehouses",
    "tables",
    "rows",
    "table_size",
    "size",
    "filesize",
    "file_size",
    "file_total_size",
    "io_size",
    "memory_total_size",
    "range_size",
    "branches",
    "worker_bytes",
];
/// Parameters that are often what is compared: shown as a difference, and loads stay alike.
const FACTORS: [&str; 18] = [
    "ioengine",
    "engine",
    "iodepth",
    "depth",
    "threads",
    "numjobs",
    "jobs",
    "workers",
    "clients",
    "connections",
    "fill",
    "mode",
    "query_mode",
    "protocol",
    "db_driver",
    "max_retries",
    "max_tries",
    "scheduler",
];
/// Users' waiting between transactions: another load, and a difference of steps.
const PACING: [&str; 3] = ["keying_and_think", "think_time", "thinktime"];

impl WorkloadParameters {
    pub fn of(record: &Record, point: &Point) -> Self {
        let mut own = Self::default();
        if let Some(block) = record.blocks.iter().find(|block| block.point == point.id) {
            own.streams(block);
        }
        let known = if point.parameters.is_empty() {
            let plan = record.plan.resolved();
            plan.map(|plan| plan.parameters(&point.workload, &point.step))
                .unwrap_or_default()
        } else {
            point.parameters.clone()
        };
        own.0.extend(known);
        // A plan's name for a workload defines nothing, nor does the name of a job.
        let is_parameter = own.0.values().any(|value| *value == point.workload);
        if point.mode == Point::IMPORTED
            && !is_parameter
            && !is_name_of_tool(record, &point.workload)
        {
            own.0.insert("workload".to_owned(), point.workload.clone());
        }
        own
    }

    /// Repeats of one load: where they differ, the value holds both.
    pub(super) fn merge(&mut self, other: Self) {
        for (key, value) in other.0 {
            let own = self.0.entry(key).or_insert_with(|| value.clone());
            if !own.split(" | ").any(|known| known == value) {
                own.push_str(" | ");
                own.push_str(&value);
            }
        }
    }

    fn streams(&mut self, block: &BlockPoint) {
        for stream in &block.streams {
            let of = |key: &str| match (stream.name.as_str(), block.streams.len()) {
                ("", _) | (_, 1) => key.to_owned(),
                (name, _) => format!("{name}: {key}"),
            };
            self.0.extend(
                stream_parameters(stream)
                    .into_iter()
                    .map(|(key, value)| (of(key), value)),
            );
        }
        if block.worker_bytes > 0 {
            self.0.insert("size".to_owned(), bytes(block.worker_bytes));
        }
        self.0
            .insert("numjobs".to_owned(), block.workers.to_string());
    }
}

fn is_name_of_tool(record: &Record, workload: &str) -> bool {
    record
        .facts
        .iter()
        .any(|fact| fact.key == TOOL_FACT && fact.value == workload)
}

/// As fio's options.
fn stream_parameters(stream: &BlockStreamInfo) -> BTreeMap<&'static str, String> {
    let BlockStreamInfo {
        read_percent,
        random_percent,
        read_sizes,
        write_sizes,
        depth,
        threads,
        ..
    } = stream;
    let kind = match read_percent {
        100 => "read",
        0 => "write",
        _ => "rw",
    };
    let random = if *random_percent > 0 { "rand" } else { "" };
    let mut all = BTreeMap::from([
        ("rw", format!("{random}{kind}")),
        ("direct", u32::from(stream.direct).to_string()),
        ("sync", stream.sync.clone()),
        ("iodepth", depth.to_string()),
        ("threads", threads.to_string()),
    ]);
    if kind == "rw" {
        all.insert("rwmixread", read_percent.to_string());
    }
    if (1..100).contains(random_percent) {
        all.insert("percentage_random", random_percent.to_string());
    }
    let read = sizes(read_sizes);
    let write = sizes(write_sizes);
    match (read.is_empty(), write.is_empty()) {
        (false, false) if read != write => all.insert("bs", format!("{read},{write}")),
        (true, true) => None,
        (true, false) => all.insert("bs", write),
        (false, _) => all.insert("bs", read),
    };
    if stream.access != "unknown" {
        all.insert("random_distribution", stream.access.clone());
    }
    if stream.compressible_percent > 0 {
        all.insert(
            "buffer_compress_percentage",
            stream.compressible_percent.to_string(),
        );
    }
    all
}

fn sizes(shares: &[(u64, u32)]) -> String {
    shares
        .iter()
        .map(|(size, percent)| match percent {
            100 => bytes(*size),
            percent => format!("{}/{percent}", bytes(*size)),
        })
        .collect::<Vec<_>>()
        .join(":")
}

/// As fio writes sizes: `4k`.
fn bytes(size: u64) -> String {
    let units = [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let fits = units
        .into_iter()
        .find(|(unit, _)| size >= *unit && size.is_multiple_of(*unit));
    fits.map_or_else(
        || size.to_string(),
        |(unit, name)| format!("{}{name}", size / unit),
    )
}

/// Values that mean the same: `4k` and `4096`, `ON` and `on`.
fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || number(a).is_some_and(|value| number(b) == Some(value))
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..]
        .trim_end_matches('b')
        .trim_end_matches('i')
    {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024f64.powi(2),
        "g" => 1024f64.powi(3),
        "t" => 1024f64.powi(4),
        _ => return None,
    };
    digits
        .trim()
        .parse::<f64>()
        .ok()
        .map(|value| value * factor)
}

fn group_of(key: &str) -> Group {
    let name = key.rsplit(": ").next().unwrap_or(key);
    match name {
        _ if SIZES.contains(&name) => Group::Sizes,
        _ if FACTORS.contains(&name) || PACING.contains(&name) => Group::Load,
        _ => Group::Workload,
    }
}

impl Difference {
    /// `bs: 4k / 64k`.
    pub(super) fn describe(&self) -> String {
        format!(
            "{}: {} / {}",
            self.key,
            self.first.clone().unwrap_or_else(|| "–".to_owned()),
            self.second.clone().unwrap_or_else(|| "–".to_owned())
        )
    }

    /// Whether it makes two loads ones of different workloads. What one side does not record may be the same.
    pub fn is_unlike(&self) -> bool {
        let name = self.key.rsplit(": ").next().unwrap_or(&self.key);
        self.first.is_some() && self.second.is_some() && !FACTORS.contains(&name)
    }
}

impl WorkloadParameters {
    /// Whether nothing is known that makes them different workloads.
    pub fn is_alike(&self, other: &Self) -> bool {
        !self
            .differences(other, "")
            .iter()
            .any(Difference::is_unlike)
    }

    pub(super) fn differences(&self, other: &Self, of: &str) -> Vec<Difference> {
        let a = &self.0;
        let b = &other.0;
        let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        // Of a point from before workloads were recorded nothing is known.
        if a.is_empty() || b.is_empty() {
            return Vec::new();
        }
        keys.into_iter()
            .filter(|key| match (a.get(*key), b.get(*key)) {
                (Some(a), Some(b)) => !same(a, b),
                _ => true,
            })
            .map(|key| Difference {
                group: group_of(key),
                of: of.to_owned(),
                key: key.clone(),
                first: a.get(key).cloned(),
                second: b.get(key).cloned(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_mean_the_same_are_the_same() {
        for (a, b) in [
            ("4k", "4096"),
            ("4K", "4KiB"),
            ("1m", "1024k"),
            ("ON", "on"),
            ("1", "1.0"),
        ] {
            assert!(same(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("4k", "4"),
            ("k", "m"),
            ("4k,8k", "4k"),
            ("read", "write"),
            ("", "0"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
        assert_eq!(
            [bytes(4096), bytes(1 << 20), bytes(1000), bytes(3 << 30)],
            ["4k", "1m", "1000", "3g"]
        );
    }

    #[test]
    fn streams_are_described_as_fio_does() {
        let stream = BlockStreamInfo {
            name: String::new(),
            read_percent: 70,
            random_percent: 100,
            read_sizes: vec![(4096, 100)],
            write_sizes: vec![(4096, 60), (65536, 40)],
            depth: 16,
            threads: 1,
            per_second: None,
            access: "uniform".into(),
            compressible_percent: 0,
            direct: true,
            sync: "none".into(),
        };
        let parameters = stream_parameters(&stream);
        let of = |key: &str| parameters.get(key).map(String::as_str);
        assert_eq!(
            (of("rw"), of("rwmixread"), of("percentage_random")),
            (Some("randrw"), Some("70"), None)
        );
        assert_eq!(
            (of("bs"), of("direct"), of("iodepth")),
            (Some("4k,4k/60:64k/40"), Some("1"), Some("16"))
        );
    }
}
