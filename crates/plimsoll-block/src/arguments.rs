//! From what a plan asks of a medium to fio's arguments. Pure.
//!
//! All streams of a job are sections of one process (HOWTO, "Job file format"): what they share stands in `global`, and
//! each is reported as a group of its own.

use std::path::PathBuf;

use plimsoll_plan::load::Arrivals;
use plimsoll_plan::resolved::{Access, BlockJob, BlockStream, SizeShare, SyncPolicy};
use plimsoll_plan::units::Nanos;

use crate::fio::{FioName, IoEngine};

/// Where a worker works: a file, or its part of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Where fio runs.
    pub directory: PathBuf,
    /// Relative to the directory, or the device's.
    pub file: FioName,
    pub offset: u64,
    pub size: u64,
}

impl Part {
    /// From anywhere.
    pub fn path(&self) -> PathBuf {
        self.directory.join(self.file.path())
    }
}

/// How a job is run, beside what it asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Manner {
    pub engine: IoEngine,
    /// Of the random places; another one for each worker, job and round.
    pub seed: u64,
    /// When fio ends by itself at the latest.
    pub at_most: Nanos,
    /// Requests per second of each stream of the worker, in their order; `None`: as many as it can.
    pub rates: Vec<Option<f64>>,
}

/// One seed out of a plan's and the numbers that distinguish runs of fio (the mixing of SplitMix64, Steele et al. 2014).
pub fn seed(plan: u64, numbers: &[u64]) -> u64 {
    // fio multiplies it further; 48 bits are read the same by all versions.
    numbers.iter().copied().fold(plan, mix) & 0xffff_ffff_ffff
}

