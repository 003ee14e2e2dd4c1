//! Figures of block I/O as real runs have them, made up: corners with curves on three media, a sweep of sizes and depths
//! in rounds that one medium does not end, a ladder of writers. For tests, and for example reports.

use plimsoll_analysis::summary::{
    BlockCurvePoint, BlockFigures, BlockJobSummary, BlockMedium, BlockOpSummary, BlockPointSummary,
    BlockSecond, BlockSummary, BlockWorkerSummary, DiagnosisSummary, Estimate, FigureId, FigureSet,
    Interval, LatencySummary, Ratio, Rounds, RoundsOfJob, Steady, Verdict,
};
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::{BlockStreamInfo, Diagnosis, DiagnosisLevel};
use plimsoll_stats::rounds::Fit;

const MEDIA: [(&str, Option<&str>, f64); 3] = [
    ("nvme", Some("Kingston DC1500M 960 GB"), 1.0),
    ("sata", None, 0.21),
    ("disk", Some("Seagate Constellation.2"), 0.004),
];

/// In 0..1, the same for ever.
fn noise(n: usize) -> f64 {
    (n as f64 * 0.618_033_988_749_895).fract()
}

pub fn blocks() -> Vec<BlockSummary> {
    vec![corners(0), sweep(1), writers(2)]
}

fn step(name: &str, index: u32, profile: &str, media: Vec<BlockMedium>) -> BlockSummary {
    BlockSummary {
        step: name.into(),
        step_index: index,
        workload: name.into(),
        profile: profile.into(),
        media,
    }
}

fn stream(read: u32, random: u32, bytes: u64, depth: u32, threads: u32) -> BlockStreamInfo {
    BlockStreamInfo {
        name: String::new(),
        read_percent: read,
        random_percent: random,
        read_sizes: vec![(bytes, 100)],
        write_sizes: vec![(bytes, 100)],
        depth,
        threads,
        per_second: None,
        access: "uniform".into(),
        compressible_percent: 50,
        direct: true,
        sync: "none".into(),
    }
}

/// A job on a medium of this speed: what it takes to make its points.
struct JobDemand<'a> {
    medium: &'a str,
    name: &'a str,
    stream: BlockStreamInfo,
    workers: u32,
    /// At full speed.
    iops: f64,
}

