//! Streams: what requests are like, how many there are at a time, and where they go.

use std::ops::{Range, RangeInclusive};

use crate::findings::Findings;
use crate::raw::{
    AccessWord, Either, RawAccess, RawBlockStream, RawShare, RawSizes, RawSync, SyncWord,
};
use crate::resolved::{Access, BlockStream, SizeShare, SyncPolicy, Zone};
use crate::size as bytes;
use crate::units::Bytes;
use crate::value::{At, OptionalKey, PlanValue};

/// What `O_DIRECT` wants at least.
const SECTOR: u64 = 512;
/// fio reads no more (`BSSPLIT_MAX`, `ZONESPLIT_MAX`).
const MOST_SIZES: usize = 64;
const MOST_ZONES: usize = 256;
const ZIPF: RangeInclusive<f64> = 0.01..=10.0;

/// `at` is the span of the table; `has_curve`: rates are set later, in shares of what is reached.
pub(super) fn resolve(
    at: &Range<usize>,
    raw: &RawBlockStream,
    has_curve: bool,
    findings: &mut Findings<'_>,
) -> Option<BlockStream> {
    let help = "percent of the requests that are reads: read = 100";
    let read = findings
        .required(at, "read", &raw.read, help)
        .map(At::value);
    let help = "percent at a random place: random = 100, or 0 for sequential";
    let random = findings
        .required(at, "random", &raw.random, help)
        .map(At::value);
    let sizes = sizes(at, raw, read, findings);
    check_rate(raw, has_curve, findings);
    let access = access(raw, random, findings);
    let sync = sync(raw, read, findings);
    let SizesByKind { reads, writes } = sizes?;
    Some(BlockStream {
        name: raw
            .name
            .as_ref()
            .map_or(String::new(), |name| name.get().clone()),
        read_percent: read?,
        random_percent: random?,
        read_sizes: reads,
        write_sizes: writes,
        depth: raw.depth(),
        threads: raw.threads(),
        per_second: raw.rate.value(),
        arrivals: raw.arrivals(),
        access,
        compressible_percent: raw.compressible(),
        direct: raw.direct(),
        sync,
    })
}

/// Sizes of requests. A kind that does not occur has those of the other.
struct SizesByKind {
    reads: Vec<SizeShare>,
    writes: Vec<SizeShare>,
}

fn sizes(
    at: &Range<usize>,
    raw: &RawBlockStream,
    read: Option<u32>,
    findings: &mut Findings<'_>,
) -> Option<SizesByKind> {
    warn_of_unused_sizes(raw, read, findings);
    let mut list = |written: &Option<At<RawSizes>>| {
        written
            .as_ref()
            .map(|sizes| shares(sizes, raw.direct(), findings))
    };
    let both = list(&raw.block);
    let reads = list(&raw.read_block).or_else(|| both.clone());
    let writes = list(&raw.write_block).or(both);
    let (reads, writes) = match read {
        Some(0) => (writes.clone(), writes),
        Some(100) => (reads.clone(), reads),
        _ => (reads, writes),
    };
    let is_explained = ["block", "read_block", "write_block"]
        .iter()
        .any(|key| findings.explains(at, key));
    if (reads.is_none() || writes.is_none()) && !is_explained {
        findings.error(
            at.clone(),
            "`block` is missing",
            "state how large requests are: block = \"4KiB\"",
        );
    }
    Some(SizesByKind {
        reads: reads?,
        writes: writes?,
    })
}

fn warn_of_unused_sizes(raw: &RawBlockStream, read: Option<u32>, findings: &mut Findings<'_>) {
    for (key, written, is_idle) in [
        ("read_block", &raw.read_block, read == Some(0)),
        ("write_block", &raw.write_block, read == Some(100)),
    ] {
        if let Some(written) = written
            && is_idle
        {
            let message = format!("`{key}` changes nothing: there are no such requests");
            findings.warn(written.span(), message, "remove it");
        }
    }
    if let Some(written) = &raw.block
        && raw.read_block.is_some()
        && raw.write_block.is_some()
    {
        findings.warn(
            written.span(),
            "`block` changes nothing beside `read_block` and `write_block`",
            "remove it",
        );
    }
}

fn shares(written: &At<RawSizes>, direct: bool, findings: &mut Findings<'_>) -> Vec<SizeShare> {
    let list = match written.get() {
        Either::Simple(size) => {
            let size = size.resolved();
            check_sector(size, written.span(), direct, findings);
            return vec![SizeShare { size, percent: 100 }];
        }
        Either::Composite(list) => list,
    };
    let example = "sizes and their shares in percent: block = [[\"4KiB\", 40], [\"8KiB\", 60]]";
    let mut found: Vec<SizeShare> = Vec::new();
    for entry in list {
        let RawShare(size, percent) = entry.get();
        check_sector(size.value(), size.span(), direct, findings);
        let size = size.value();
        let Some(percent) = self::percent(percent, "a share", 1, findings) else {
            continue;
        };
        if found.iter().any(|other| other.size == size) {
            let message = format!("{} is there twice", bytes::write(size));
            findings.error(entry.span(), message, example);
        }
        found.push(SizeShare { size, percent });
    }
    if list.len() > MOST_SIZES {
        let message = format!("more than {MOST_SIZES} sizes");
        findings.error(written.span(), message, "fio has room for so many");
    } else if found.len() == list.len() && !findings.is_incomplete(&written.span()) {
        let percents = found.iter().map(|share| share.percent);
        check_sum(percents, written.span(), example, findings);
    }
    found
}

