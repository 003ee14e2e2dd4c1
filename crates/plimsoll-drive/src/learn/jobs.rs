//! What fio is asked, in which order. Pure: the same options give the same command lines.

use std::path::PathBuf;

use plimsoll_block::fio::{FioName, IoEngine};
use plimsoll_plan::units::Bytes;

/// One kind of load. The simulator understands it as well, so that the model can be compared with the drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearnProfile {
    pub write: bool,
    pub random: bool,
    pub block: Bytes,
    /// Requests in flight.
    pub depth: u32,
    /// Share of the measured part that is used, from its start.
    pub span: f64,
    /// A flush after each write.
    pub flush: bool,
}

const KIB: u64 = 1 << 10;

impl LearnProfile {
    pub const fn read(block: u64, depth: u32) -> Self {
        Self {
            write: false,
            random: true,
            block: Bytes(block),
            depth,
            span: 1.0,
            flush: false,
        }
    }

    pub const fn write(block: u64, depth: u32) -> Self {
        Self {
            write: true,
            ..Self::read(block, depth)
        }
    }

    pub const fn sequential(self) -> Self {
        Self {
            random: false,
            ..self
        }
    }

    pub const fn flushed(self) -> Self {
        Self {
            flush: true,
            ..self
        }
    }

    /// `randread 4K QD1`, as people write it.
    pub fn name(&self) -> String {
        let direction = if self.write { "write" } else { "read" };
        let random = if self.random { "rand" } else { "" };
        let span = if self.span < 1.0 {
            format!(" span {}%", self.span * 100.0)
        } else {
            String::new()
        };
        let flush = if self.flush { " + flush" } else { "" };
        format!(
            "{random}{direction} {}K QD{}{span}{flush}",
            self.block.0 / KIB,
            self.depth
        )
    }
}

/// The file or device that fio measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredArea {
    pub file: FioName,
    /// Where the measured part begins, and how large it is.
    pub offset: u64,
    pub size: Bytes,
    /// Where fio runs and writes its logs; needed where something is written.
    pub logs: Option<PathBuf>,
}

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnOptions {
    /// For one load, all its repeats together.
    pub seconds: f64,
    /// Without it nothing but reads; fio runs with `--readonly`.
    pub writes: bool,
    /// Whether the kernel reports that it rotates: a seek curve is measured.
    pub rotational: bool,
    pub engine: IoEngine,
    pub cpus: u32,
    /// Of all random positions; each run gets its own from it.
    pub seed: u64,
}

/// Runs of the same load: their spread is the error of the measurement.
pub const REPEATS: u32 = 3;
/// Depths of the curve of 4 KiB random reads.
pub const DEPTHS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// How often the time of a load may be doubled until its rate is steady: 5 s become 80 s.
pub const MOST_DOUBLINGS: u32 = 4;
/// A drive rests at most so long.
pub const MOST_REST_MS: u64 = 60_000;
/// Spans of the seek curve.
pub const SPANS: [f64; 5] = [0.001, 0.01, 0.1, 0.33, 1.0];

/// One run of fio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LearnStep {
    /// Fills the measured part with data that do not compress.
    LayOut,
    /// Next to nothing, while the drive puts away what its buffer holds: milliseconds.
    Rest(u64),
    /// Writes as fast as possible, with the speed every 100 ms: a buffer shows as a bend.
    Burst,
    /// A load and its repeat.
    Load(LearnProfile, u32),
    /// Writes as fast as possible until the rate is steady: the time is doubled so often.
    Settle(LearnProfile, u32),
}

impl LearnStep {
    pub fn name(&self) -> String {
        match self {
            Self::LayOut => "laying out".into(),
            Self::Burst => "burst of writes".into(),
            Self::Rest(_) => "waiting until the drive has emptied its buffer".into(),
            Self::Settle(profile, _) => format!("{} until steady", profile.name()),
            Self::Load(profile, repeat) => format!("{} ({}/{REPEATS})", profile.name(), repeat + 1),
        }
    }

    /// About how long it takes with fio's start, for the time left; the laying out at 500 MB/s.
    pub fn expected_millis(&self, options: &LearnOptions, size: Bytes) -> u64 {
        const START: u64 = 250;
        let laying_out = if *self == Self::LayOut {
            size.0 / 500_000
        } else {
            0
        };
        START + laying_out + self.millis(options)
    }

