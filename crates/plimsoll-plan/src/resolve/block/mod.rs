//! Block workloads: the jobs of a profile, jobs of the plan's own, or a job file of fio's.

mod job;
pub mod profile;
mod step;
mod stream;

pub(super) use step::{is_block, resolve as resolve_step};

use profile::Profile;

use crate::Options;
use crate::error::suggestion;
use crate::findings::Findings;
use crate::raw::{LEAST_FILE, PlanTable, RawBlock, TableKind};
use crate::resolved::{Block, BlockJob, BlockWork};
use crate::size::{self, LARGEST};
use crate::units::Bytes;
use crate::value::{At, OptionalKey};

/// As CrystalDiskMark has it by default.
const DEFAULT_SIZE: Bytes = Bytes::mib(1 << 10);
/// Linux has room for so many asynchronous requests of all processes, unless `fs.aio-max-nr` is set.
const MOST_IN_FLIGHT: u64 = 65_536;

pub(super) fn resolve(
    name: &str,
    at: &At<RawBlock>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Block> {
    let raw = at.get();
    if let Some(path) = raw.fio_job.value() {
        return Some(file(raw, path, findings));
    }
    let profile = raw
        .profile
        .as_ref()
        .map(|profile| known_profile(profile, findings));
    let jobs = raw
        .job
        .as_ref()
        .map(|jobs| job::resolve_all(jobs, findings));
    let profile = match profile {
        None => None,
        Some(found) => Some(found?),
    };
    let jobs = match (profile, jobs) {
        (Some(profile), None) => Some(profile.jobs.clone()),
        (Some(profile), Some(jobs)) => {
            check_same_jobs(raw, profile, &jobs, findings);
            Some(jobs)
        }
        (None, Some(jobs)) => Some(jobs),
        (None, None) => {
            if !findings.is_incomplete(&at.span()) {
                let help =
                    "profile = \"four-corners\", a [[job]] of your own, or fio_job = \"file.fio\"";
                findings.error(
                    at.span(),
                    format!("the block workload `{name}` has no jobs"),
                    help,
                );
            }
            None
        }
    };
    if let (Some(source), Some(_)) = (&raw.source, profile) {
        findings.error(
            source.span(),
            "`source` is not supported beside a `profile`",
            "it has one of its own",
        );
    }
    if let Some(size) = &raw.size
        && size.value().0 < LEAST_FILE
    {
        let least = size::write(Bytes(LEAST_FILE));
        let message = format!("`size` cannot be {}", size::write(size.value()));
        findings.error(size.span(), message, format!("{least} at least"));
    }
    let workers = profile.and_then(|profile| profile.workers);
    let size = profile.and_then(|profile| profile.size);
    let fill = profile.and_then(|profile| profile.fill);
    let block = Block {
        profile: profile.map_or(String::new(), |profile| profile.name.to_owned()),
        source: match profile {
            Some(profile) => profile.source.clone(),
            None => raw.source.value().unwrap_or_default(),
        },
        workers: raw.workers.value().or(workers).unwrap_or(1),
        size: scaled(
            raw.size.value().or(size).unwrap_or(DEFAULT_SIZE),
            options.data_scale,
        ),
        fill: raw.fill.value().or(fill).unwrap_or(1.0),
        work: BlockWork::Jobs(jobs?),
    };
    check_in_flight(at, &block, findings);
    warn_of_holes(raw, &block, findings);
    Some(block)
}

/// Whole MiB, so that every usual size of requests divides it, within the sizes that a plan may state.
fn scaled(size: Bytes, factor: f64) -> Bytes {
    let mebibyte = Bytes::mib(1).0;
    let mebibytes = if factor == 1.0 {
        size.0 / mebibyte
    } else {
        (size.0 as f64 * factor) as u64 / mebibyte
    };
    // Whatever the factor, sums of sizes do not overflow.
    Bytes(mebibytes.min(LARGEST.0 / mebibyte) * mebibyte).max(Bytes(LEAST_FILE))
}

/// A job file is run as it is: only the space that it needs can be set beside it.
fn file(raw: &RawBlock, path: String, findings: &mut Findings<'_>) -> Block {
    let is_harmless = |key: &str| match key {
        "workers" => raw.workers.value() == Some(1),
        "fill" => raw.fill.value() == Some(0.0),
        _ => false,
    };
    raw.refuse_unless(is_harmless, TableKind::FioJob, findings);
    Block {
        profile: String::new(),
        source: raw.source.value().unwrap_or_default(),
        workers: 1,
        size: raw.size.value().unwrap_or(Bytes(0)),
        fill: 0.0,
        work: BlockWork::File { path },
    }
}

fn known_profile(written: &At<String>, findings: &mut Findings<'_>) -> Option<&'static Profile> {
    let found = profile::all()
        .iter()
        .find(|profile| profile.name == written.get());
    if found.is_none() {
        let known: Vec<&str> = profile::all().iter().map(|profile| profile.name).collect();
        let help = suggestion(written.get(), &known, "write a [[job]] of your own");
        findings.error(
            written.span(),
            format!("there is no profile `{}`", written.get()),
            help,
        );
    }
    found
}

/// A plan that was described in full has both; jobs that differ may not use the profile's name.
fn check_same_jobs(
    raw: &RawBlock,
    profile: &Profile,
    jobs: &[BlockJob],
    findings: &mut Findings<'_>,
) {
    if jobs != profile.jobs {
        findings.error(
            raw.job.span_or(&(0..0)),
            format!("these jobs are not those of the profile `{}`", profile.name),
            "remove `profile`, and state with `source` where they come from; or remove the jobs",
        );
    }
}

fn check_in_flight(at: &At<RawBlock>, block: &Block, findings: &mut Findings<'_>) {
    for job in block.jobs() {
        let worker: u64 = job
            .streams
            .iter()
            .map(|stream| u64::from(stream.in_flight()))
            .sum();
        let all = worker.saturating_mul(u64::from(block.workers));
        if all > MOST_IN_FLIGHT {
            let message = format!(
                "the job `{}` has {all} requests in flight over all workers",
                job.name
            );
            let help =
                format!("{MOST_IN_FLIGHT} at most: fewer workers, threads or a smaller depth");
            findings.error(at.get().workers.span_or(&at.span()), message, help);
            return;
        }
    }
}

fn warn_of_holes(raw: &RawBlock, block: &Block, findings: &mut Findings<'_>) {
    let reads = block
        .jobs()
        .iter()
        .flat_map(|job| &job.streams)
        .any(|stream| stream.read_percent > 0);
    if let Some(written) = &raw.fill
        && reads
        && block.fill < 1.0
    {
        let help = "reads of it may never reach the medium: fill = 1 or more";
        findings.warn(
            written.span(),
            "part of each file is never written before it is read",
            help,
        );
    }
}
