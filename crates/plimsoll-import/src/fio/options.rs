//! The options of jobs: fio's, with its defaults (HOWTO) where a job has none.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::block;
use crate::lines::MOST;
use plimsoll_record::BlockStreamInfo;
use plimsoll_record::message::OfferedUnknown;

/// As fio prints them: aliases are resolved, and one without a value is an empty text or (before 3.42) missing.
pub(super) type FioOptions = BTreeMap<String, String>;

pub(super) fn options(value: Option<&Value>) -> FioOptions {
    let pairs = value.and_then(Value::as_object).into_iter().flatten();
    pairs
        .map(|(key, value)| (key.clone(), text(value)))
        .collect()
}

fn text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.trim().to_owned(),
        None => value.to_string(),
    }
}

pub(super) fn is_on(options: &FioOptions, key: &str) -> bool {
    options
        .get(key)
        .is_some_and(|value| !["0", "none", "false"].contains(&value.as_str()))
}

pub(super) fn number(options: &FioOptions, key: &str) -> Option<u32> {
    options.get(key)?.parse().ok()
}

/// A list by direction: a last value holds for the directions after it as well (HOWTO, `blocksize`).
fn of_direction(list: &str, direction: usize) -> &str {
    let values: Vec<&str> = list.split(',').map(str::trim).collect();
    values
        .get(direction)
        .or(values.last())
        .copied()
        .unwrap_or_default()
}

/// Directions that a job makes requests in, in fio's order.
pub(super) fn directions(options: &FioOptions) -> [bool; 3] {
    let kind = kind(options);
    let trims = kind.contains("trim");
    let mixed = is_mixed(kind);
    let reads = mixed || kind.contains("read");
    [reads, mixed || kind.contains("write"), trims]
}

fn kind(options: &FioOptions) -> &str {
    let kind = options
        .get("rw")
        .or(options.get("readwrite"))
        .map_or("read", String::as_str);
    // `randread:8`: a new random offset after every eighth request.
    kind.split(':').next().unwrap_or(kind)
}

pub(super) fn is_mixed(kind: &str) -> bool {
    ["rw", "readwrite", "randrw"].contains(&kind)
}

pub(super) fn is_random(options: &FioOptions) -> bool {
    kind(options).starts_with("rand")
}

/// Whether what was written is read back after it: reads and writes follow each other.
pub(super) fn reads_back(options: &FioOptions) -> bool {
    is_on(options, "verify") && !is_mixed(kind(options))
}

fn read_percent(options: &FioOptions) -> u32 {
    match kind(options) {
        kind if is_mixed(kind) => {
            let writes = number(options, "rwmixwrite").map(|percent| 100 - percent.min(100));
            number(options, "rwmixread")
                .or(writes)
                .unwrap_or(50)
                .min(100)
        }
        kind if kind.contains("read") => 100,
        _ => 0,
    }
}

/// The requests of each job, from its options.
pub(super) fn stream(options: &FioOptions, depth: u32, per_second: Option<f64>) -> BlockStreamInfo {
    let reads = read_percent(options);
    let access = options.get("random_distribution");
    BlockStreamInfo {
        random_percent: match is_random(options) {
            true => 100,
            false => 0,
        },
        read_sizes: sizes(options, 0, reads > 0),
        write_sizes: sizes(options, 1, reads < 100),
        depth,
        per_second,
        access: access
            .map_or("uniform", String::as_str)
            .replace("random", "uniform"),
        compressible_percent: number(options, "buffer_compress_percentage")
            .unwrap_or_default()
            .min(100),
        direct: is_direct(options),
        sync: match flush(options, "fsync").or(flush(options, "fdatasync")) {
            Some(n) => format!("flush:{n}"),
            None if is_on(options, "sync") => "each_write".into(),
            None => "none".into(),
        },
        ..block::stream(reads, &[])
    }
}

fn sizes(options: &FioOptions, direction: usize, is_used: bool) -> Vec<(u64, u32)> {
    let size = block_size(options, direction).filter(|_| is_used);
    size.into_iter().map(|size| (size, 100)).collect()
}

/// Flushes after so many writes.
fn flush(options: &FioOptions, key: &str) -> Option<u32> {
    number(options, key).filter(|n| *n > 0)
}

fn is_direct(options: &FioOptions) -> bool {
    is_on(options, "direct") || options.get("buffered").is_some_and(|value| value == "0")
}

/// `None` where requests are of several sizes (`bsrange`, `bssplit`).
fn block_size(options: &FioOptions, direction: usize) -> Option<u64> {
    if options.contains_key("bsrange") || options.contains_key("bssplit") {
        return None;
    }
    bytes(
        options,
        of_direction(options.get("bs").map_or("4k", String::as_str), direction),
    )
}