    /// How long it takes at most on a busy machine, with all that may follow it: rests until the buffer is empty, and
    /// doubled times until the rate is steady.
    pub fn most_millis(&self, options: &LearnOptions, size: Bytes) -> u64 {
        const START: u64 = 1_500;
        let own = self.millis(options);
        match self {
            // At 20 MB/s; then a rest of as long, 10 s at most.
            Self::LayOut => 2 * START + size.0 / 20_000 + 10_000,
            Self::Burst => 2 * START + own + MOST_REST_MS,
            Self::Settle(..) => {
                let runs = 0..=MOST_DOUBLINGS;
                runs.map(|doubled| START + (own << doubled)).sum()
            }
            Self::Rest(_) | Self::Load(..) => START + own,
        }
    }

    /// fio's runtime; the laying out ends when all is written.
    pub fn millis(&self, options: &LearnOptions) -> u64 {
        let whole = (options.seconds * 1e3).max(30.0) as u64;
        match self {
            Self::LayOut => 0,
            Self::Rest(millis) => *millis,
            Self::Settle(_, doubled) => whole << doubled,
            Self::Burst => whole * 4,
            Self::Load(..) => whole / u64::from(REPEATS),
        }
    }
}

/// Requests in flight of sequential loads.
fn sequential_depth(options: &LearnOptions) -> u32 {
    if options.engine == IoEngine::Psync {
        1
    } else {
        32
    }
}

/// All loads, reads first: meanwhile the drive writes out what the laying out has left in its buffer.
pub fn profiles(options: &LearnOptions) -> Vec<LearnProfile> {
    let depth = sequential_depth(options);
    let mut all: Vec<LearnProfile> = DEPTHS
        .iter()
        .map(|depth| LearnProfile::read(4 * KIB, *depth))
        .collect();
    all.extend([16, 64, 256].map(|kib| LearnProfile::read(kib * KIB, 1)));
    if options.rotational {
        all.extend(SPANS[..4].iter().map(|span| LearnProfile {
            span: *span,
            ..LearnProfile::read(4 * KIB, 1)
        }));
    }
    all.extend([128, 1024].map(|kib| LearnProfile::read(kib * KIB, depth).sequential()));
    if options.writes {
        all.extend([128, 1024].map(|kib| LearnProfile::write(kib * KIB, depth).sequential()));
        all.extend([
            LearnProfile::write(4 * KIB, 1),
            LearnProfile::write(4 * KIB, 1).flushed(),
            LearnProfile::write(4 * KIB, 32),
        ]);
    }
    all
}

/// All runs of fio in their order. The repeats of a load are apart: what else goes on then hits one of them.
pub fn steps(options: &LearnOptions) -> Vec<LearnStep> {
    let profiles = profiles(options);
    let (writes, reads): (Vec<LearnProfile>, Vec<LearnProfile>) =
        profiles.into_iter().partition(|profile| profile.write);
    // Writes that are faster than the drive fill its buffer: they come last, and latencies while it is empty.
    let (single, filling): (Vec<LearnProfile>, Vec<LearnProfile>) = writes
        .into_iter()
        .partition(|profile| profile.depth == 1 && profile.random);
    let first = options.writes.then_some(LearnStep::LayOut);
    let burst = options.writes.then_some(LearnStep::Burst);
    let settle = filling
        .into_iter()
        .map(|profile| LearnStep::Settle(profile, 0));
    first
        .into_iter()
        .chain(repeated(&reads))
        .chain(burst)
        .chain(repeated(&single))
        .chain(settle)
        .collect()
}

/// All of them once, and all of them again.
fn repeated(profiles: &[LearnProfile]) -> impl Iterator<Item = LearnStep> {
    (0..REPEATS).flat_map(move |repeat| {
        profiles
            .iter()
            .map(move |profile| LearnStep::Load(*profile, repeat))
    })
}