fn mix(seed: u64, number: u64) -> u64 {
    let mut z =
        (seed ^ number.wrapping_mul(0xd134_2543_de82_ef95)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A snapshot of all counts each second, with the buckets of latencies from submission to completion.
pub fn reporting() -> Vec<String> {
    [
        "--output-format=json+",
        "--status-interval=1",
        "--eta=never",
    ]
    .map(str::to_owned)
    .into()
}

/// fio's arguments for one worker of a job.
pub fn of_job(job: &BlockJob, part: &Part, manner: &Manner) -> Vec<String> {
    let mut args = reporting();
    if job.streams.iter().all(|stream| stream.read_percent == 100) {
        // fio itself then refuses to write.
        args.push("--readonly".into());
    }
    args.extend(in_file(part));
    args.extend([
        "--lat_percentiles=1".into(),
        "--clat_percentiles=0".into(),
        "--disk_util=0".into(),
        "--group_reporting=1".into(),
        "--time_based=1".into(),
        format!("--runtime={}s", manner.at_most.0.div_ceil(Nanos::SECOND.0)),
        "--randrepeat=1".into(),
        format!("--randseed={}", manner.seed),
        "--norandommap=1".into(),
    ]);
    for (i, stream) in job.streams.iter().enumerate() {
        args.extend(of_stream(
            &job.name,
            stream,
            part,
            manner.engine,
            manner.rates.get(i).copied().flatten(),
        ));
    }
    args
}

/// fio's arguments for a job file that it reads from its standard input, but for what it reports.
pub fn of_file() -> Vec<String> {
    let mut args = reporting();
    args.extend([
        "--name=global".into(),
        "--lat_percentiles=1".into(),
        "-".into(),
    ]);
    args
}

/// What all runs have in common. fio never makes a file: what it finds too small is an error.
pub(crate) fn in_file(part: &Part) -> Vec<String> {
    vec![
        "--name=global".into(),
        format!("--filename={}", part.file),
        format!("--offset={}", part.offset),
        format!("--size={}", part.size),
        "--thread=1".into(),
        "--allow_file_create=0".into(),
    ]
}

fn of_stream(
    job: &str,
    stream: &BlockStream,
    part: &Part,
    engine: IoEngine,
    rate: Option<f64>,
) -> Vec<String> {
    // With libaio fio asks for a flush while the write before it is under way, and counts that wait to the flush.
    let flushes = matches!(stream.sync, SyncPolicy::Flush { .. }) && stream.read_percent < 100;
    let engine = if flushes && stream.depth == 1 {
        IoEngine::Psync
    } else {
        engine
    };
    let (threads, depth) = match engine {
        IoEngine::Libaio => (stream.threads, stream.depth),
        IoEngine::Psync => (stream.in_flight(), 1),
    };
    let name = if stream.name.is_empty() {
        job
    } else {
        &stream.name
    };
    let mut args = vec![
        format!("--name={name}"),
        "--new_group=1".into(),
        format!("--ioengine={}", engine.name()),
        format!("--numjobs={threads}"),
        format!("--iodepth={depth}"),
    ];
    args.extend(pattern(stream));
    args.extend(sizes(stream));
    if stream.random_percent == 0 && threads > 1 {
        args.extend(own_parts(stream, part, threads));
    }
    if stream.direct {
        // Direct I/O needs no empty cache, and of a device fio would write out what others have left dirty.
        args.extend(["--direct=1".into(), "--invalidate=0".into()]);
    }
    if stream.read_percent < 100 {
        args.extend(writing(stream));
    }
    if let Some(rate) = rate {
        args.extend(pacing(stream, rate / f64::from(threads)));
    }
    args
}

fn pattern(stream: &BlockStream) -> Vec<String> {
    let random = if stream.random_percent > 0 {
        "rand"
    } else {
        ""
    };
    let mut args = match stream.read_percent {
        100 => vec![format!("--rw={random}read")],
        0 => vec![format!("--rw={random}write")],
        // fio calls mixed sequential requests `rw`.
        reads => vec![format!("--rw={random}rw"), format!("--rwmixread={reads}")],
    };
    if (1..100).contains(&stream.random_percent) {
        args.push(format!("--percentage_random={}", stream.random_percent));
    }
    if stream.random_percent > 0 {
        match &stream.access {
            Access::Uniform => {}
            Access::Zipf(exponent) => args.push(format!("--random_distribution=zipf:{exponent}")),
            Access::Zoned(zones) => {
                let zones: Vec<String> = zones
                    .iter()
                    .map(|zone| format!("{}/{}", zone.requests_percent, zone.space_percent))
                    .collect();
                args.push(format!("--random_distribution=zoned:{}", zones.join(":")));
            }
        }
    }
    args
}

/// Sizes of the directions that occur: `bs`, or where they differ within one `bssplit`.
fn sizes(stream: &BlockStream) -> Vec<String> {
    let sides = sides(stream);
    let single: Option<Vec<u64>> = sides
        .iter()
        .map(|shares| match shares[..] {
            [only] => Some(only.size.0),
            _ => None,
        })
        .collect();
    let option = if single.is_some() { "bs" } else { "bssplit" };
    let mut values: Vec<String> = match single {
        Some(sizes) => sizes.iter().map(u64::to_string).collect(),
        None => sides.iter().map(|shares| split(shares)).collect(),
    };
    values.dedup();
    vec![format!("--{option}={}", values.join(","))]
}

fn sides(stream: &BlockStream) -> Vec<&[SizeShare]> {
    let sides = [
        (stream.read_percent > 0, &stream.read_sizes),
        (stream.read_percent < 100, &stream.write_sizes),
    ];
    sides
        .into_iter()
        .filter(|(occurs, _)| *occurs)
        .map(|(_, shares)| shares.as_slice())
        .collect()
}

fn split(shares: &[SizeShare]) -> String {
    let shares: Vec<String> = shares
        .iter()
        .map(|share| format!("{}/{}", share.size.0, share.percent))
        .collect();
    shares.join(":")
}

/// Sequential streams side by side would follow each other through the same blocks: each gets a part of its own.
fn own_parts(stream: &BlockStream, part: &Part, threads: u32) -> Vec<String> {
    let largest = sides(stream)
        .into_iter()
        .flatten()
        .map(|share| share.size.0)
        .max()
        .unwrap_or(1)
        .max(1);
    let each = part.size / u64::from(threads) / largest * largest;
    if each == 0 {
        Vec::new()
    } else {
        vec![
            format!("--offset_increment={each}"),
            format!("--size={each}"),
        ]
    }
}

fn writing(stream: &BlockStream) -> Vec<String> {
    let mut args = Vec::new();
    match stream.sync {
        SyncPolicy::None => {}
        // fdatasync: a file's time stamps would make the filesystem write its journal as well.
        SyncPolicy::Flush { every } => args.push(format!("--fdatasync={every}")),
        SyncPolicy::EachWrite => args.push("--sync=dsync".into()),
    }
    if stream.compressible_percent > 0 {
        // Without new data for each request the second pass over a buffer would be the same data.
        args.push(format!(
            "--buffer_compress_percentage={}",
            stream.compressible_percent
        ));
        args.push("--refill_buffers=1".into());
    }
    args
}

/// `per_second` requests of one thread, by direction, each of which fio paces by itself.
///
/// At equal distances the rate is given in bytes: fio turns `rate_iops` into bytes of the smallest size and would be far too
/// slow with several sizes. Of random distances it turns it back and is right (`backend.c`, `usec_for_io`).
fn pacing(stream: &BlockStream, per_second: f64) -> Vec<String> {
    let reads = per_second * f64::from(stream.read_percent) / 100.0;
    let writes = per_second - reads;
    match stream.arrivals {
        Arrivals::Constant => {
            vec![format!(
                "--rate={}",
                pair(
                    reads * mean_size(&stream.read_sizes),
                    writes * mean_size(&stream.write_sizes)
                )
            )]
        }
        Arrivals::Poisson => vec![
            format!("--rate_iops={}", pair(reads, writes)),
            "--rate_process=poisson".into(),
        ],
    }
}

fn mean_size(shares: &[SizeShare]) -> f64 {
    let percent: u32 = shares.iter().map(|share| share.percent).sum();
    let bytes: f64 = shares
        .iter()
        .map(|share| share.size.0 as f64 * f64::from(share.percent))
        .sum();
    bytes / f64::from(percent.max(1))
}

/// Rates as fio takes them: what does not occur is empty, at the end left out.
fn pair(reads: f64, writes: f64) -> String {
    let reads = whole(reads);
    if writes > 0.0 {
        format!("{reads},{}", whole(writes))
    } else {
        reads
    }
}

fn whole(rate: f64) -> String {
    if rate > 0.0 {
        (rate.round() as u64).max(1).to_string()
    } else {
        String::new()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use plimsoll_plan::resolved::Zone;
    use plimsoll_plan::units::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::fio::command_line;

    fn one(size: u64) -> Vec<SizeShare> {
        vec![SizeShare {
            size: Bytes(size),
            percent: 100,
        }]
    }

    pub fn stream() -> BlockStream {
        BlockStream {
            name: String::new(),
            read_percent: 100,
            random_percent: 100,
            read_sizes: one(4096),
            write_sizes: one(4096),
            depth: 32,
            threads: 4,
            per_second: None,
            arrivals: Arrivals::Constant,
            access: Access::Uniform,
            compressible_percent: 0,
            direct: true,
            sync: SyncPolicy::None,
        }
    }

    fn job(streams: Vec<BlockStream>) -> BlockJob {
        BlockJob {
            name: "RND4K Q32T4".into(),
            streams,
            curve: Vec::new(),
        }
    }

    fn part() -> Part {
        Part {
            directory: "/".into(),
            file: FioName::new(Path::new("/mnt/a:b/0")).unwrap(),
            offset: 0,
            size: 1 << 30,
        }
    }

    fn of(streams: Vec<BlockStream>, engine: IoEngine) -> String {
        let rates = streams.iter().map(|stream| stream.per_second).collect();
        let manner = Manner {
            engine,
            seed: 7,
            at_most: Nanos::from_millis(61_500),
            rates,
        };
        command_line(&of_job(&job(streams), &part(), &manner))
    }

    fn section(line: &str, name: &str) -> String {
        let from = line
            .find(&format!("--name={name}"))
            .or_else(|| line.find(&format!("'--name={name}")))
            .unwrap();
        let rest = &line[from..];
        let to = rest[1..].find("--name=").map_or(rest.len(), |at| at + 1);
        rest[..to].trim_end_matches('\'').trim().to_owned()
    }

    #[test]
    fn random_reads() {
        assert_eq!(
            of(vec![stream()], IoEngine::Libaio),
            "fio --output-format=json+ --status-interval=1 --eta=never --readonly --name=global \
             '--filename=/mnt/a\\:b/0' --offset=0 --size=1073741824 --thread=1 --allow_file_create=0 \
             --lat_percentiles=1 --clat_percentiles=0 --disk_util=0 --group_reporting=1 --time_based=1 --runtime=62s \
             --randrepeat=1 --randseed=7 --norandommap=1 '--name=RND4K Q32T4' --new_group=1 --ioengine=libaio \
             --numjobs=4 --iodepth=32 --rw=randread --bs=4096 --direct=1 --invalidate=0"
        );
        let psync = of(vec![stream()], IoEngine::Psync);
        assert!(
            psync.contains("--ioengine=psync --numjobs=128 --iodepth=1 "),
            "{psync}"
        );
    }

    /// VMFleet's SQL profile: data with hot spots, and a log beside it.
    #[test]
    fn data_and_log_side_by_side() {
        let zone = |requests_percent, space_percent| Zone {
            requests_percent,
            space_percent,
        };
        let data = BlockStream {
            name: "data".into(),
            read_percent: 70,
            read_sizes: one(8192),
            write_sizes: one(8192),
            per_second: Some(1500.0),
            access: Access::Zoned(vec![zone(95, 5), zone(4, 10), zone(1, 85)]),
            compressible_percent: 50,
            ..stream()
        };
        let log = BlockStream {
            name: "log".into(),
            read_percent: 0,
            random_percent: 0,
            write_sizes: one(32768),
            depth: 1,
            threads: 1,
            per_second: Some(300.0),
            sync: SyncPolicy::EachWrite,
            ..stream()
        };
        let line = of(vec![data, log], IoEngine::Libaio);
        assert!(!line.contains("--readonly"));
        assert_eq!(
            section(&line, "data"),
            "--name=data --new_group=1 --ioengine=libaio --numjobs=4 --iodepth=32 --rw=randrw --rwmixread=70 \
             --random_distribution=zoned:95/5:4/10:1/85 --bs=8192 --direct=1 --invalidate=0 \
             --buffer_compress_percentage=50 --refill_buffers=1 --rate=2150400,921600"
        );
        assert_eq!(
            section(&line, "log"),
            "--name=log --new_group=1 --ioengine=libaio --numjobs=1 --iodepth=1 --rw=write --bs=32768 --direct=1 \
             --invalidate=0 --sync=dsync --rate=,9830400"
        );
    }

    /// The time of a flush is the flush's alone.
    #[test]
    fn writers_that_wait_for_their_flush_do_so_by_themselves() {
        let log = |depth| BlockStream {
            read_percent: 0,
            depth,
            threads: 3,
            sync: SyncPolicy::Flush { every: 1 },
            ..stream()
        };
        let alone = of(vec![log(1)], IoEngine::Libaio);
        assert!(
            alone.contains("--ioengine=psync --numjobs=3 --iodepth=1 "),
            "{alone}"
        );
        assert!(
            of(vec![log(4)], IoEngine::Libaio)
                .contains("--ioengine=libaio --numjobs=3 --iodepth=4 ")
        );
    }

    #[test]
    fn sizes_and_places_that_vary() {
        let shares = |list: &[(u64, u32)]| -> Vec<SizeShare> {
            list.iter()
                .map(|(size, percent)| SizeShare {
                    size: Bytes(*size),
                    percent: *percent,
                })
                .collect()
        };
        let boot = BlockStream {
            read_percent: 80,
            random_percent: 60,
            read_sizes: shares(&[(4096, 50), (65536, 50)]),
            write_sizes: one(4096),
            access: Access::Zipf(1.2),
            per_second: Some(100.0),
            arrivals: Arrivals::Poisson,
            threads: 1,
            direct: false,
            sync: SyncPolicy::Flush { every: 4 },
            ..stream()
        };
        let line = of(vec![boot.clone()], IoEngine::Libaio);
        for expected in [
            "--rw=randrw --rwmixread=80 --percentage_random=60 --random_distribution=zipf:1.2",
            "--bssplit=4096/50:65536/50,4096/100",
            "--fdatasync=4",
            "--rate_iops=80,20 --rate_process=poisson",
        ] {
            assert!(line.contains(expected), "{expected}: {line}");
        }
        assert!(!line.contains("--direct"), "{line}");
        // Bytes of the mean size.
        let constant = of(
            vec![BlockStream {
                arrivals: Arrivals::Constant,
                ..boot
            }],
            IoEngine::Libaio,
        );
        assert!(constant.contains("--rate=2785280,81920"), "{constant}");
    }

    #[test]
    fn sequential_threads_have_parts_of_their_own() {
        let stream = BlockStream {
            random_percent: 0,
            read_sizes: one(1 << 20),
            threads: 3,
            depth: 8,
            ..stream()
        };
        let line = of(vec![stream.clone()], IoEngine::Libaio);
        let each = ((1u64 << 30) / 3) >> 20 << 20;
        assert!(
            line.contains(&format!("--offset_increment={each} --size={each}")),
            "{line}"
        );
        let alone = of(
            vec![BlockStream {
                threads: 1,
                ..stream
            }],
            IoEngine::Libaio,
        );
        assert!(!alone.contains("offset_increment"), "{alone}");
    }

    proptest! {
        #[test]
        fn seeds_differ(plan: u64, a in 0u64..64, b in 0u64..64, c in 0u64..64) {
            prop_assert_eq!(seed(plan, &[a, b]), seed(plan, &[a, b]));
            prop_assert_eq!(seed(plan, &[a, b]) == seed(plan, &[a, c]), b == c);
            prop_assert!(seed(plan, &[a, b, c]) < 1 << 48);
        }

        /// Bytes per second of all threads are those of the requests asked for.
        #[test]
        fn rates_add_up(per_second in 1.0f64..1e6, read_percent in 0u32..=100, threads in 1u32..64) {
            let stream = BlockStream { read_percent, threads, per_second: Some(per_second), ..stream() };
            let line = of(vec![stream], IoEngine::Libaio);
            let rates = line.rsplit("--rate=").next().unwrap().split(',');
            let bytes: f64 = rates.filter(|rate| !rate.is_empty()).map(|rate| rate.parse::<f64>().unwrap()).sum();
            let asked = per_second * 4096.0;
            prop_assert!((bytes * f64::from(threads) - asked).abs() <= 2.0 * f64::from(threads) + asked * 1e-9, "{line}");
        }
    }
}
