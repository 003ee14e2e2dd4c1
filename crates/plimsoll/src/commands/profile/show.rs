//! `plimsoll profile show`.

use plimsoll_plan::load::Arrivals;
use plimsoll_plan::profile;
use plimsoll_plan::profile::Profile;
use plimsoll_plan::resolved::{Access, BlockJob, BlockStream, SizeShare, SyncPolicy};
use plimsoll_plan::write_size;
use serde_json::{Value, json};

use crate::cli::{Format, ProfileShowArgs};
use crate::commands::table::{Cell, Rows};
use crate::failure::Failure;

const COLUMNS: [(&str, &str); 13] = [
    ("job", "job"),
    ("stream", "stream"),
    ("read_percent", "read %"),
    ("random_percent", "random %"),
    ("block", "block"),
    ("depth", "depth"),
    ("threads", "threads"),
    ("per_second", "per s"),
    ("access", "access"),
    ("compressible_percent", "compressible %"),
    ("direct", "direct"),
    ("sync", "sync"),
    ("curve_percent", "curve %"),
];

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
    let rows = jobs.iter().fold(Rows::new(&COLUMNS), with_job);
    Ok(match args.format {
        Format::Table => format!(
            "{title} ({name})\n\n{}\n\n{}\n\n{}\n\n{}",
            wrapped(about),
            wrapped(&format!("Source: {source}")),
            rows.without(&idle(jobs)).table(),
            wrapped(&in_a_plan(found))
        ),
        Format::Json => format!(
            "{:#}",
            json!({
                "profile": name, "title": title, "about": about, "source": source, "workers": workers,
                "size_bytes": size.map(|size| size.0), "fill": fill, "jobs": jobs.iter().map(job_json).collect::<Vec<_>>(),
            })
        ),
        Format::Csv => rows.csv(),
    })
}

fn with_job(mut rows: Rows, job: &BlockJob) -> Rows {
    for stream in &job.streams {
        let BlockStream {
            name,
            read_percent,
            random_percent,
            depth,
            threads,
            per_second,
            ..
        } = stream;
        let BlockStream {
            arrivals,
            access,
            compressible_percent,
            direct,
            sync,
            ..
        } = stream;
        let paced = *arrivals == Arrivals::Poisson;
        rows.push(vec![
            Cell::text(&job.name),
            Cell::text(name),
            Cell::count(u64::from(*read_percent)),
            Cell::count(u64::from(*random_percent)),
            Cell::text(blocks(stream)),
            Cell::count(u64::from(*depth)),
            Cell::count(u64::from(*threads)),
            Cell::maybe(*per_second, 0).marked(if paced { " (poisson)" } else { "" }),
            Cell::text(self::access(access)),
            Cell::count(u64::from(*compressible_percent)),
            Cell::text(if *direct { "yes" } else { "no" }),
            Cell::text(self::sync(*sync)),
            Cell::text(
                job.curve
                    .iter()
                    .map(f64::to_string)
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
        ]);
    }
    rows
}

/// Columns in which every job is as jobs usually are.
fn idle(jobs: &[BlockJob]) -> Vec<&'static str> {
    let all = |test: fn(&BlockStream) -> bool| jobs.iter().flat_map(|job| &job.streams).all(test);
    let columns = [
        ("stream", all(|stream| stream.name.is_empty())),
        ("per_second", all(|stream| stream.per_second.is_none())),
        ("access", all(|stream| stream.access == Access::Uniform)),
        (
            "compressible_percent",
            all(|stream| stream.compressible_percent == 0),
        ),
        ("direct", all(|stream| stream.direct)),
        ("sync", all(|stream| stream.sync == SyncPolicy::None)),
        ("curve_percent", jobs.iter().all(|job| job.curve.is_empty())),
    ];
    columns
        .into_iter()
        .filter(|(_, is_idle)| *is_idle)
        .map(|(column, _)| column)
        .collect()
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
    let sizes = |sizes: &[SizeShare]| {
        sizes
            .iter()
            .map(|share| (share.size.0, share.percent))
            .collect::<Vec<_>>()
    };
    json!({
        "name": name, "read_percent": read_percent, "random_percent": random_percent,
        "read_bytes": sizes(read_sizes), "write_bytes": sizes(write_sizes), "depth": depth, "threads": threads,
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
fn in_a_plan(profile: &Profile) -> String {
    let Profile {
        name,
        workers,
        size,
        fill,
        ..
    } = profile;
    let workers = match workers.unwrap_or(1) {
        1 => "1 worker".to_owned(),
        many => format!("{many} workers"),
    };
    let size = size.map_or("1GiB".to_owned(), write_size);
    let fill = match fill.unwrap_or(1.0) {
        0.0 => "not written".to_owned(),
        1.0 => "written once".to_owned(),
        2.0 => "written twice".to_owned(),
        more => format!("written {more} times"),
    };
    format!(
        "In a plan: [workload.NAME.block] with profile = \"{name}\"; without more it has {workers} with {size} each, \
         {fill} before."
    )
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