/// fio's arguments for the `number`th step.
pub fn arguments(
    step: &LearnStep,
    number: usize,
    place: &MeasuredArea,
    options: &LearnOptions,
) -> Vec<String> {
    let mut args = common(number, place, options, engine(step, options));
    match step {
        LearnStep::LayOut => args.extend([
            "--name=layout".into(),
            "--rw=write".into(),
            "--bs=1M".into(),
            format!("--size={}", place.size.0),
            "--refill_buffers=1".into(),
            "--end_fsync=1".into(),
        ]),
        LearnStep::Rest(_) => {
            args.extend([
                "--name=rest".into(),
                "--rw=randread".into(),
                "--bs=4k".into(),
                "--rate_iops=1".into(),
                format!("--size={}", place.size.0),
                "--readonly".into(),
            ]);
            args.extend(timed(step, options));
        }
        LearnStep::Burst => {
            args.extend([
                "--name=burst".into(),
                "--rw=write".into(),
                "--bs=128k".into(),
                format!("--size={}", place.size.0),
            ]);
            args.extend(logged());
            args.extend(timed(step, options));
        }
        LearnStep::Load(profile, _) | LearnStep::Settle(profile, _) => {
            if matches!(step, LearnStep::Settle(..)) {
                args.extend(logged());
            }
            let direction = if profile.write { "write" } else { "read" };
            let random = if profile.random { "rand" } else { "" };
            let block = profile.block.0;
            let blocks = ((place.size.0 as f64 * profile.span) as u64 / block).max(1);
            args.extend([
                format!("--name={}", profile.name()),
                format!("--rw={random}{direction}"),
                format!("--bs={block}"),
                format!("--size={}", blocks * block),
            ]);
            args.extend(timed(step, options));
            if profile.random {
                args.push("--norandommap=1".into());
            }
            if profile.flush {
                // fdatasync: a file's time stamps would make the filesystem write its journal as well.
                args.push("--fdatasync=1".into());
            }
            if !profile.write {
                // fio itself then refuses to write.
                args.push("--readonly".into());
            }
        }
    }
    match step {
        LearnStep::LayOut | LearnStep::Burst => args.extend(one_thread(32, options)),
        LearnStep::Rest(_) => args.extend(one_thread(1, options)),
        LearnStep::Load(profile, _) if profile.flush => args.extend(one_thread(1, options)),
        LearnStep::Load(profile, _) | LearnStep::Settle(profile, _) if profile.random => {
            args.extend(in_flight(profile.depth, options));
        }
        LearnStep::Load(profile, _) | LearnStep::Settle(profile, _) => {
            args.extend(one_thread(profile.depth, options))
        }
    }
    args
}

fn timed(step: &LearnStep, options: &LearnOptions) -> [String; 2] {
    [
        "--time_based=1".to_owned(),
        format!("--runtime={}ms", step.millis(options)),
    ]
}

/// What fio's log begins with.
pub(super) const LOG: &str = "burst";

/// The speed every 100 ms, of all threads in one file.
fn logged() -> [String; 3] {
    let log = format!("--write_bw_log={LOG}");
    ["--log_avg_msec=100".into(), "--per_job_logs=0".into(), log]
}

/// A database writes and then waits for its flush. With libaio, fio's flush would wait for the write as well.
fn engine(step: &LearnStep, options: &LearnOptions) -> IoEngine {
    match step {
        LearnStep::Load(profile, _) if profile.flush => IoEngine::Psync,
        _ => options.engine,
    }
}

/// What is sequential, or logged, stays in one thread. Without asynchronous I/O that is one request at a time.
fn one_thread(depth: u32, options: &LearnOptions) -> [String; 2] {
    let depth = depth.min(sequential_depth(options));
    ["--numjobs=1".into(), format!("--iodepth={depth}")]
}

fn common(
    number: usize,
    place: &MeasuredArea,
    options: &LearnOptions,
    engine: IoEngine,
) -> Vec<String> {
    vec![
        format!("--filename={}", place.file),
        format!("--offset={}", place.offset),
        "--output-format=json+".into(),
        "--direct=1".into(),
        // Direct I/O needs none of it, and of a device it would write out what others have left dirty.
        "--invalidate=0".into(),
        "--thread=1".into(),
        "--group_reporting=1".into(),
        "--allow_file_create=0".into(),
        format!("--ioengine={}", engine.name()),
        // Knuth's multiplier: neighbouring numbers give unlike seeds.
        format!(
            "--randseed={}",
            (options.seed + number as u64 + 1).wrapping_mul(2_654_435_761) & 0x7fff_ffff
        ),
    ]
}

