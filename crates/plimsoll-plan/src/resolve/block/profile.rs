//! Block workloads that plimsoll has at hand, with their sources: the files in `profiles/`, as they are.

use std::sync::OnceLock;

use super::{file, job};
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
        size: raw.size.value().map(|size| file::scaled(size, 1.0)),
        fill: raw.fill.value(),
        jobs,
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

    /// What a name such as `RND4K Q32T1 75/25` states of a job: `None` where it states nothing.
    #[derive(Debug, PartialEq)]
    struct StatedShape {
        random: u32,
        size: Option<Bytes>,
        read: Option<u32>,
        depth: Option<u32>,
        threads: Option<u32>,
    }

    fn stated(name: &str) -> Option<StatedShape> {
        let mut words = name.split(' ');
        let first = words.next()?;
        let (random, size) = match first.split_at_checked(3)? {
            ("RND", size) => (100, size),
            ("SEQ", size) => (0, size),
            _ => return None,
        };
        let unit = if size.ends_with('B') { "" } else { "iB" };
        let mut shape = StatedShape {
            random,
            size: crate::size::parse(&format!("{size}{unit}")).ok(),
            read: None,
            depth: None,
            threads: None,
        };
        for word in words {
            let number = |text: &str| text.parse().ok();
            match word.split_once(['T', '/']) {
                Some((depth, threads)) if word.contains('T') => {
                    shape.depth = number(depth.trim_start_matches('Q'));
                    shape.threads = number(threads);
                }
                Some((read, _)) => shape.read = number(read),
                None => shape.read = Some(if word == "read" { 100 } else { 0 }),
            }
        }
        Some(shape)
    }

    #[test]
    fn jobs_do_what_their_names_state() {
        let mut checked = 0;
        for job in all().iter().flat_map(|profile| &profile.jobs) {
            let Some(stated) = stated(&job.name) else {
                continue;
            };
            let stream = lone(job);
            let is = StatedShape {
                random: stream.random_percent,
                size: Some(stream.read_sizes[0].size),
                read: stated.read.map(|_| stream.read_percent),
                depth: stated.depth.map(|_| stream.depth),
                threads: stated.threads.map(|_| stream.threads),
            };
            assert_eq!(is, stated, "{}", job.name);
            checked += 1;
        }
        assert!(checked > 100, "{checked} jobs");
    }

    #[test]
    fn crystaldiskmark_has_its_own_settings() {
        let rows = |name: &str| -> Vec<&str> {
            let reads = of(name)
                .jobs
                .iter()
                .filter_map(|job| job.name.strip_suffix(" read"));
            reads.collect()
        };
        assert_eq!(
            rows("crystaldiskmark"),
            ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"]
        );
        assert_eq!(
            rows("crystaldiskmark-nvme"),
            ["SEQ1M Q8T1", "SEQ128K Q32T1", "RND4K Q32T16", "RND4K Q1T1"]
        );
    }

    #[test]
    fn sweeps_have_the_load_of_their_source() {
        let hci = of("k-hci");
        assert_eq!(hci.workers, Some(6));
        let load = |job| (lone(job).depth, lone(job).threads);
        assert!(hci.jobs.iter().all(|job| load(job) == (8, 4)));
        let easy = &of("hcibench-easy-run").jobs;
        assert!(easy.iter().all(|job| lone(job).compressible_percent == 50));
    }

    #[test]
    fn vmfleet_has_its_own_profiles() {
        let zone = |requests_percent, space_percent| Zone {
            requests_percent,
            space_percent,
        };
        let hot = Access::Zoned(vec![zone(95, 5), zone(4, 10), zone(1, 85)]);
        for (name, rates, sizes) in [
            ("sql-data-and-log", [1500.0, 300.0], [8192.0, 32768.0]),
            ("vdi-desktop", [6.0, 6.0], [32768.0, 8192.0]),
        ] {
            let streams = &of(name).jobs[0].streams;
            let rate: Vec<_> = streams.iter().map(|stream| stream.per_second).collect();
            let size: Vec<_> = streams.iter().map(mean_size).collect();
            assert_eq!((rate, size), (rates.map(Some).to_vec(), sizes.to_vec()));
            assert_eq!(streams[0].access, hot, "{name}");
        }
        let durable = |stream: &BlockStream| stream.sync == SyncPolicy::EachWrite && stream.direct;
        assert!(of("sql-data-and-log").jobs[0].streams.iter().all(durable));
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
        let combined = |name: &str| -> Vec<(u32, u64)> {
            let jobs = of(name).jobs.iter().map(lone);
            jobs.map(|job| (job.read_percent, job.read_sizes[0].size.0))
                .collect()
        };
        let grid = |mixes: &[u32], sizes: &[u64]| -> Vec<(u32, u64)> {
            let pairs = mixes
                .iter()
                .flat_map(|mix| sizes.iter().map(|size| (*mix, *size)));
            pairs.collect()
        };
        let sizes = [1024, 128, 64, 32, 16, 8, 4].map(|kib| kib << 10);
        let sizes = [&sizes[..], &[512]].concat();
        let mixes = [100, 95, 65, 50, 35, 5, 0];
        assert_eq!(combined("snia-iops"), grid(&mixes, &sizes));
        assert_eq!(combined("snia-latency"), grid(&[100, 65, 0], &sizes[5..]));
        assert!(
            ["snia-iops", "snia-latency", "snia-throughput"]
                .iter()
                .all(|name| of(name).fill == Some(2.0))
        );
        let empty = of("snia-write-saturation");
        assert_eq!((empty.fill, empty.jobs.len()), (Some(0.0), 1));
    }

    #[test]
    fn writers_climb_the_ladder() {
        let jobs = of("fsync-ladder").jobs.iter();
        let threads: Vec<u32> = jobs.map(|job| lone(job).threads).collect();
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
