//! Block workloads that plimsoll has at hand, with their sources: the files in `profiles/`, as they are.

use std::sync::OnceLock;

use super::{job, scaled};
use crate::findings::Findings;
use crate::raw::RawProfile;
use crate::resolved::BlockJob;
use crate::units::Bytes;
use crate::value::{At, OptionalKey, RawText};
use crate::{PlanErrors, read, suggestion};

/// Jobs under a name that is known in the field.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Name of the file without `.toml`.
    pub name: &'static str,
    pub title: String,
    /// What it is for, and what of it is invented.
    pub about: String,
    /// A paper, a tool, a clause.
    pub source: String,
    /// What a plan that leaves these out gets; `None`: what any block workload gets.
    pub workers: Option<u32>,
    pub size: Option<Bytes>,
    pub fill: Option<f64>,
    pub jobs: Vec<BlockJob>,
}

/// A name that is not among the profiles.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{name}`\n{help}")]
pub struct UnknownProfile {
    pub name: String,
    /// What to do about it.
    pub help: String,
}

macro_rules! entries {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../../profiles/", $name, ".toml")))),*]
    };
}

/// By name.
const ENTRIES: &[(&str, &str)] = entries![
    "crystaldiskmark",
    "crystaldiskmark-nvme",
    "four-corners",
    "four-corners-maximum",
    "fsync-ladder",
    "hcibench-easy-run",
    "k-a",
    "k-b",
    "k-hci",
    "snia-iops",
    "snia-latency",
    "snia-throughput",
    "snia-write-saturation",
    "sql-data-and-log",
    "vdi-boot",
    "vdi-desktop",
    "vdi-login",
];

/// All of them, by name.
pub fn all() -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        ENTRIES
            .iter()
            .map(|(name, text)| parse(name, text).expect("a test reads every profile"))
            .collect()
    })
}

/// The profile of this name.
///
/// # Errors
/// There is none; suggests the nearest name.
pub fn find(name: &str) -> Result<&'static Profile, UnknownProfile> {
    all()
        .iter()
        .find(|profile| profile.name == name)
        .ok_or_else(|| {
            let known: Vec<&str> = all().iter().map(|profile| profile.name).collect();
            UnknownProfile {
                name: name.to_owned(),
                help: suggestion(name, &known, ""),
            }
        })
}

fn parse(name: &'static str, text: &str) -> Result<Profile, PlanErrors> {
    let mut findings = Findings::new(text);
    let raw: Option<RawProfile> = read::read(&mut findings);
    let profile = raw.and_then(|raw| resolve(name, &raw, &mut findings));
    let (profile, warnings) = findings.finish(profile)?;
    if warnings.is_empty() {
        Ok(profile)
    } else {
        Err(PlanErrors(warnings))
    }
}

/// A profile as it was read, by the rules of block workloads in plans.
fn resolve(name: &'static str, raw: &RawProfile, findings: &mut Findings<'_>) -> Option<Profile> {
    let title = line("title", &raw.title, findings);
    let about = line("about", &raw.about, findings);
    let source = line("source", &raw.source, findings);
    if raw.job.is_empty() {
        findings.error(0..0, "there is no job", "add one: [[job]]");
    }
    let jobs = job::resolve_list(&raw.job, findings);
    Some(Profile {
        name,
        title: title?,
        about: about?,
        source: source?,
        workers: raw.workers.value(),
        size: raw.size.value().map(|size| scaled(size, 1.0)),
        fill: raw.fill.value(),
        jobs: jobs?,
    })
}