/// Reports shares that do not add up to 100 %.
fn check_sum(
    shares: impl Iterator<Item = u32>,
    at: Range<usize>,
    example: &str,
    findings: &mut Findings<'_>,
) {
    let sum: u32 = shares.sum();
    if sum != 100 {
        let message = format!("the shares sum up to {sum} %, not to 100 %");
        findings.error(at, message, example);
    }
}

/// A share in percent.
fn percent(written: &At<i64>, what: &str, least: u32, findings: &mut Findings<'_>) -> Option<u32> {
    let percent = u32::try_from(*written.get())
        .ok()
        .filter(|percent| (least..=100).contains(percent));
    if percent.is_none() {
        let message = format!("{what} cannot be {}", written.get());
        let help = format!("{least} to 100 is possible");
        findings.error(written.span(), message, help);
    }
    percent
}

fn check_sector(size: Bytes, at: Range<usize>, direct: bool, findings: &mut Findings<'_>) {
    if !direct || size.0.is_multiple_of(SECTOR) {
        return;
    }
    let help = match bytes::binary(size) {
        Some(binary) => {
            format!("did you mean \"{binary}\"? A kB are 1,000 bytes, a KiB are 1,024")
        }
        None => "write a multiple of it, or direct = false for requests through the page cache"
            .to_owned(),
    };
    let message = format!(
        "{} is no multiple of 512 bytes, which direct I/O needs",
        bytes::write(size)
    );
    findings.error(at, message, help);
}

fn check_rate(raw: &RawBlockStream, has_curve: bool, findings: &mut Findings<'_>) {
    match (&raw.rate, &raw.arrivals) {
        (Some(rate), _) if has_curve => findings.error(
            rate.span(),
            "`rate` and `curve` exclude each other",
            "a curve's rates are shares of what the job reaches at full speed; remove one of the two",
        ),
        (None, Some(arrivals)) if !has_curve => findings.error(
            arrivals.span(),
            "`arrivals` is not supported without a `rate` or a `curve`",
            "add rate = 100, or remove it",
        ),
        _ => {}
    }
}

fn access(raw: &RawBlockStream, random: Option<u32>, findings: &mut Findings<'_>) -> Access {
    let Some(written) = &raw.access else {
        return Access::Uniform;
    };
    let access = match written.get() {
        Either::Simple(AccessWord::Uniform) => return Access::Uniform,
        Either::Composite(RawAccess {
            zipf: Some(exponent),
            zones: None,
        }) => zipf(exponent, findings),
        Either::Composite(RawAccess {
            zipf: None,
            zones: Some(zones),
        }) => Access::Zoned(self::zones(zones, findings)),
        Either::Composite(_) => {
            if !findings.is_incomplete(&written.span()) {
                let help = "write { zipf = 1.1 } or { zones = [[95, 5], [4, 10], [1, 85]] }";
                let message = "`access` needs exactly one distribution";
                findings.error(written.span(), message, help);
            }
            return Access::Uniform;
        }
    };
    if random == Some(0) {
        let message = "`access` changes nothing: no request is at a random place";
        findings.warn(written.span(), message, "remove it");
        return Access::Uniform;
    }
    access
}

fn zipf(exponent: &At<f64>, findings: &mut Findings<'_>) -> Access {
    let theta = *exponent.get();
    if !ZIPF.contains(&theta) || theta == 1.0 {
        let message = format!("the exponent cannot be {theta}");
        let help = "0.01 to 10 is possible, except exactly 1, which fio cannot do: 1.01";
        findings.error(exponent.span(), message, help);
    }
    Access::Zipf(theta)
}

fn zones(written: &At<Vec<At<RawShare<i64>>>>, findings: &mut Findings<'_>) -> Vec<Zone> {
    let example = "shares of requests and of space in percent: zones = [[95, 5], [4, 10], [1, 85]]";
    let list = written.get();
    let at = written.span();
    let zones: Vec<Zone> = list
        .iter()
        .filter_map(|entry| {
            let RawShare(requests, space) = entry.get();
            let requests_percent = percent(requests, "a share of requests", 0, findings);
            let space_percent = percent(space, "a share of space", 1, findings);
            Some(Zone {
                requests_percent: requests_percent?,
                space_percent: space_percent?,
            })
        })
        .collect();
    if list.len() > MOST_ZONES {
        let message = format!("more than {MOST_ZONES} zones");
        findings.error(at, message, "fio has room for so many");
    } else if zones.len() == list.len() && !findings.is_incomplete(&at) {
        let requests = zones.iter().map(|zone| zone.requests_percent);
        check_sum(requests, at.clone(), example, findings);
        let space = zones.iter().map(|zone| zone.space_percent);
        check_sum(space, at, example, findings);
    }
    zones
}

fn sync(raw: &RawBlockStream, read: Option<u32>, findings: &mut Findings<'_>) -> SyncPolicy {
    let Some(written) = &raw.sync else {
        return SyncPolicy::None;
    };
    let policy = match written.get() {
        Either::Simple(SyncWord::None) => return SyncPolicy::None,
        Either::Simple(SyncWord::EachWrite) => SyncPolicy::EachWrite,
        Either::Composite(RawSync { flush_every }) => {
            let help = "after how many writes: { flush_every = 1 }";
            findings.required(&written.span(), "flush_every", flush_every, help);
            SyncPolicy::Flush {
                every: flush_every.value().unwrap_or(1),
            }
        }
    };
    if read == Some(100) {
        let message = "`sync` changes nothing: there are no writes";
        findings.warn(written.span(), message, "remove it");
        return SyncPolicy::None;
    }
    policy
}