/// One thread makes about 200,000 requests a second: from depth 32 on they are shared among the CPUs.
fn in_flight(depth: u32, options: &LearnOptions) -> [String; 2] {
    let threads = match options.engine {
        IoEngine::Psync => depth,
        IoEngine::Libaio => (depth / 16).clamp(1, options.cpus.clamp(1, 8).next_power_of_two()),
    };
    [
        format!("--numjobs={threads}"),
        format!("--iodepth={}", depth / threads),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn options(writes: bool, engine: IoEngine) -> LearnOptions {
        LearnOptions {
            seconds: 5.0,
            writes,
            rotational: true,
            engine,
            cpus: 2,
            seed: 7,
        }
    }

    fn name(path: &str) -> FioName {
        FioName::new(Path::new(path)).unwrap()
    }

    fn place() -> MeasuredArea {
        MeasuredArea {
            logs: None,
            file: name("/data/.plimsoll-learn-1"),
            offset: 1 << 20,
            size: Bytes::mib(1024),
        }
    }

    fn lines(options: &LearnOptions) -> Vec<Vec<String>> {
        let steps = steps(options);
        steps
            .iter()
            .enumerate()
            .map(|(i, step)| arguments(step, i, &place(), options))
            .collect()
    }

    #[test]
    fn without_writes_every_run_is_read_only() {
        for line in lines(&options(false, IoEngine::Libaio)) {
            assert!(line.contains(&"--readonly".to_owned()), "{line:?}");
            assert!(
                !line
                    .iter()
                    .any(|arg| arg.contains("write") || arg.contains("fsync")),
                "{line:?}"
            );
        }
        let writing = lines(&options(true, IoEngine::Libaio));
        assert!(
            writing
                .iter()
                .any(|line| line.contains(&"--fdatasync=1".to_owned()))
        );
        assert!(
            writing[0].contains(&"--rw=write".to_owned()),
            "laid out first: {:?}",
            writing[0]
        );
    }

    #[test]
    fn every_run_has_its_own_seed_and_never_makes_a_file() {
        let lines = lines(&options(true, IoEngine::Libaio));
        let seeds: std::collections::BTreeSet<&String> = lines
            .iter()
            .flatten()
            .filter(|arg| arg.starts_with("--randseed"))
            .collect();
        assert_eq!(seeds.len(), lines.len());
        assert!(
            lines
                .iter()
                .all(|line| line.contains(&"--allow_file_create=0".to_owned()))
        );
        assert!(
            lines
                .iter()
                .all(|line| line.contains(&"--direct=1".to_owned()))
        );
    }

    #[test]
    fn all_requests_are_in_flight_and_what_is_sequential_stays_in_one_thread() {
        for engine in [IoEngine::Libaio, IoEngine::Psync] {
            let options = options(true, engine);
            for (step, line) in steps(&options).iter().zip(lines(&options)) {
                let of = |name: &str| {
                    let arg = line.iter().find_map(|arg| arg.strip_prefix(name)).unwrap();
                    arg.parse::<u32>().unwrap()
                };
                let of_log = sequential_depth(&options);
                let (depth, random) = match step {
                    LearnStep::Load(profile, _) | LearnStep::Settle(profile, _) => {
                        (profile.depth, profile.random)
                    }
                    _ => (of_log, false),
                };
                assert_eq!(of("--numjobs=") * of("--iodepth="), depth, "{line:?}");
                assert!(random || of("--numjobs=") == 1, "{line:?}");
            }
        }
    }

    #[test]
    fn runtimes_are_whole_milliseconds() {
        // fio reads `runtime=0.8` as 0 and runs the whole size.
        for seconds in [0.01, 0.8, 5.0] {
            let options = LearnOptions {
                seconds,
                ..options(true, IoEngine::Libaio)
            };
            for (step, line) in steps(&options).iter().zip(lines(&options)).skip(1) {
                let time = line
                    .iter()
                    .find_map(|arg| arg.strip_prefix("--runtime=")?.strip_suffix("ms"))
                    .unwrap();
                assert!(
                    time.parse::<u64>().unwrap() >= 10,
                    "{} {line:?}",
                    step.name()
                );
            }
        }
    }

    /// With libaio, fio's flush waits for the write that was only handed over: its time would hold the write's.
    #[test]
    fn synced_writes_are_made_as_a_database_makes_them() {
        let options = options(true, IoEngine::Libaio);
        let synced: Vec<Vec<String>> = lines(&options)
            .into_iter()
            .filter(|line| line.contains(&"--fdatasync=1".to_owned()))
            .collect();
        assert!(!synced.is_empty());
        for line in synced {
            for arg in ["--ioengine=psync", "--numjobs=1", "--iodepth=1"] {
                assert!(line.contains(&arg.to_owned()), "{arg} is not in {line:?}");
            }
        }
    }

    #[test]
    fn a_colon_does_not_end_the_name_of_the_file() {
        let place = MeasuredArea {
            file: name("/data/a:b/c"),
            ..place()
        };
        let options = options(false, IoEngine::Libaio);
        let line = arguments(
            &LearnStep::Load(LearnProfile::read(4096, 1), 0),
            0,
            &place,
            &options,
        );
        assert!(
            line.contains(&"--filename=/data/a\\:b/c".to_owned()),
            "{line:?}"
        );
    }

    #[test]
    fn spans_are_whole_blocks_of_the_measured_part() {
        let options = options(false, IoEngine::Libaio);
        let narrow = LearnProfile {
            span: 0.001,
            ..LearnProfile::read(4096, 1)
        };
        let line = arguments(&LearnStep::Load(narrow, 0), 0, &place(), &options);
        assert!(line.contains(&"--size=1073152".to_owned()), "{line:?}");
        assert_eq!(narrow.name(), "randread 4K QD1 span 0.1%");
    }
}