impl JobDemand<'_> {
    fn bytes(&self) -> f64 {
        self.stream.read_sizes[0].0 as f64
    }

    fn latency(&self, iops: f64) -> LatencySummary {
        let in_flight = f64::from(self.workers * self.stream.depth * self.stream.threads);
        let busy = (iops / self.iops).min(0.999);
        let mean = in_flight / self.iops * 1e3 * (0.12 + 0.88 * busy.powi(6));
        LatencySummary {
            count: 1,
            mean_ms: mean,
            p50_ms: mean * 0.86,
            p90_ms: mean * (1.5 + 1.5 * busy),
            p95_ms: mean * (1.7 + 2.0 * busy),
            p99_ms: mean * (2.4 + 9.0 * busy),
            p999_ms: mean * (4.0 + 21.0 * busy),
            max_ms: mean * 61.0,
            at_least_from_ms: None,
        }
    }

    fn point(&self, round: u32, share: Option<f64>, iops: f64, at_s: f64) -> BlockPointSummary {
        let latency = self.latency(iops);
        let half = iops * 0.013 * (1.0 + noise(round as usize));
        let seconds = |s: usize| {
            let (n, wave) = (
                iops * (0.9 + 0.2 * noise(s + round as usize * 31)),
                0.8 + 0.5 * noise(s * 7 + 3),
            );
            let shown = |ms: f64| Some(ms * 1e3 * wave).filter(|_| s != 6);
            BlockSecond {
                at_s: at_s + s as f64 + 1.0,
                seconds: 1.0,
                measured: s >= 3,
                requests: n as u64,
                bytes: (n * self.bytes()) as u64,
                p50_us: shown(latency.p50_ms),
                p95_us: shown(latency.p95_ms),
                p99_us: shown(latency.p99_ms),
                max_us: shown(latency.max_ms),
            }
        };
        let op = |op: &str, share: f64| BlockOpSummary {
            op: op.into(),
            requests: (iops * 15.0 * share) as u64,
            figures: rates(iops * share, iops * share * self.bytes()).with_times(Some(latency)),
        };
        let reads = f64::from(self.stream.read_percent) / 100.0;
        let mut by_op = vec![op("read", reads), op("write", 1.0 - reads)];
        by_op.retain(|op| op.requests > 0);
        if self.stream.sync == "flush:1" {
            by_op.push(BlockOpSummary {
                figures: rates(iops, 0.0).with_times(Some(latency)),
                ..op("sync", 1.0)
            });
        }
        BlockPointSummary {
            point: round,
            round,
            counts: true,
            share_percent: share,
            offered_per_second: share.map(|share| self.iops * share / 100.0),
            measured_s: 15.0,
            figures: rates(iops, iops * self.bytes())
                .with(
                    FigureId::Iops,
                    Estimate::single(iops, Some(Interval::new(iops, iops - half, iops + half))),
                )
                .with_times(Some(latency)),
            steady: Steady::TooShort,
            halves: None,
            steal_percent: None,
            conservation: Default::default(),
            drives: Vec::new(),
            iops_spread: None,
            by_op,
            workers: self.workers(iops),
            workers_cv_percent: (self.workers > 1).then_some(4.2),
            in_flight_by_little: Some(iops * latency.mean_ms / 1e3),
            in_flight: self.workers * self.stream.depth * self.stream.threads,
            keeps_in_flight: true,
            seconds: (0..18).map(seconds).collect(),
            findings: Vec::new(),
            verdict: Verdict::Valid,
        }
    }

    fn workers(&self, iops: f64) -> Vec<BlockWorkerSummary> {
        let n = f64::from(self.workers);
        let worker = |worker: u32| {
            let own = iops / n * (0.95 + 0.1 * f64::from(worker) / (n - 1.0).max(1.0));
            BlockWorkerSummary {
                worker,
                medium: self.medium.into(),
                figures: rates(own, own * self.bytes())
                    .with(
                        FigureId::Mean,
                        plain(f64::from(self.stream.depth) / own * 1e3),
                    )
                    .with(
                        FigureId::P99,
                        plain(f64::from(self.stream.depth) / own * 5e3),
                    ),
            }
        };
        (0..self.workers).map(worker).collect()
    }

    fn curve(&self) -> Vec<BlockCurvePoint> {
        let shares = [
            10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0, 120.0,
        ];
        let at = |(i, share): (usize, f64)| {
            let achieved = (self.iops * share / 100.0).min(self.iops * 0.985);
            let point = self.point(0, Some(share), achieved, 20.0 + 18.0 * i as f64);
            BlockCurvePoint {
                share_percent: share,
                offered_per_second: self.iops * share / 100.0,
                figures: point.figures.clone(),
                points: vec![point],
                verdict: Verdict::Valid,
            }
        };
        shares.into_iter().enumerate().map(at).collect()
    }

    /// Over the last `counted` of these rounds.
    fn job(&self, index: u32, rounds: &[f64], counted: usize, curve: bool) -> BlockJobSummary {
        let point = |(round, iops): (usize, &f64)| {
            self.point(round as u32, None, *iops, 20.0 * round as f64)
        };
        let points: Vec<BlockPointSummary> = rounds.iter().enumerate().map(point).collect();
        let typical = &points[points.len() - 1];
        let iops = typical.value(FigureId::Iops).unwrap_or_default();
        let figure = |value: f64, interval: bool| {
            let interval = interval.then_some(Interval::new(value, value * 0.96, value * 1.035));
            Estimate {
                value,
                interval,
                min: value * 0.95,
                max: value * 1.04,
                n: counted as u64,
            }
        };
        let rates = FigureSet::default()
            .with(FigureId::Iops, Some(figure(iops, true)))
            .with(
                FigureId::MbPerSecond,
                Some(figure(iops * self.bytes() / 1e6, true)),
            );
        BlockJobSummary {
            job: self.name.into(),
            job_index: index,
            streams: vec![self.stream.clone()],
            figures: Some(BlockFigures {
                rounds: counted as u32,
                figures: FigureId::TIMES.into_iter().fold(rates, |figures, time| {
                    figures.with(time, typical.value(time).map(|ms| figure(ms, false)))
                }),
            }),
            by_op: typical.by_op.clone(),
            typical: Some(points.len() - 1),
            against_first: None,
            curve: if curve { self.curve() } else { Vec::new() },
            verdict: Verdict::Valid,
            points,
        }
    }
}

