//! The options of jobs: fio's, with its defaults (HOWTO) where a job has none.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::fault::MOST;
use plimsoll_record::BlockStreamInfo;

/// As fio prints them: aliases are resolved, and one without a value is an empty text or (before 3.42) missing.
pub(super) type Options = BTreeMap<String, String>;

pub(super) fn options(value: Option<&Value>) -> Options {
    let pairs = value.and_then(Value::as_object).into_iter().flatten();
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    pairs
        .map(|(key, value)| (key.clone(), text(value).trim().to_owned()))
        .collect()
}

pub(super) fn is_on(options: &Options, key: &str) -> bool {
    options
        .get(key)
        .is_some_and(|value| !["0", "none", "false"].contains(&value.as_str()))
}

pub(super) fn number(options: &Options, key: &str) -> Option<u32> {
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
pub(super) fn directions(options: &Options) -> [bool; 3] {
    let kind = kind(options);
    let trims = kind.contains("trim");
    let mixed = is_mixed(kind);
    let reads = mixed || kind.contains("read");
    [reads, mixed || kind.contains("write"), trims]
}

fn kind(options: &Options) -> &str {
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

/// Whether what was written is read back after it: reads and writes follow each other.
pub(super) fn reads_back(options: &Options) -> bool {
    is_on(options, "verify") && !is_mixed(kind(options))
}

fn read_percent(options: &Options) -> u32 {
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
pub(super) fn stream(options: &Options, depth: u32, per_second: Option<f64>) -> BlockStreamInfo {
    let reads = read_percent(options);
    let sizes = |direction: usize| {
        block_size(options, direction).map_or_else(Vec::new, |size| vec![(size, 100)])
    };
    let flush = |key: &str| number(options, key).filter(|n| *n > 0);
    BlockStreamInfo {
        name: String::new(),
        read_percent: reads,
        random_percent: if kind(options).starts_with("rand") {
            100
        } else {
            0
        },
        read_sizes: if reads > 0 { sizes(0) } else { Vec::new() },
        write_sizes: if reads < 100 { sizes(1) } else { Vec::new() },
        depth,
        threads: 1,
        per_second,
        access: options
            .get("random_distribution")
            .map_or("uniform", String::as_str)
            .replace("random", "uniform"),
        compressible_percent: number(options, "buffer_compress_percentage")
            .unwrap_or_default()
            .min(100),
        direct: is_direct(options),
        sync: match flush("fsync").or(flush("fdatasync")) {
            Some(n) => format!("flush:{n}"),
            None if is_on(options, "sync") => "each_write".into(),
            None => "none".into(),
        },
    }
}

fn is_direct(options: &Options) -> bool {
    is_on(options, "direct") || options.get("buffered").is_some_and(|value| value == "0")
}

/// `None` where requests are of several sizes (`bsrange`, `bssplit`).
fn block_size(options: &Options, direction: usize) -> Option<u64> {
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
pub(super) fn bytes(options: &Options, text: &str) -> Option<u64> {
    let is_decimal = options.get("kb_base").is_some_and(|base| base == "1000");
    let text = text.trim().to_ascii_lowercase();
    let at = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
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
    digits
        .parse::<u64>()
        .ok()?
        .checked_mul(base.pow(power))
        .filter(|bytes| *bytes < 1 << 62)
}

/// The rate that a job offers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Offered {
    /// As many requests as possible.
    Unlimited,
    /// Requests per second.
    PerSecond(f64),
    /// A rate limits requests to an unknown number: the reason.
    Unknown(&'static str),
}

const PARTLY: &str = "A rate limits some directions and others not: OMISSION cannot be evaluated.";
const BY_SMALLEST: &str = "A rate limits requests of several sizes (bssplit, or bsrange with rate_process=poisson): fio \
                           computes when they are due from the smallest size. How many were offered is unknown: OMISSION \
                           cannot be evaluated.";
const OF_SECTIONS: &str = "fio reports jobs of several names as one (group_reporting) with the options of the last: whether \
                           every job has a rate, and which, is unknown. OMISSION cannot be evaluated.";

/// What `rate` and `rate_iops` limit, where requests of each direction had `mean_sizes` bytes. `rate_min` and
/// `rate_iops_min` offer nothing: a job that falls below them ends.
pub(super) fn offered(options: &Options, mean_sizes: [Option<f64>; 3]) -> Offered {
    let used: Vec<usize> = (0..3)
        .filter(|direction| directions(options)[*direction])
        .collect();
    let rates: Vec<Option<f64>> = used
        .iter()
        .map(|direction| rate_of(options, *direction, mean_sizes[*direction]))
        .collect();
    match rates.iter().flatten().count() {
        0 => Offered::Unlimited,
        _ if is_by_smallest(options) => Offered::Unknown(BY_SMALLEST),
        n if n == used.len() => Offered::PerSecond(rates.iter().flatten().sum()),
        _ => Offered::Unknown(PARTLY),
    }
}

/// Of jobs of several names: every one has a rate where it stands in the global section, as far as the last job shows.
pub(super) fn offered_together(
    global: &Options,
    last: &Options,
    mean_sizes: [Option<f64>; 3],
) -> Offered {
    let given = ["rate", "rate_iops"]
        .into_iter()
        .any(|key| is_on(global, key));
    let same = ["rate", "rate_iops"]
        .into_iter()
        .all(|key| global.get(key) == last.get(key));
    if given && same {
        offered(global, mean_sizes)
    } else {
        Offered::Unknown(OF_SECTIONS)
    }
}

fn is_by_smallest(options: &Options) -> bool {
    let is_poisson = options
        .get("rate_process")
        .is_some_and(|process| process == "poisson");
    options.contains_key("bssplit") || (options.contains_key("bsrange") && is_poisson)
}

fn rate_of(options: &Options, direction: usize, mean_size: Option<f64>) -> Option<f64> {
    let limit = |key: &str| {
        Some(bytes(options, of_direction(options.get(key)?, direction))? as f64)
            .filter(|n| *n > 0.0)
    };
    let size = mean_size
        .or(block_size(options, direction).map(|size| size as f64))
        .filter(|size| *size > 0.0);
    let per_second = match (limit("rate"), limit("rate_iops")) {
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

fn smallest(options: &Options, direction: usize) -> Option<f64> {
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
pub(super) fn parameters(options: &Options) -> BTreeMap<String, String> {
    let given = |key: &str| options.get(key).filter(|value| *value != "0");
    let or = |key: &str, default: &str| given(key).cloned().unwrap_or_else(|| default.to_owned());
    let given_too = DEFINING
        .iter()
        .filter_map(|key| Some((*key, given(key)?.clone())));
    let mut all: BTreeMap<&str, String> = given_too.collect();
    all.insert("rw", or("rw", "read").replace("readwrite", "rw"));
    all.insert("direct", u32::from(is_direct(options)).to_string());
    all.insert("ioengine", or("ioengine", "psync"));
    all.insert("iodepth", or("iodepth", "1"));
    all.insert("numjobs", or("numjobs", "1"));
    if !all.contains_key("bsrange") && !all.contains_key("bssplit") {
        all.insert("bs", or("bs", "4k"));
    }
    if is_mixed(kind(options)) {
        all.insert("rwmixread", read_percent(options).to_string());
    }
    for key in ["bs", "size", "io_size"] {
        if let Some(value) = all.get_mut(key) {
            *value = value
                .split(',')
                .map(|size| size_text(options, size))
                .collect::<Vec<_>>()
                .join(",");
        }
    }
    all.into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// `4096` and `4kb` are one size.
fn size_text(options: &Options, written: &str) -> String {
    let Some(size) = bytes(options, written).filter(|size| *size > 0) else {
        return written.trim().to_owned();
    };
    let units = [
        (1 << 40, "t"),
        (1 << 30, "g"),
        (1 << 20, "m"),
        (1 << 10, "k"),
    ];
    let unit = units
        .into_iter()
        .find(|(unit, _)| size.is_multiple_of(*unit));
    unit.map_or_else(
        || size.to_string(),
        |(unit, name)| format!("{}{name}", size / unit),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Options {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn sizes_are_read_as_fio_writes_them() {
        let default = Options::new();
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
        assert_eq!(offered(&[("rw", "randread")], 4096.0), Offered::Unlimited);
        assert_eq!(
            offered(&[("rw", "rw"), ("rate_iops", "500")], 4096.0),
            Offered::PerSecond(1000.0),
            "each direction"
        );
        assert_eq!(
            offered(&[("rw", "write"), ("rate", "4m,")], 4096.0),
            Offered::Unlimited,
            "reads alone are limited"
        );
        assert_eq!(
            offered(&[("rw", "rw"), ("rate", ",2m")], 4096.0),
            Offered::Unknown(PARTLY)
        );
        assert_eq!(
            offered(&[("rw", "trimwrite"), ("rate", "1m")], 65_536.0),
            Offered::PerSecond(32.0)
        );
        // A thousand times 4 KiB a second, in requests of 6 KiB on average.
        let range = [("rw", "read"), ("bsrange", "4k-8k"), ("rate_iops", "1k")];
        assert_eq!(
            offered(&range, 6144.0),
            Offered::PerSecond(1024.0 * 4.0 / 6.0)
        );
        let poisson = [range.as_slice(), &[("rate_process", "poisson")]].concat();
        assert_eq!(offered(&poisson, 6144.0), Offered::Unknown(BY_SMALLEST));
        let split = [("rw", "read"), ("bssplit", "4k/50:64k/50"), ("rate", "4m")];
        assert_eq!(offered(&split, 6144.0), Offered::Unknown(BY_SMALLEST));
    }

    #[test]
    fn directions_follow_from_the_kind_of_load() {
        let of = |kind: &str| directions(&of(&[("rw", kind)]));
        assert_eq!(of("randrw"), [true, true, false]);
        assert_eq!(of("randread:8"), [true, false, false]);
        assert_eq!(of("trimwrite"), [false, true, true]);
        assert_eq!(of("randtrim"), [false, false, true]);
        assert_eq!(directions(&Options::new()), [true, false, false]);
    }
}
