//! Block workloads and steps as TOML.

use std::fmt::{self, Write};

use super::media::media;
use super::requirements;
use crate::resolved::{
    Access, Block, BlockJob, BlockStep, BlockStream, BlockWork, ResolvedPlan, SizeShare,
    SyncPolicy, Zone,
};
use crate::size;
use crate::toml_text::quoted;
use crate::units::Bytes;
use plimsoll_stats::rounds::SteadyRule;

pub(super) fn write_block(out: &mut String, name: &str, block: &Block) -> fmt::Result {
    let Block {
        profile,
        source,
        workers,
        size,
        fill,
        work,
    } = block;
    writeln!(out, "\n[workload.{name}.block]")?;
    if !profile.is_empty() {
        // Which has a source of its own.
        writeln!(out, "profile = {}", quoted(profile))?;
    } else if !source.is_empty() {
        writeln!(out, "source = {}", quoted(source))?;
    }
    match work {
        BlockWork::File { path } => {
            writeln!(out, "fio_job = {}", quoted(path))?;
            if *size > Bytes(0) {
                writeln!(out, "size = \"{}\"", size::write(*size))
            } else {
                Ok(())
            }
        }
        BlockWork::Jobs(jobs) => {
            writeln!(
                out,
                "workers = {workers}\nsize = \"{}\"\nfill = {fill}\njob = [",
                size::write(*size)
            )?;
            // A line each: a sweep has dozens.
            jobs.iter()
                .try_for_each(|job| writeln!(out, "    {{ {} }},", job_keys(job)))?;
            writeln!(out, "]")
        }
    }
}

fn job_keys(job: &BlockJob) -> String {
    let BlockJob {
        name,
        streams,
        curve,
    } = job;
    let has_curve = !curve.is_empty();
    let mut keys = vec![format!("name = {}", quoted(name))];
    match streams.as_slice() {
        [only] if only.name.is_empty() => keys.extend(stream_keys(only, has_curve)),
        several => {
            let tables = several
                .iter()
                .map(|stream| format!("{{ {} }}", stream_keys(stream, has_curve).join(", ")));
            keys.push(format!(
                "stream = [{}]",
                tables.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    if has_curve {
        keys.push(format!(
            "curve = [{}]",
            curve
                .iter()
                .map(f64::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    keys.join(", ")
}

fn stream_keys(stream: &BlockStream, has_curve: bool) -> Vec<String> {
    let BlockStream {
        name,
        read_percent,
        random_percent,
        read_sizes,
        write_sizes,
        depth,
        threads,
        ..
    } = stream;
    let BlockStream {
        per_second,
        arrivals,
        access,
        compressible_percent,
        direct,
        sync,
        ..
    } = stream;
    let mut keys = Vec::new();
    if !name.is_empty() {
        keys.push(format!("name = {}", quoted(name)));
    }
    keys.push(format!("read = {read_percent}, random = {random_percent}"));
    if read_sizes == write_sizes {
        keys.push(format!("block = {}", sizes(read_sizes)));
    } else {
        keys.push(format!(
            "read_block = {}, write_block = {}",
            sizes(read_sizes),
            sizes(write_sizes)
        ));
    }
    keys.push(format!("depth = {depth}, threads = {threads}"));
    if let Some(rate) = per_second {
        keys.push(format!("rate = {rate}"));
    }
    if per_second.is_some() || has_curve {
        keys.push(format!("arrivals = \"{}\"", arrivals.name()));
    }
    keys.push(format!("access = {}", self::access(access)));
    keys.push(format!(
        "compressible = {compressible_percent}, direct = {direct}, sync = {}",
        self::sync(*sync)
    ));
    keys
}

fn sizes(sizes: &[SizeShare]) -> String {
    match sizes {
        [SizeShare { size, percent: 100 }] => format!("\"{}\"", size::write(*size)),
        many => {
            let shares = many.iter().map(|SizeShare { size, percent }| {
                format!("[\"{}\", {percent}]", size::write(*size))
            });
            format!("[{}]", shares.collect::<Vec<_>>().join(", "))
        }
    }
}

fn access(access: &Access) -> String {
    match access {
        Access::Uniform => "\"uniform\"".to_owned(),
        Access::Zipf(exponent) => format!("{{ zipf = {exponent} }}"),
        Access::Zoned(zones) => {
            let zones = zones.iter().map(
                |Zone {
                     requests_percent,
                     space_percent,
                 }| format!("[{requests_percent}, {space_percent}]"),
            );
            format!("{{ zones = [{}] }}", zones.collect::<Vec<_>>().join(", "))
        }
    }
}

fn sync(sync: SyncPolicy) -> String {
    match sync {
        SyncPolicy::None => "\"none\"".to_owned(),
        SyncPolicy::EachWrite => "\"each_write\"".to_owned(),
        SyncPolicy::Flush { every } => format!("{{ flush_every = {every} }}"),
    }
}

pub(super) fn write_step(out: &mut String, plan: &ResolvedPlan, step: &BlockStep) -> fmt::Result {
    let BlockStep {
        name,
        workload,
        on,
        at_once,
        rounds,
        steady,
        warm,
        measure,
    } = step;
    writeln!(
        out,
        "\n[[step]]\nname = {}\nrun = {}\non = {}",
        quoted(name),
        quoted(&plan.block(*workload).name),
        media(plan, on)
    )?;
    requirements::write(out, plan, Some(name))?;
    // Of one medium it would be warned of.
    if on.len() > 1 {
        writeln!(out, "at_once = {at_once}")?;
    }
    match steady {
        None => writeln!(out, "repeat = {rounds}")?,
        Some(SteadyRule {
            window,
            range,
            slope,
        }) => {
            let rule =
                format!("rounds = {rounds}, window = {window}, range = {range}, slope = {slope}");
            writeln!(out, "steady = {{ {rule} }}")?;
        }
    }
    writeln!(out, "ramp = \"{warm}\"\nmeasure = \"{measure}\"")
}