fn line(key: &str, value: &Option<At<RawText>>, findings: &mut Findings<'_>) -> Option<String> {
    let help = "a profile states what it is and where it comes from";
    findings.required(&(0..0), key, value, help).map(At::value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::resolved::{Access, BlockStream, SyncPolicy, Zone};
    use crate::{Options, describe};

    fn of(name: &str) -> &'static Profile {
        find(name).unwrap_or_else(|error| panic!("{error}"))
    }

    fn lone(job: &BlockJob) -> &BlockStream {
        let [only] = job.streams.as_slice() else {
            panic!("{job:?}")
        };
        only
    }

    /// Name, reads, random, bytes, depth and threads of each job that has one stream of one size.
    fn shape(name: &str) -> Vec<(&'static str, u32, u32, u64, u32, u32)> {
        let of_job = |job: &'static BlockJob| {
            let BlockStream {
                read_percent,
                random_percent,
                read_sizes,
                depth,
                threads,
                ..
            } = lone(job);
            (
                job.name.as_str(),
                *read_percent,
                *random_percent,
                read_sizes[0].size.0,
                *depth,
                *threads,
            )
        };
        of(name).jobs.iter().map(of_job).collect()
    }

    /// In bytes, over reads and writes of the same sizes.
    fn mean_size(stream: &BlockStream) -> f64 {
        assert_eq!(stream.read_sizes, stream.write_sizes);
        stream
            .read_sizes
            .iter()
            .map(|share| share.size.0 as f64 * f64::from(share.percent) / 100.0)
            .sum()
    }

    #[test]
    fn every_profile_is_right_and_has_a_source() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles");
        let files = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> = files
            .map(|file| file.strip_suffix(".toml").unwrap_or(&file).to_owned())
            .collect();
        files.sort();
        let names: Vec<&str> = ENTRIES.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            files, names,
            "the files in profiles/ are the profiles, in this order"
        );
        for (name, text) in ENTRIES {
            let profile = parse(name, text).unwrap_or_else(|errors| panic!("{name}: {errors}"));
            for line in [&profile.title, &profile.about, &profile.source] {
                assert!(
                    line.len() > 8 && !line.contains("  ") && !line.contains('\n'),
                    "{name}: {line:?}"
                );
            }
        }
    }

    #[test]
    fn every_profile_survives_being_described_in_a_plan() {
        for Profile { name, .. } in all() {
            let text = format!(
                "title = \"t\"\n[medium.m]\npath = \".\"\n[workload.w.block]\nprofile = \"{name}\"\n[[step]]\nrun = \"w\"\n"
            );
            let read = |text: &str| {
                crate::parse(text, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
            };
            let parsed = read(&text);
            assert_eq!(parsed.warnings, [], "{name}");
            assert_eq!(read(&describe(&parsed.plan)).plan, parsed.plan, "{name}");
        }
    }

    #[test]
    fn corners_are_those_of_the_article() {
        let corners = [
            ("RND4K T128 read", 100, 100, 4096, 1, 128),
            ("RND4K T128 write", 0, 100, 4096, 1, 128),
            ("SEQ64K T32 read", 100, 0, 65536, 1, 32),
            ("SEQ64K T16 write", 0, 0, 65536, 1, 16),
        ];
        assert_eq!(shape("four-corners"), corners);
        assert_eq!(shape("four-corners-maximum"), corners);
        let curve = |name| {
            of(name)
                .jobs
                .iter()
                .map(|job| job.curve.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (curve("four-corners"), curve("four-corners-maximum")),
            (vec![11; 4], vec![0; 4])
        );
    }

    #[test]
    fn crystaldiskmark_has_its_own_settings() {
        let with_reads_first = |rows: [(&'static str, u32, u64, u32, u32); 4]| -> Vec<_> {
            let of = |reads: u32| {
                rows.map(|(name, random, size, depth, threads)| {
                    (name, reads, random, size, depth, threads)
                })
            };
            of(100).into_iter().chain(of(0)).collect()
        };
        let bare = |name: &'static str| -> Vec<_> {
            let named = |(job, reads, random, size, depth, threads): (
                &'static str,
                u32,
                u32,
                u64,
                u32,
                u32,
            )| {
                (
                    job.trim_end_matches(" read").trim_end_matches(" write"),
                    reads,
                    random,
                    size,
                    depth,
                    threads,
                )
            };
            shape(name).into_iter().map(named).collect()
        };
        let (mib, q8, q1) = (
            1 << 20,
            ("SEQ1M Q8T1", 0, 1 << 20, 8, 1),
            ("RND4K Q1T1", 100, 4096, 1, 1),
        );
        let default = with_reads_first([
            q8,
            ("SEQ1M Q1T1", 0, mib, 1, 1),
            ("RND4K Q32T1", 100, 4096, 32, 1),
            q1,
        ]);
        assert_eq!(bare("crystaldiskmark"), default);
        let sequential = ("SEQ128K Q32T1", 0, 131_072, 32, 1);
        let nvme = with_reads_first([q8, sequential, ("RND4K Q32T16", 100, 4096, 32, 16), q1]);
        assert_eq!(bare("crystaldiskmark-nvme"), nvme);
        assert_eq!(of("crystaldiskmark").size, Some(Bytes::mib(1024)));
    }

    #[test]
    fn the_white_paper_is_followed() {
        assert_eq!(shape("k-a"), [("RND4K Q32T1 75/25", 75, 100, 4096, 32, 1)]);
        let sequential = |reads, name| (name, reads, 0, 262_144, 32, 1);
        assert_eq!(
            shape("k-b"),
            [
                sequential(100, "SEQ256K Q32T1 read"),
                sequential(0, "SEQ256K Q32T1 write")
            ]
        );
        let sweep = shape("k-hci");
        assert!(
            sweep
                .iter()
                .all(|(.., depth, threads)| (*depth, *threads) == (8, 4))
        );
        assert_eq!(of("k-hci").workers, Some(6));
        let sizes = |reads| -> Vec<u64> {
            sweep
                .iter()
                .filter(|(_, read, ..)| *read == reads)
                .map(|(_, _, _, size, ..)| size >> 10)
                .collect()
        };
        assert_eq!(sizes(70), [4, 8, 16, 32, 64]);
        assert_eq!(
            (sizes(100), sizes(0)),
            (vec![4, 8, 16, 32, 64, 128, 256, 512, 1024], sizes(100))
        );
        let easy: Vec<(u32, u32)> = shape("hcibench-easy-run")
            .iter()
            .map(|(_, read, random, ..)| (*read, *random))
            .collect();
        assert_eq!(
            easy,
            [(70, 100), (50, 100), (100, 100), (0, 100), (100, 0), (0, 0)]
        );
        assert!(
            of("hcibench-easy-run")
                .jobs
                .iter()
                .all(|job| lone(job).compressible_percent == 50)
        );
    }

    #[test]
    fn vmfleet_has_its_own_profiles() {
        let zone = |requests_percent, space_percent| Zone {
            requests_percent,
            space_percent,
        };
        let hot = Access::Zoned(vec![zone(95, 5), zone(4, 10), zone(1, 85)]);
        let [pair] = of("sql-data-and-log").jobs.as_slice() else {
            panic!()
        };
        let [data, log] = pair.streams.as_slice() else {
            panic!()
        };
        assert_eq!(
            (
                data.read_percent,
                data.in_flight(),
                data.per_second,
                &data.access
            ),
            (70, 128, Some(1500.0), &hot)
        );
        assert_eq!(
            (log.read_percent, log.in_flight(), log.per_second),
            (0, 1, Some(300.0))
        );
        assert_eq!((mean_size(data), mean_size(log)), (8192.0, 32768.0));
        assert!(
            [data, log]
                .iter()
                .all(|stream| stream.sync == SyncPolicy::EachWrite && stream.direct)
        );
        let [desktop] = of("vdi-desktop").jobs.as_slice() else {
            panic!()
        };
        let [writes, reads] = desktop.streams.as_slice() else {
            panic!()
        };
        assert_eq!(
            (
                writes.read_percent,
                writes.random_percent,
                mean_size(writes)
            ),
            (0, 20, 32768.0)
        );
        assert_eq!(
            (reads.read_percent, reads.random_percent, mean_size(reads)),
            (100, 80, 8192.0)
        );
        assert!(
            [writes, reads]
                .iter()
                .all(|stream| stream.per_second == Some(6.0) && stream.access == hot)
        );
    }

    #[test]
    fn desktops_boot_with_requests_of_the_published_mean() {
        let boot = lone(&of("vdi-boot").jobs[0]);
        assert!(
            (mean_size(boot) - 13_800.0).abs() < 50.0,
            "{}",
            mean_size(boot)
        );
        assert!(boot.read_percent > 50, "reads dominate");
        for name in ["vdi-boot", "vdi-login"] {
            assert!(
                of(name).about.contains("nvented") && of(name).source.contains("invented"),
                "{name} states it"
            );
        }
    }

    #[test]
    fn snia_combines_what_its_tests_combine() {
        let grid = |mixes: &[u32], sizes: &[u64]| -> Vec<(u32, u64)> {
            mixes
                .iter()
                .flat_map(|mix| sizes.iter().map(|size| (*mix, *size)))
                .collect()
        };
        let of_profile = |name| {
            shape(name)
                .iter()
                .map(|(_, reads, _, size, ..)| (*reads, *size))
                .collect::<Vec<_>>()
        };
        let sizes = [
            1024 << 10,
            128 << 10,
            64 << 10,
            32 << 10,
            16 << 10,
            8 << 10,
            4 << 10,
            512,
        ];
        assert_eq!(
            of_profile("snia-iops"),
            grid(&[100, 95, 65, 50, 35, 5, 0], &sizes)
        );
        assert_eq!(of_profile("snia-latency"), grid(&[100, 65, 0], &sizes[5..]));
        assert_eq!(
            of_profile("snia-throughput"),
            [
                (100, 1 << 20),
                (0, 1 << 20),
                (100, 128 << 10),
                (0, 128 << 10)
            ]
        );
        assert!(
            shape("snia-latency")
                .iter()
                .all(|(.., depth, threads)| (*depth, *threads) == (1, 1))
        );
        assert_eq!(of_profile("snia-write-saturation"), [(0, 4096)]);
        let fill = |name| of(name).fill;
        assert!(
            ["snia-iops", "snia-latency", "snia-throughput"]
                .iter()
                .all(|name| fill(name) == Some(2.0))
        );
        assert_eq!(
            fill("snia-write-saturation"),
            Some(0.0),
            "onto an empty drive"
        );
    }

    #[test]
    fn writers_climb_the_ladder() {
        let threads: Vec<u32> = shape("fsync-ladder")
            .iter()
            .map(|(.., threads)| *threads)
            .collect();
        assert_eq!(threads, [1, 2, 4, 8, 16]);
        let durable =
            |job: &BlockJob| lone(job).sync == SyncPolicy::Flush { every: 1 } && !lone(job).direct;
        assert!(of("fsync-ladder").jobs.iter().all(durable));
    }

    #[test]
    fn an_unknown_name_is_reported() {
        let message = find("four-corner").unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no profile `four-corner`\ndid you mean `four-corners`?"
        );
    }

    #[test]
    fn faults_of_profiles_are_reported() {
        let message = |text: &str| parse("x", text).unwrap_err().to_string();
        for part in [
            "`title` is missing",
            "`about` is missing",
            "`source` is missing",
        ] {
            assert!(message("").contains(part), "{}", message(""));
        }
        let head = "title = \"t\"\nabout = \"a\"\nsource = \"s\"\n";
        assert!(
            message(head).contains("there is no job"),
            "{}",
            message(head)
        );
        let wrong = format!(
            "{head}workers = 0\njob = [{{ name = \"j\", read = 100, random = 0, block = \"4KiB\" }}]"
        );
        assert!(
            message(&wrong).contains("`workers` cannot be 0"),
            "{}",
            message(&wrong)
        );
        let odd = format!(
            "{head}job = [{{ name = \"j\", read = 100, random = 0, block = \"4KiB\", sync = \"each_write\" }}]"
        );
        assert!(
            message(&odd).contains("`sync` changes nothing"),
            "{}",
            message(&odd)
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in "(?s).{0,200}") {
            let _ = parse("x", &text);
        }
    }
}