fn plain(value: f64) -> Option<Estimate> {
    Estimate::single(value, None)
}

fn rates(iops: f64, bytes_per_second: f64) -> FigureSet {
    FigureSet::default()
        .with(FigureId::Iops, plain(iops))
        .with(FigureId::MbPerSecond, plain(bytes_per_second / 1e6))
}

fn medium(place: usize, workers: u32, jobs: Vec<BlockJobSummary>) -> BlockMedium {
    let (name, drive, _) = MEDIA[place];
    let verdict = jobs.iter().map(|job| job.verdict).max().unwrap_or_default();
    BlockMedium {
        medium: name.into(),
        drive: drive.map(str::to_owned),
        slower: None,
        workers,
        worker_bytes: 1 << 30,
        jobs,
        rounds: None,
        findings: Vec::new(),
        verdict,
    }
}

fn against(first: &BlockMedium, other: &mut BlockMedium) {
    for (own, base) in other.jobs.iter_mut().zip(&first.jobs) {
        let Some((a, b)) = own
            .figures
            .as_ref()
            .zip(base.figures.as_ref())
            .filter(|_| own.verdict < Verdict::Invalid)
        else {
            continue;
        };
        let ratios = a
            .figures
            .ratios(&[FigureId::Iops, FigureId::Mean], &b.figures);
        let with_ends = ratios.iter().map(|(figure, Ratio { ratio, .. })| {
            let ends = Interval::new(ratio, ratio * 0.94, ratio * 1.06);
            let interval = (figure == FigureId::Iops).then_some(ends);
            (figure, Ratio { ratio, interval })
        });
        own.against_first = Some(with_ends.collect());
    }
}

fn compared(mut media: Vec<BlockMedium>) -> Vec<BlockMedium> {
    let Some((first, others)) = media.split_first_mut() else {
        return media;
    };
    others.iter_mut().for_each(|other| against(first, other));
    media
}

/// Six workers; random reads have curves; one job on the disk cannot be used.
fn corners(index: u32) -> BlockSummary {
    let jobs = [
        ("RND4K Q32T1 read", 100, 100, 4096, 32, 480_000.0),
        ("RND4K Q32T1 write", 0, 100, 4096, 32, 150_000.0),
        ("SEQ128K Q8T1 read", 100, 0, 131_072, 8, 24_000.0),
        ("SEQ128K Q8T1 write", 0, 0, 131_072, 8, 13_000.0),
    ];
    let on = |place: usize| {
        let job = |(i, (name, read, random, bytes, depth, iops)): (
            usize,
            (&str, u32, u32, u64, u32, f64),
        )| {
            let speed = if random == 0 {
                MEDIA[place].2.powf(0.55)
            } else {
                MEDIA[place].2
            };
            let stream = stream(read, random, bytes, depth, 1);
            let load = JobDemand {
                medium: MEDIA[place].0,
                name,
                stream,
                workers: 6,
                iops: iops * speed,
            };
            let mut job = load.job(i as u32, &[iops * speed], 1, i == 0 || i == 2);
            if (place, i) == (2, 1) {
                job.verdict = Verdict::Invalid;
            }
            if (place, i) == (1, 2) {
                job.verdict = Verdict::Doubtful;
            }
            if let Some(last) = job.curve.last_mut().filter(|_| place == 1) {
                last.verdict = Verdict::Invalid;
            }
            job
        };
        medium(place, 6, jobs.into_iter().enumerate().map(job).collect())
    };
    step(
        "corners",
        index,
        "four-corners",
        compared((0..3).map(on).collect()),
    )
}

