//! Block workloads as TOML.

use crate::resolved::{
    Access, Block, BlockJob, BlockStream, BlockWork, SizeShare, SyncPolicy, Zone,
};
use crate::toml_table::{TomlItem, TomlTable};
use crate::units::Bytes;

pub(super) fn block(block: &Block) -> TomlTable {
    let table = match block.profile.as_str() {
        "" => TomlTable::new().with_text("source", &block.source),
        // Which has a source of its own.
        profile => TomlTable::new().with("profile", profile),
    };
    match &block.work {
        BlockWork::File { path } => table
            .with("fio_job", path.as_str())
            .with_some("size", (block.size > Bytes(0)).then_some(block.size)),
        BlockWork::Jobs(jobs) => table
            .with("workers", block.workers)
            .with("size", block.size)
            .with("fill", block.fill)
            // A line each: a sweep has dozens.
            .with(
                "job",
                TomlItem::Lines(jobs.iter().map(|own| job(own).into()).collect()),
            ),
    }
}

fn job(job: &BlockJob) -> TomlTable {
    let has_curve = !job.curve.is_empty();
    let table = TomlTable::new().with("name", job.name.as_str());
    let table = match job.streams.as_slice() {
        [only] if only.name.is_empty() => table.and(stream(only, has_curve)),
        several => {
            let streams: Vec<TomlTable> =
                several.iter().map(|own| stream(own, has_curve)).collect();
            table.with("stream", streams)
        }
    };
    table.with_list("curve", job.curve.clone())
}

fn stream(stream: &BlockStream, has_curve: bool) -> TomlTable {
    let arrivals = (stream.per_second.is_some() || has_curve).then(|| stream.arrivals.name());
    let table = TomlTable::new()
        .with_text("name", &stream.name)
        .with("read", stream.read_percent)
        .with("random", stream.random_percent);
    let table = if stream.read_sizes == stream.write_sizes {
        table.with("block", sizes(&stream.read_sizes))
    } else {
        table
            .with("read_block", sizes(&stream.read_sizes))
            .with("write_block", sizes(&stream.write_sizes))
    };
    table
        .with("depth", stream.depth)
        .with("threads", stream.threads)
        .with_some("rate", stream.per_second)
        .with_some("arrivals", arrivals)
        .with("access", access(&stream.access))
        .with("compressible", stream.compressible_percent)
        .with("direct", stream.direct)
        .with("sync", sync(stream.sync))
}

fn sizes(sizes: &[SizeShare]) -> TomlItem {
    if let [SizeShare { size, percent: 100 }] = sizes {
        return (*size).into();
    }
    let pairs: Vec<Vec<TomlItem>> = sizes
        .iter()
        .map(|share| vec![share.size.into(), share.percent.into()])
        .collect();
    pairs.into()
}

fn access(access: &Access) -> TomlItem {
    match access {
        Access::Uniform => "uniform".into(),
        Access::Zipf(exponent) => TomlTable::new().with("zipf", *exponent).into(),
        Access::Zoned(zones) => {
            let pairs: Vec<Vec<u32>> = zones
                .iter()
                .map(|zone| {
                    let Zone {
                        requests_percent,
                        space_percent,
                    } = *zone;
                    vec![requests_percent, space_percent]
                })
                .collect();
            TomlTable::new().with("zones", pairs).into()
        }
    }
}

fn sync(sync: SyncPolicy) -> TomlItem {
    match sync {
        SyncPolicy::None => "none".into(),
        SyncPolicy::EachWrite => "each_write".into(),
        SyncPolicy::Flush { every } => TomlTable::new().with("flush_every", every).into(),
    }
}