/// fio's sizes. By default `k`, `kb` and `ki` are 1024 and `kib` is 1000; `kb_base=1000` turns that round (fio 3.33,
/// `__get_mult_bytes` in parse.c).
pub(super) fn bytes(options: &FioOptions, text: &str) -> Option<u64> {
    let is_decimal = options.get("kb_base").is_some_and(|base| base == "1000");
    let text = text.trim().to_ascii_lowercase();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - unit.len()];
    let base: u64 = if unit.ends_with("ib") == is_decimal {
        1024
    } else {
        1000
    };
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    let bytes = digits.parse::<u64>().ok()?.checked_mul(base.pow(power));
    bytes.filter(|bytes| *bytes < 1 << 62)
}

/// fio's times: seconds, or with a unit (`300s`, `5m`).
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: f64 = text[..text.len() - unit.len()].parse().ok()?;
    let factor = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Some(number * factor).filter(|seconds| *seconds > 0.0)
}

/// The rate that a job offers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum JobRate {
    /// As many requests as possible.
    Unlimited,
    /// Requests per second.
    PerSecond(f64),
    /// A rate limits requests to an unknown number.
    Unknown(OfferedUnknown),
}

impl JobRate {
    pub fn per_second(self) -> Option<f64> {
        match self {
            Self::PerSecond(rate) => Some(rate),
            Self::Unlimited | Self::Unknown(_) => None,
        }
    }
}

/// What `rate` and `rate_iops` limit, where requests of each direction had `mean_sizes` bytes. `rate_min` and
/// `rate_iops_min` offer nothing: a job that falls below them ends.
pub(super) fn offered(options: &FioOptions, mean_sizes: [Option<f64>; 3]) -> JobRate {
    let directions = directions(options);
    let mut used = 0;
    let mut rates: Vec<f64> = Vec::new();
    for direction in (0..3).filter(|direction| directions[*direction]) {
        used += 1;
        rates.extend(rate_of(options, direction, mean_sizes[direction]));
    }
    match rates.len() {
        0 => JobRate::Unlimited,
        _ if is_by_smallest(options) => JobRate::Unknown(OfferedUnknown::SeveralSizes),
        n if n == used => JobRate::PerSecond(rates.iter().sum()),
        _ => JobRate::Unknown(OfferedUnknown::SomeDirections),
    }
}

/// Of jobs of several names: every one has a rate where it stands in the global section, as far as the last job shows.
pub(super) fn offered_together(
    global: &FioOptions,
    last: &FioOptions,
    mean_sizes: [Option<f64>; 3],
) -> JobRate {
    const KEYS: [&str; 2] = ["rate", "rate_iops"];
    let is_given = KEYS.iter().any(|key| is_on(global, key));
    if is_given && KEYS.iter().all(|key| global.get(*key) == last.get(*key)) {
        offered(global, mean_sizes)
    } else {
        JobRate::Unknown(OfferedUnknown::JobsMerged)
    }
}

fn is_by_smallest(options: &FioOptions) -> bool {
    let is_poisson = options
        .get("rate_process")
        .is_some_and(|process| process == "poisson");
    options.contains_key("bssplit") || (options.contains_key("bsrange") && is_poisson)
}

fn rate_of(options: &FioOptions, direction: usize, mean_size: Option<f64>) -> Option<f64> {
    let own_size = block_size(options, direction).map(|size| size as f64);
    let size = mean_size.or(own_size).filter(|size| *size > 0.0);
    let of_bytes = limit(options, "rate", direction);
    let per_second = match (of_bytes, limit(options, "rate_iops", direction)) {
        (Some(rate), _) => rate / size?,
        // fio limits bytes: of requests of many sizes as many as have the smallest one (init.c, `__setup_rate`).
        (None, Some(rate)) => match smallest(options, direction).zip(size) {
            Some((smallest, size)) => rate * smallest / size,
            None => rate,
        },
        (None, None) => return None,
    };
    (per_second > 0.0 && per_second <= MOST).then_some(per_second)
}

fn limit(options: &FioOptions, key: &str, direction: usize) -> Option<f64> {
    let limit = bytes(options, of_direction(options.get(key)?, direction))?;
    Some(limit as f64).filter(|limit| *limit > 0.0)
}

fn smallest(options: &FioOptions, direction: usize) -> Option<f64> {
    let range = of_direction(options.get("bsrange")?, direction);
    bytes(options, range.split(['-', ':']).next()?).map(|size| size as f64)
}

/// Options that define a load where they are given, beside those that every job has.
const DEFINING: [&str; 30] = [
    "bsrange",
    "bssplit",
    "buffer_compress_percentage",
    "end_fsync",
    "fdatasync",
    "fsync",
    "io_size",
    "io_submit_mode",
    "iodepth_batch_complete_min",
    "iodepth_batch_submit",
    "iodepth_low",
    "latency_target",
    "nrfiles",
    "number_ios",
    "offset",
    "overwrite",
    "percentage_random",
    "random_distribution",
    "rate",
    "rate_iops",
    "rate_process",
    "size",
    "sync",
    "thinktime",
    "thinktime_blocks",
    "verify",
    "write_barrier",
    "zero_buffers",
    "zonemode",
    "zonesize",
];

