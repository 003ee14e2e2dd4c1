//! `plimsoll profile show`.

use plimsoll_plan::load::Arrivals;
use plimsoll_plan::profile;
use plimsoll_plan::profile::Profile;
use plimsoll_plan::resolved::{Access, BlockJob, BlockStream, SizeShare, SyncPolicy};
use plimsoll_plan::write_size;
use plimsoll_report::message::Messages;
use plimsoll_report::table::Unit::{Whole, Words};
use plimsoll_report::table::{Table, TableCell};
use serde_json::{Value, json};

use crate::cli::{Format, ProfileShowArgs};
use crate::failure::Failure;

/// A stream of requests of a job.
pub struct StreamRow<'a> {
    job: &'a BlockJob,
    stream: &'a BlockStream,
}

pub fn show(args: &ProfileShowArgs) -> Result<String, Failure> {
    let found = profile::find(&args.profile).map_err(|error| Failure::usage(error.to_string()))?;
    let Profile {
        name,
        title,
        about,
        source,
        workers,
        size,
        fill,
        jobs,
    } = found;
    Ok(match args.format {
        Format::Table => {
            let m = Messages::english();
            let source = [("source", source.clone())];
            let parts = [
                format!("{title} ({name})"),
                wrapped(about),
                wrapped(&m.text_with("profile-source", &source)),
                table().to_text(&m, &rows(jobs)),
                wrapped(&in_a_plan(&m, found)),
            ];
            parts.join("\n\n")
        }
        Format::Json => format!(
            "{:#}",
            json!({
                "profile": name, "title": title, "about": about, "source": source, "workers": workers,
                "size_bytes": size.map(|size| size.0), "fill": fill, "jobs": jobs.iter().map(job_json).collect::<Vec<_>>(),
            })
        ),
        Format::Csv => table().to_csv(rows(jobs)),
    })
}

fn rows(jobs: &[BlockJob]) -> Vec<StreamRow<'_>> {
    jobs.iter().flat_map(stream_rows).collect()
}

fn stream_rows(job: &BlockJob) -> impl Iterator<Item = StreamRow<'_>> {
    let streams = job.streams.iter();
    streams.map(move |stream| StreamRow { job, stream })
}

/// People do not see columns in which every job is as jobs usually are.
pub fn table<'a>() -> Table<'a, StreamRow<'a>> {
    Table::<StreamRow<'_>>::new("streams")
        .prefix("streams-")
        .column("job", Words, |r| r.job.name.clone())
        .column("stream", Words, |r| r.stream.name.clone())
        .if_any(|r| !r.stream.name.is_empty())
        .column("read-percent", Whole, |r| r.stream.read_percent)
        .column("random-percent", Whole, |r| r.stream.random_percent)
        .column("block", Words, |r| blocks(r.stream))
        .column("depth", Whole, |r| r.stream.depth)
        .column("threads", Whole, |r| r.stream.threads)
        .column("per-second", Whole, |r| {
            let paced = r.stream.arrivals == Arrivals::Poisson;
            TableCell::from(r.stream.per_second).marked(if paced { " (poisson)" } else { "" })
        })
        .if_any(|r| r.stream.per_second.is_some())
        .column("access", Words, |r| access(&r.stream.access))
        .if_any(|r| r.stream.access != Access::Uniform)
        .column("compressible-percent", Whole, |r| {
            r.stream.compressible_percent
        })
        .if_any(|r| r.stream.compressible_percent != 0)
        .column(
            "direct",
            Words,
            |r| {
                if r.stream.direct { "yes" } else { "no" }
            },
        )
        .if_any(|r| !r.stream.direct)
        .column("sync", Words, |r| sync(r.stream.sync))
        .if_any(|r| r.stream.sync != SyncPolicy::None)
        .column("curve-percent", Words, |r| {
            let shares: Vec<String> = r.job.curve.iter().map(f64::to_string).collect();
            shares.join(" ")
        })
        .if_any(|r| !r.job.curve.is_empty())
        .with_keys()
        .with_long_headings()
}

/// Where reads and writes differ, those of both.
fn blocks(stream: &BlockStream) -> String {
    let BlockStream {
        read_sizes,
        write_sizes,
        ..
    } = stream;
    if read_sizes == write_sizes {
        return sizes(read_sizes);
    }
    format!("reads {}, writes {}", sizes(read_sizes), sizes(write_sizes))
}

fn size_shares(sizes: &[SizeShare]) -> Vec<(u64, u32)> {
    sizes
        .iter()
        .map(|share| (share.size.0, share.percent))
        .collect()
}

fn sizes(sizes: &[SizeShare]) -> String {
    match sizes {
        [one] => write_size(one.size),
        many => many
            .iter()
            .map(|share| format!("{} {} %", write_size(share.size), share.percent))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn job_json(job: &BlockJob) -> Value {
    let streams: Vec<Value> = job.streams.iter().map(stream_json).collect();
    json!({ "name": job.name, "streams": streams, "curve_percent": job.curve })
}

fn stream_json(stream: &BlockStream) -> Value {
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
    json!({
        "name": name, "read_percent": read_percent, "random_percent": random_percent,
        "read_bytes": size_shares(read_sizes), "write_bytes": size_shares(write_sizes), "depth": depth, "threads": threads,
        "per_second": per_second, "arrivals": arrivals.name(), "access": self::access(access),
        "compressible_percent": compressible_percent, "direct": direct, "sync": self::sync(*sync),
    })
}

fn access(access: &Access) -> String {
    match access {
        Access::Uniform => "uniform".into(),
        Access::Zipf(exponent) => format!("zipf {exponent}"),
        Access::Zoned(zones) => {
            let zones = zones
                .iter()
                .map(|zone| format!("{} % on {} %", zone.requests_percent, zone.space_percent));
            zones.collect::<Vec<_>>().join(", ")
        }
    }
}

fn sync(sync: SyncPolicy) -> String {
    match sync {
        SyncPolicy::None => "none".into(),
        SyncPolicy::EachWrite => "each write".into(),
        SyncPolicy::Flush { every: 1 } => "flush each write".into(),
        SyncPolicy::Flush { every } => format!("flush every {every} writes"),
    }
}

/// What a plan writes to run it, with what it gets if it writes no more.
fn in_a_plan(m: &Messages, profile: &Profile) -> String {
    let fill = match profile.fill.unwrap_or(1.0) {
        0.0 => m.text("profile-not-written"),
        times => m.text_with("profile-written", &[("times", times.to_string())]),
    };
    let args = [
        ("profile", profile.name.to_owned()),
        ("workers", profile.workers.unwrap_or(1).to_string()),
        ("size", profile.size.map_or("1GiB".to_owned(), write_size)),
        ("fill", fill),
    ];
    m.text_with("profile-in-a-plan", &args)
}

/// Lines of at most 100 characters, where there are spaces, but not before a percent sign.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.replace(" %", "\u{a0}%").split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 100 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n").replace('\u{a0}', " ")
}
