//! Streams: what requests are like, how many there are at a time, and where they go.

use std::ops::Range;

use crate::findings::Findings;
use crate::load::Arrivals;
use crate::raw::{RawAccess, RawBlockStream, RawShare, RawSizes, RawSync, RawWord};
use crate::resolve::values::{size_of, whole};
use crate::resolved::{Access, BlockStream, SizeShare, SyncPolicy, Zone};
use crate::size as bytes;
use crate::units::Bytes;
use crate::value::{At, RawSize};

const MOST_DEPTH: u32 = 4096;
const MOST_THREADS: u32 = 512;
const MOST_PER_SECOND: f64 = 1e7;
const LARGEST_BLOCK: Bytes = Bytes::mib(64);
/// What `O_DIRECT` wants at least.
const SECTOR: u64 = 512;
/// fio reads no more (`BSSPLIT_MAX`, `ZONESPLIT_MAX`).
const MOST_SIZES: usize = 64;
const MOST_ZONES: usize = 256;
const ZIPF: std::ops::RangeInclusive<f64> = 0.01..=10.0;

/// `at` is the span of the table; `has_curve`: rates are set later, in shares of what is reached.
pub(super) fn resolve(
    at: &Range<usize>,
    raw: &RawBlockStream,
    has_curve: bool,
    findings: &mut Findings<'_>,
) -> Option<BlockStream> {
    let mut percent = |key: &str, value: &Option<At<i64>>, help: &str| {
        let value = findings.required(at, key, value, help)?;
        whole(value, &format!("`{key}`"), 0..=100, findings)
    };
    let read = percent(
        "read",
        &raw.read,
        "percent of the requests that are reads: read = 100",
    );
    let random = percent(
        "random",
        &raw.random,
        "percent at a random place: random = 100, or 0 for sequential",
    );
    let direct = raw.direct.as_ref().is_none_or(|direct| *direct.get());
    let kinds = sizes(at, raw, read, direct, findings);
    let mut number = |key: &str, value: &Option<At<i64>>, default, bounds| match value {
        None => Some(default),
        Some(value) => whole(value, &format!("`{key}`"), bounds, findings),
    };
    let depth = number("depth", &raw.depth, 1, 1..=MOST_DEPTH);
    let threads = number("threads", &raw.threads, 1, 1..=MOST_THREADS);
    let compressible = number("compressible", &raw.compressible, 0, 0..=100);
    let rate = rate(raw, has_curve, findings);
    let access = access(raw, random, findings);
    let sync = sync(raw, read, findings);
    let (read_sizes, write_sizes) = kinds?;
    Some(BlockStream {
        name: raw
            .name
            .as_ref()
            .map_or(String::new(), |name| name.get().clone()),
        read_percent: read?,
        random_percent: random?,
        read_sizes,
        write_sizes,
        depth: depth?,
        threads: threads?,
        per_second: rate?,
        arrivals: raw
            .arrivals
            .as_ref()
            .map_or(Arrivals::Constant, |arrivals| *arrivals.get()),
        access: access?,
        compressible_percent: compressible?,
        direct,
        sync: sync?,
    })
}

/// Of reads and of writes. A kind that does not occur has the sizes of the other.
fn sizes(
    at: &Range<usize>,
    raw: &RawBlockStream,
    read: Option<u32>,
    direct: bool,
    findings: &mut Findings<'_>,
) -> Option<(Vec<SizeShare>, Vec<SizeShare>)> {
    let RawBlockStream {
        block,
        read_block,
        write_block,
        ..
    } = raw;
    let kinds = [
        ("read_block", read_block, read == Some(0)),
        ("write_block", write_block, read == Some(100)),
    ];
    for (key, written, is_idle) in kinds {
        if let Some(written) = written
            && is_idle
        {
            findings.warn(
                written.span(),
                format!("`{key}` changes nothing: there are no such requests"),
                "remove it",
            );
        }
    }
    if let Some(written) = block
        && read_block.is_some()
        && write_block.is_some()
    {
        findings.warn(
            written.span(),
            "`block` changes nothing beside `read_block` and `write_block`",
            "remove it",
        );
    }
    let mut list = |written: &Option<At<RawSizes>>| {
        written
            .as_ref()
            .map(|sizes| shares(sizes, direct, findings))
    };
    let both = list(block);
    let reads = list(read_block);
    let writes = list(write_block);
    let of_reads = reads.or_else(|| both.clone());
    let of_writes = writes.or(both);
    let (of_reads, of_writes) = match read {
        Some(0) => (of_writes.clone(), of_writes),
        Some(100) => (of_reads.clone(), of_reads),
        _ => (of_reads, of_writes),
    };
    if (of_reads.is_none() || of_writes.is_none())
        && !["block", "read_block", "write_block"]
            .iter()
            .any(|key| findings.explains(at, key))
    {
        findings.error(
            at.clone(),
            "`block` is missing",
            "state how large requests are: block = \"4KiB\"",
        );
    }
    Some((of_reads??, of_writes??))
}