/// What defines the load, as text.
pub(super) fn parameters(options: &FioOptions) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for key in DEFINING {
        all.extend(given(options, key).map(|value| (key.to_owned(), value.clone())));
    }
    let kind_of_load = given_or(options, "rw", "read").replace("readwrite", "rw");
    let mut own = vec![
        ("rw", kind_of_load),
        ("direct", u32::from(is_direct(options)).to_string()),
        ("ioengine", given_or(options, "ioengine", "psync")),
        ("iodepth", given_or(options, "iodepth", "1")),
        ("numjobs", given_or(options, "numjobs", "1")),
    ];
    if !all.contains_key("bsrange") && !all.contains_key("bssplit") {
        own.push(("bs", given_or(options, "bs", "4k")));
    }
    if is_mixed(kind(options)) {
        own.push(("rwmixread", read_percent(options).to_string()));
    }
    all.extend(own.into_iter().map(|(key, value)| (key.to_owned(), value)));
    for key in ["bs", "size", "io_size"] {
        if let Some(value) = all.get_mut(key) {
            let sizes = value.split(',').map(|size| size_text(options, size));
            *value = sizes.collect::<Vec<_>>().join(",");
        }
    }
    all
}

fn given<'a>(options: &'a FioOptions, key: &str) -> Option<&'a String> {
    options.get(key).filter(|value| *value != "0")
}

fn given_or(options: &FioOptions, key: &str, default: &str) -> String {
    given(options, key)
        .map_or(default, String::as_str)
        .to_owned()
}

/// `4096` and `4kb` are one size.
fn size_text(options: &FioOptions, written: &str) -> String {
    let Some(size) = bytes(options, written).filter(|size| *size > 0) else {
        return written.trim().to_owned();
    };
    for (power, name) in [(40, "t"), (30, "g"), (20, "m"), (10, "k")] {
        if size.is_multiple_of(1 << power) {
            return format!("{}{name}", size >> power);
        }
    }
    size.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> FioOptions {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn sizes_are_read_as_fio_writes_them() {
        let default = FioOptions::new();
        let bytes = |text| bytes(&default, text);
        assert_eq!(
            ["4k", "8M", "4ki", "512", "2kb"].map(bytes),
            [4096, 8 << 20, 4096, 512, 2048].map(Some)
        );
        assert_eq!(
            ["4KiB", "8mib"].map(bytes),
            [4000, 8_000_000].map(Some),
            "fio 3.33 has it so"
        );
        let decimal = of(&[("kb_base", "1000")]);
        assert_eq!(
            ["4k", "4kb", "4ki", "4kib"].map(|text| super::bytes(&decimal, text)),
            [4000, 4000, 4000, 4096].map(Some)
        );
        assert_eq!(
            ["x", "4%", "99999999999999g"].map(bytes),
            [None, None, None]
        );
        let sizes = ["4096", "4kB", "1536k", "1m", "50%"].map(|text| size_text(&default, text));
        assert_eq!(sizes, ["4k", "4k", "1536k", "1m", "50%"]);
    }

    #[test]
    fn rates_are_of_the_directions_that_a_job_uses() {
        let offered = |pairs: &[(&str, &str)], size: f64| offered(&of(pairs), [Some(size); 3]);
        assert_eq!(offered(&[("rw", "randread")], 4096.0), JobRate::Unlimited);
        assert_eq!(
            offered(&[("rw", "rw"), ("rate_iops", "500")], 4096.0),
            JobRate::PerSecond(1000.0),
            "each direction"
        );
        assert_eq!(
            offered(&[("rw", "write"), ("rate", "4m,")], 4096.0),
            JobRate::Unlimited,
            "reads alone are limited"
        );
        assert_eq!(
            offered(&[("rw", "rw"), ("rate", ",2m")], 4096.0),
            JobRate::Unknown(OfferedUnknown::SomeDirections)
        );
        assert_eq!(
            offered(&[("rw", "trimwrite"), ("rate", "1m")], 65_536.0),
            JobRate::PerSecond(32.0)
        );
        // A thousand times 4 KiB a second, in requests of 6 KiB on average.
        let range = [("rw", "read"), ("bsrange", "4k-8k"), ("rate_iops", "1k")];
        assert_eq!(
            offered(&range, 6144.0),
            JobRate::PerSecond(1024.0 * 4.0 / 6.0)
        );
        let poisson = [range.as_slice(), &[("rate_process", "poisson")]].concat();
        assert_eq!(
            offered(&poisson, 6144.0),
            JobRate::Unknown(OfferedUnknown::SeveralSizes)
        );
        let split = [("rw", "read"), ("bssplit", "4k/50:64k/50"), ("rate", "4m")];
        assert_eq!(
            offered(&split, 6144.0),
            JobRate::Unknown(OfferedUnknown::SeveralSizes)
        );
    }

    #[test]
    fn directions_follow_from_the_kind_of_load() {
        let of = |kind: &str| directions(&of(&[("rw", kind)]));
        assert_eq!(of("randrw"), [true, true, false]);
        assert_eq!(of("randread:8"), [true, false, false]);
        assert_eq!(of("trimwrite"), [false, true, true]);
        assert_eq!(of("randtrim"), [false, false, true]);
        assert_eq!(directions(&FioOptions::new()), [true, false, false]);
    }
}
