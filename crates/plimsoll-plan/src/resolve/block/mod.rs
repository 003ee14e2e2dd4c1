//! Block workloads: the jobs of a profile, jobs of the plan's own, or a job file of fio's.

mod job;
mod keys;
pub mod profile;
mod step;
mod stream;

pub(super) use step::{is_block, refuse_on_load, resolve as resolve_step};

use keys::{MOST_WORKERS, file_size, fill, scaled};
use profile::Profile;

use super::values::{size, text, whole};
use crate::Options;
use crate::error::suggestion;
use crate::findings::Findings;
use crate::raw::RawBlock;
use crate::resolved::{Block, BlockJob, BlockStream, BlockWork};
use crate::units::Bytes;
use crate::value::At;

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
    if let Some(path) = &raw.fio_job {
        return file(raw, path, findings);
    }
    let found = raw
        .profile
        .as_ref()
        .map(|profile| known_profile(profile, findings));
    let own = raw
        .job
        .as_ref()
        .map(|jobs| job::resolve_all(jobs, findings));
    let base = match &found {
        None => None,
        Some(found) => Some((*found)?),
    };
    let jobs = match (base, own) {
        (Some(profile), None) => Some(profile.jobs.clone()),
        (Some(profile), Some(jobs)) => same_jobs(raw, profile, jobs, findings),
        (None, Some(jobs)) => jobs,
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
    let source = source(raw, base, findings);
    let workers = raw
        .workers
        .as_ref()
        .map(|workers| whole(workers, "`workers`", 1..=MOST_WORKERS, findings));
    let workers = workers.unwrap_or(base.and_then(|base| base.workers).or(Some(1)));
    let size = match &raw.size {
        Some(written) => file_size(written, options.data_scale, findings),
        None => Some(scaled(
            base.and_then(|base| base.size).unwrap_or(DEFAULT_SIZE),
            options.data_scale,
        )),
    };
    let fill = raw.fill.as_ref().map(|written| fill(written, findings));
    let fill = fill.unwrap_or(base.and_then(|base| base.fill).or(Some(1.0)));
    let jobs = jobs?;
    let workers = workers?;
    let fill = fill?;
    check_in_flight(at, &jobs, workers, findings);
    warn_of_holes(raw, &jobs, fill, findings);
    let profile = base.map_or(String::new(), |base| base.name.to_owned());
    Some(Block {
        profile,
        source: source?,
        workers,
        size: size?,
        fill,
        work: BlockWork::Jobs(jobs),
    })
}

/// A job file is run as it is: only the space that it needs can be set beside it.
fn file(raw: &RawBlock, path: &At<String>, findings: &mut Findings<'_>) -> Option<Block> {
    let RawBlock {
        profile,
        source: _,
        workers,
        size,
        fill,
        fio_job: _,
        job,
    } = raw;
    for (key, span) in [
        ("profile", profile.as_ref().map(At::span)),
        (
            "workers",
            workers
                .as_ref()
                .map(At::span)
                .filter(|_| workers.as_ref().is_some_and(|n| *n.get() != 1)),
        ),
        (
            "fill",
            fill.as_ref()
                .map(At::span)
                .filter(|_| fill.as_ref().is_some_and(|fill| *fill.get() != 0.0)),
        ),
        ("job", job.as_ref().map(At::span)),
    ] {
        if let Some(span) = span {
            let help = "a job file is run as it is: remove one of the two";
            findings.error(
                span,
                format!("`{key}` has no meaning beside a `fio_job`"),
                help,
            );
        }
    }
    let size = size
        .as_ref()
        .map_or(Some(Bytes(0)), |written| self::size(written, findings));
    let source = source(raw, None, findings);
    let path = text(path, "the job file", findings)?;
    let work = BlockWork::File { path };
    Some(Block {
        profile: String::new(),
        source: source?,
        workers: 1,
        size: size?,
        fill: 0.0,
        work,
    })
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
fn same_jobs(
    raw: &RawBlock,
    profile: &Profile,
    jobs: Option<Vec<BlockJob>>,
    findings: &mut Findings<'_>,
) -> Option<Vec<BlockJob>> {
    let jobs = jobs?;
    if jobs != profile.jobs {
        let span = raw.job.as_ref().map(At::span).unwrap_or_default();
        let message = format!("these jobs are not those of the profile `{}`", profile.name);
        findings.error(
            span,
            message,
            "remove `profile`, and state with `source` where they come from; or remove the jobs",
        );
        return None;
    }
    Some(jobs)
}

fn source(
    raw: &RawBlock,
    profile: Option<&Profile>,
    findings: &mut Findings<'_>,
) -> Option<String> {
    match (&raw.source, profile) {
        (None, profile) => Some(profile.map_or(String::new(), |profile| profile.source.clone())),
        (Some(written), None) => text(written, "the source", findings),
        (Some(written), Some(_)) => {
            findings.error(
                written.span(),
                "`source` has no meaning beside a `profile`",
                "it has one of its own",
            );
            None
        }
    }
}

fn check_in_flight(
    at: &At<RawBlock>,
    jobs: &[BlockJob],
    workers: u32,
    findings: &mut Findings<'_>,
) {
    for job in jobs {
        let of_worker: u64 = job
            .streams
            .iter()
            .map(BlockStream::in_flight)
            .map(u64::from)
            .sum();
        let all = of_worker.saturating_mul(u64::from(workers));
        if all > MOST_IN_FLIGHT {
            let span = at.get().workers.as_ref().map_or(at.span(), At::span);
            let message = format!(
                "the job `{}` has {all} requests in flight over all workers",
                job.name
            );
            findings.error(
                span,
                message,
                format!("{MOST_IN_FLIGHT} at most: fewer workers, threads or a smaller depth"),
            );
            return;
        }
    }
}

fn warn_of_holes(raw: &RawBlock, jobs: &[BlockJob], fill: f64, findings: &mut Findings<'_>) {
    let reads = jobs
        .iter()
        .flat_map(|job| &job.streams)
        .any(|stream| stream.read_percent > 0);
    if let Some(written) = &raw.fill
        && reads
        && fill < 1.0
    {
        let help = "reads of it may never reach the medium: fill = 1 or more";
        findings.warn(
            written.span(),
            "part of each file is never written before it is read",
            help,
        );
    }
}
