//! Descriptions of a block point for the run file.

use plimsoll_plan::Interference;
use plimsoll_plan::resolved::{Access, Block, BlockStream, SizeShare, SyncPolicy};
use plimsoll_record::{BlockPoint, BlockStreamInfo, Point, PointId, PointPurpose};

use super::context::{BlockContext, BlockPointSpec};

/// The point of a job. `rates`: requests per second of each stream of each worker, where there are any.
pub(super) fn point(
    id: PointId,
    context: &BlockContext<'_>,
    spec: &BlockPointSpec<'_>,
    rates: &[Option<f64>],
) -> Point {
    let workers = context.target.workers.len() as u32;
    let in_flight: u32 = spec
        .job
        .streams
        .iter()
        .map(BlockStream::in_flight)
        .fold(0, u32::saturating_add);
    // Unknown for a job file; one each is the least.
    let users = in_flight.max(1).saturating_mul(workers);
    let rate: Option<f64> = rates
        .iter()
        .copied()
        .collect::<Option<Vec<f64>>>()
        .map(|rates| rates.iter().sum());
    Point {
        id,
        step: context.step.name.clone(),
        step_index: context.id.index() as u32,
        ordinal: spec.ordinal,
        system: context.target.subject,
        medium: context.target.only_medium(),
        workload: context.workload.to_owned(),
        mode: "block".into(),
        users,
        connections: users,
        offered_per_second: rate
            .filter(|rate| *rate > 0.0)
            .map(|rate| rate * f64::from(workers)),
        offered_to_per_second: None,
        repeat: spec.round,
        purpose: PointPurpose::Ladder,
        scene: Interference::Alone,
        txns: if spec.job.streams.is_empty() {
            file_txns()
        } else {
            spec.job.txns()
        },
        parameters: Default::default(),
    }
}

fn file_txns() -> Vec<String> {
    Block::FILE_TXNS.map(str::to_owned).into()
}

pub(super) fn block_point(
    point: PointId,
    context: &BlockContext<'_>,
    spec: &BlockPointSpec<'_>,
    rates: &[Option<f64>],
) -> BlockPoint {
    BlockPoint {
        point,
        profile: context.block.profile.clone(),
        job: spec.job.name.clone(),
        job_index: spec.job_index as u32,
        workers: context.target.workers.len() as u32,
        worker_bytes: context.block.size.0,
        fill: context.block.fill,
        share_percent: spec.share,
        streams: spec
            .job
            .streams
            .iter()
            .enumerate()
            .map(|(i, stream)| stream_info(stream, rates.get(i).copied().flatten()))
            .collect(),
    }
}

fn stream_info(stream: &BlockStream, rate: Option<f64>) -> BlockStreamInfo {
    let sizes = |shares: &[SizeShare]| {
        shares
            .iter()
            .map(|share| (share.size.0, share.percent))
            .collect()
    };
    BlockStreamInfo {
        name: stream.name.clone(),
        read_percent: stream.read_percent,
        random_percent: stream.random_percent,
        read_sizes: sizes(&stream.read_sizes),
        write_sizes: sizes(&stream.write_sizes),
        depth: stream.depth,
        threads: stream.threads,
        per_second: rate,
        access: access(&stream.access),
        compressible_percent: stream.compressible_percent,
        direct: stream.direct,
        sync: match stream.sync {
            SyncPolicy::None => "none".into(),
            SyncPolicy::Flush { every } => format!("flush:{every}"),
            SyncPolicy::EachWrite => "each_write".into(),
        },
    }
}

fn access(access: &Access) -> String {
    match access {
        Access::Uniform => "uniform".into(),
        Access::Zipf(exponent) => format!("zipf:{exponent}"),
        Access::Zoned(zones) => {
            let zones: Vec<String> = zones
                .iter()
                .map(|zone| format!("{}/{}", zone.requests_percent, zone.space_percent))
                .collect();
            format!("zoned:{}", zones.join(":"))
        }
    }
}