/// Random writes of four sizes at three depths on two media, of which the second is never steady.
fn sweep(index: u32) -> BlockSummary {
    let on = |place: usize| {
        let loads = [512u64, 4096, 16_384, 131_072]
            .into_iter()
            .flat_map(|bytes| [1u32, 8, 32].map(|depth| (bytes, depth)));
        let counts = if place == 0 { 8 } else { 25 };
        let mut of_rounds = Vec::new();
        let job = |(i, (bytes, depth)): (usize, (u64, u32))| {
            let name = format!("random write {} B Q{depth}", bytes);
            let top = 300_000.0 * MEDIA[place].2 * f64::from(depth) / (f64::from(depth) + 6.0)
                * 4096.0
                / (4096.0 + bytes as f64);
            let settled = |round: usize| match place {
                0 => top * (1.0 + 1.4 * (-(round as f64) / 1.2).exp() + 0.03 * noise(round + i)),
                _ => top * (1.0 + 0.9 * noise(round * 3 + i)),
            };
            let rounds: Vec<f64> = (0..counts).map(settled).collect();
            of_rounds.push(RoundsOfJob {
                job: name.clone(),
                fit: fit(&rounds),
                iops: rounds.clone(),
            });
            let stream = stream(0, 100, bytes, depth, 1);
            let load = JobDemand {
                medium: MEDIA[place].0,
                name: &name,
                stream,
                workers: 1,
                iops: top * 2.5,
            };
            load.job(
                i as u32,
                &rounds,
                if place == 0 { 5 } else { counts },
                false,
            )
        };
        let jobs = loads.enumerate().map(job).collect();
        let mut medium = medium(place, 1, jobs);
        medium.rounds = Some(Rounds {
            window: 5,
            range_percent_limit: 20.0,
            slope_percent_limit: 10.0,
            most_rounds: 25,
            reached_at: (place == 0).then_some(7),
            jobs: of_rounds,
        });
        medium
    };
    step("sweep", index, "", compared((0..2).map(on).collect()))
}

fn fit(rounds: &[f64]) -> Option<Fit> {
    let window = rounds.get(rounds.len().checked_sub(5)?..)?;
    let mean = window.iter().sum::<f64>() / 5.0;
    let slope = (0..5).map(|i| (i as f64 - 2.0) * window[i]).sum::<f64>() / 10.0;
    let ends = |pick: fn(f64, f64) -> f64| window.iter().copied().reduce(pick).unwrap_or_default();
    let range_percent = (ends(f64::max) - ends(f64::min)) / mean * 100.0;
    let slope_percent = slope * 4.0 / mean * 100.0;
    Some(Fit {
        from: rounds.len() as u32 - 5,
        mean,
        range_percent,
        slope_percent,
        line_from: mean - 2.0 * slope,
        line_to: mean + 2.0 * slope,
        steady: range_percent <= 20.0 && slope_percent.abs() <= 10.0,
    })
}

/// Threads that flush after each write.
fn writers(index: u32) -> BlockSummary {
    let on = |place: usize| {
        let job = |(i, threads): (usize, u32)| {
            let name = format!("fsync, {threads} writers");
            let stream = BlockStreamInfo {
                sync: "flush:1".into(),
                ..stream(0, 100, 4096, 1, threads)
            };
            let iops = 21_000.0 * MEDIA[place].2 * f64::from(threads) / (f64::from(threads) + 3.0);
            let load = JobDemand {
                medium: MEDIA[place].0,
                name: &name,
                stream,
                workers: 1,
                iops,
            };
            load.job(i as u32, &[iops], 1, false)
        };
        medium(
            place,
            1,
            [1, 2, 4, 8, 16].into_iter().enumerate().map(job).collect(),
        )
    };
    step(
        "fsync",
        index,
        "fsync-ladder",
        compared((0..3).map(on).collect()),
    )
}

pub fn diagnoses() -> Vec<DiagnosisSummary> {
    let describe =
        |medium: Option<&str>, code: &str, level, found: &str, next: &str| DiagnosisSummary {
            medium: medium.map(str::to_owned),
            diagnosis: Diagnosis {
                subject: None,
                code: code.into(),
                level,
                disk: None,
                finding: DoctorFinding::Stored {
                    found: found.into(),
                    next: Some(next.into()),
                },
            },
        };
    use DiagnosisLevel::{Error, Ok, Unknown, Warning};
    vec![
        describe(None, "governor", Ok, "performance on 2 of 2 CPUs", ""),
        describe(
            None,
            "steal",
            Warning,
            "3.1 % of CPU time was stolen by the hypervisor over 5 s",
            "Use a machine of its own, or repeat when its host is idle.",
        ),
        describe(
            Some("nvme"),
            "flush_honesty",
            Error,
            "41,200 synced writes/s against 43,900 unsynced: flushes do nothing",
            "Do not keep data that matters here; look for a write cache without power-loss protection.",
        ),
        describe(Some("nvme"), "scheduler", Ok, "none", ""),
        describe(
            Some("sata"),
            "smart",
            Unknown,
            "smartctl is not installed",
            "apt-get install smartmontools",
        ),
        describe(Some("sata"), "write_cache", Ok, "write through", ""),
    ]
}