fn shares(
    written: &At<RawSizes>,
    direct: bool,
    findings: &mut Findings<'_>,
) -> Option<Vec<SizeShare>> {
    let list = match written.get() {
        RawSizes::One(one) => {
            let size = block_size(one, written.span(), direct, findings)?;
            return Some(vec![SizeShare { size, percent: 100 }]);
        }
        RawSizes::Many(list) => list,
    };
    let example = "sizes and their shares in percent: block = [[\"4KiB\", 40], [\"8KiB\", 60]]";
    if list.len() > MOST_SIZES {
        findings.error(
            written.span(),
            format!("more than {MOST_SIZES} sizes"),
            "fio has room for so many",
        );
        return None;
    }
    let mut found: Vec<SizeShare> = Vec::new();
    for entry in list {
        let RawShare(size, percent) = entry.get();
        let size = block_size(size.get(), size.span(), direct, findings);
        let percent = whole(percent, "a share", 1..=100, findings);
        let Some((size, percent)) = size.zip(percent) else {
            continue;
        };
        if found.iter().any(|other| other.size == size) {
            findings.error(
                entry.span(),
                format!("{} is there twice", bytes::write(size)),
                example,
            );
        }
        found.push(SizeShare { size, percent });
    }
    if found.len() < list.len() || findings.is_incomplete(&written.span()) {
        return None;
    }
    is_whole(
        found.iter().map(|share| share.percent),
        written.span(),
        example,
        findings,
    )
    .then_some(found)
}

/// Reports shares that do not add up to 100 %.
fn is_whole(
    shares: impl Iterator<Item = u32>,
    at: Range<usize>,
    example: &str,
    findings: &mut Findings<'_>,
) -> bool {
    let sum: u32 = shares.sum();
    if sum != 100 {
        findings.error(
            at,
            format!("the shares sum up to {sum} %, not to 100 %"),
            example,
        );
    }
    sum == 100
}

fn block_size(
    raw: &RawSize,
    at: Range<usize>,
    direct: bool,
    findings: &mut Findings<'_>,
) -> Option<Bytes> {
    if let RawSize::Bare(number) = raw {
        let help = format!("write sizes with a unit and in quotes: \"{number}KiB\"");
        findings.error(at, format!("{number} has no unit"), help);
        return None;
    }
    let size = size_of(raw, at.clone(), findings)?;
    let (fault, help) = if size == Bytes(0) || size > LARGEST_BLOCK {
        (
            format!("requests cannot have {}", bytes::write(size)),
            format!("1B to {}", bytes::write(LARGEST_BLOCK)),
        )
    } else if direct && !size.0.is_multiple_of(SECTOR) {
        let binary = bytes::binary(size);
        let help = binary.map_or_else(
            || {
                "write a multiple of it, or direct = false for requests through the page cache"
                    .to_owned()
            },
            |binary| format!("did you mean \"{binary}\"? A kB are 1,000 bytes, a KiB are 1,024"),
        );
        (
            format!(
                "{} is no multiple of 512 bytes, which direct I/O needs",
                bytes::write(size)
            ),
            help,
        )
    } else {
        return Some(size);
    };
    findings.error(at, fault, help);
    None
}

/// The outer `None` is a reported fault.
fn rate(raw: &RawBlockStream, has_curve: bool, findings: &mut Findings<'_>) -> Option<Option<f64>> {
    let Some(written) = &raw.rate else {
        if let Some(arrivals) = &raw.arrivals
            && !has_curve
        {
            let help = "add rate = 100, or remove it";
            findings.error(
                arrivals.span(),
                "`arrivals` has no meaning without a `rate` or a `curve`",
                help,
            );
        }
        return Some(None);
    };
    let rate = *written.get();
    // Written so that NaN fails.
    if !(rate > 0.0 && rate <= MOST_PER_SECOND) {
        let help = "requests per second of each worker: above 0, at most 10000000";
        findings.error(written.span(), format!("the rate cannot be {rate}"), help);
        return None;
    }
    if has_curve {
        let help = "a curve's rates are shares of what the job reaches at full speed; remove one of the two";
        findings.error(
            written.span(),
            "`rate` and `curve` exclude each other",
            help,
        );
        return None;
    }
    Some(Some(rate))
}

