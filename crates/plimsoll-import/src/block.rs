//! Block I/O as a tool was asked for it.

use plimsoll_record::{BlockPoint, BlockStreamInfo, PointId};

/// The requests of one job.
pub(super) struct ImportedJob {
    pub name: String,
    pub index: u32,
    pub workers: u32,
    /// 0 where the output lacks it.
    pub worker_bytes: u64,
    pub stream: BlockStreamInfo,
}

impl ImportedJob {
    /// Its point is filled in later.
    pub fn point(self) -> BlockPoint {
        BlockPoint {
            point: PointId(0),
            profile: String::new(),
            job: self.name,
            job_index: self.index,
            workers: self.workers,
            worker_bytes: self.worker_bytes,
            fill: 0.0,
            share_percent: None,
            streams: vec![self.stream],
        }
    }
}

/// Requests one after the other, of sizes in bytes with their shares in percent.
pub(super) fn stream(read_percent: u32, sizes: &[(u64, u32)]) -> BlockStreamInfo {
    BlockStreamInfo {
        name: String::new(),
        read_percent,
        random_percent: 0,
        read_sizes: used(read_percent > 0, sizes),
        write_sizes: used(read_percent < 100, sizes),
        depth: 1,
        threads: 1,
        per_second: None,
        access: "uniform".into(),
        compressible_percent: 0,
        direct: false,
        sync: "none".into(),
    }
}

fn used(is_used: bool, sizes: &[(u64, u32)]) -> Vec<(u64, u32)> {
    if is_used { sizes.to_vec() } else { Vec::new() }
}