fn access(
    raw: &RawBlockStream,
    random: Option<u32>,
    findings: &mut Findings<'_>,
) -> Option<Access> {
    let Some(written) = &raw.access else {
        return Some(Access::Uniform);
    };
    let access = match written.get() {
        RawWord::Word(_) => Access::Uniform,
        RawWord::Table(RawAccess {
            zipf: Some(exponent),
            zones: None,
        }) => zipf(exponent, findings)?,
        RawWord::Table(RawAccess {
            zipf: None,
            zones: Some(zones),
        }) => Access::Zoned(self::zones(zones, findings)?),
        RawWord::Table(_) => {
            if !findings.is_incomplete(&written.span()) {
                let help = "write { zipf = 1.1 } or { zones = [[95, 5], [4, 10], [1, 85]] }";
                findings.error(
                    written.span(),
                    "`access` needs exactly one distribution",
                    help,
                );
            }
            return None;
        }
    };
    if random == Some(0) && access != Access::Uniform {
        findings.warn(
            written.span(),
            "`access` changes nothing: no request is at a random place",
            "remove it",
        );
        return Some(Access::Uniform);
    }
    Some(access)
}

fn zipf(exponent: &At<f64>, findings: &mut Findings<'_>) -> Option<Access> {
    let theta = *exponent.get();
    if ZIPF.contains(&theta) && theta != 1.0 {
        return Some(Access::Zipf(theta));
    }
    let help = "0.01 to 10 is possible, except exactly 1, which fio cannot do: 1.01";
    findings.error(
        exponent.span(),
        format!("the exponent cannot be {theta}"),
        help,
    );
    None
}

fn zones(written: &At<Vec<At<RawShare<i64>>>>, findings: &mut Findings<'_>) -> Option<Vec<Zone>> {
    let example = "shares of requests and of space in percent: zones = [[95, 5], [4, 10], [1, 85]]";
    let list = written.get();
    let at = written.span();
    if list.len() > MOST_ZONES {
        findings.error(
            at,
            format!("more than {MOST_ZONES} zones"),
            "fio has room for so many",
        );
        return None;
    }
    let zones = list.iter().map(|entry| {
        let RawShare(requests, space) = entry.get();
        let requests_percent = whole(requests, "a share of requests", 0..=100, findings);
        let space_percent = whole(space, "a share of space", 1..=100, findings);
        Some(Zone {
            requests_percent: requests_percent?,
            space_percent: space_percent?,
        })
    });
    let zones: Vec<Zone> = zones
        .collect::<Vec<_>>()
        .into_iter()
        .collect::<Option<_>>()?;
    if findings.is_incomplete(&at) {
        return None;
    }
    let whole = is_whole(
        zones.iter().map(|zone| zone.requests_percent),
        at.clone(),
        example,
        findings,
    ) && is_whole(
        zones.iter().map(|zone| zone.space_percent),
        at,
        example,
        findings,
    );
    whole.then_some(zones)
}

fn sync(
    raw: &RawBlockStream,
    read: Option<u32>,
    findings: &mut Findings<'_>,
) -> Option<SyncPolicy> {
    let Some(written) = &raw.sync else {
        return Some(SyncPolicy::None);
    };
    let policy = match written.get() {
        RawWord::Word(word) if word == "each_write" => SyncPolicy::EachWrite,
        RawWord::Word(_) => SyncPolicy::None,
        RawWord::Table(RawSync { flush_every }) => {
            let help = "after how many writes: { flush_every = 1 }";
            let every = findings.required(&written.span(), "flush_every", flush_every, help)?;
            SyncPolicy::Flush {
                every: whole(every, "`flush_every`", 1..=1_000_000, findings)?,
            }
        }
    };
    if read == Some(100) && policy != SyncPolicy::None {
        findings.warn(
            written.span(),
            "`sync` changes nothing: there are no writes",
            "remove it",
        );
        return Some(SyncPolicy::None);
    }
    Some(policy)
}
