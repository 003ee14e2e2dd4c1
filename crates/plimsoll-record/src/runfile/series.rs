//! Series of metrics out of a run file's samples.

use std::collections::{BTreeMap, HashMap};

use crate::metric::Metric;
use crate::{Sample, Series, SubjectId};
use plimsoll_plan::units::Nanos;
use rusqlite::Connection;

use super::reader::{Broken, Parts, json, meaningless, rows};
use super::{database, samples};

/// Layouts with smaller numbers are distinguished by the bits of a number.
const MASK: i64 = 62;

/// Metrics that findings hold figures against: what the database counted, and what the kernel saw of an emulated drive.
fn is_held_against_figures(metric: Metric) -> bool {
    matches!(
        metric,
        Metric::DbCommits
            | Metric::DeviceReads
            | Metric::DeviceWrites
            | Metric::DeviceReadLatency
            | Metric::DeviceWriteLatency
    )
}

/// Metrics that no audit rule uses: they are shown, or explain others. Most of a server's metrics are among them.
fn is_only_shown(metric: Metric) -> bool {
    matches!(
        metric,
        Metric::DbRollbacks
            | Metric::DbBufferHits
            | Metric::DbBufferReads
            | Metric::DbTempBytes
            | Metric::DbDeadlocks
            | Metric::DbLogBytes
            | Metric::DbLogWrites
            | Metric::DbLogSyncs
            | Metric::DbCheckpointTime
            | Metric::DbLockWaiters
            | Metric::DbConnections
            | Metric::DbProbeCost
            | Metric::DbProbeBusy
            | Metric::SystemReadBytes
            | Metric::SystemWriteBytes
    )
}

fn is_wanted(metric: Metric, parts: Parts) -> bool {
    match parts {
        Parts::All => true,
        Parts::Audit => !is_only_shown(metric),
        Parts::Comparison => is_held_against_figures(metric),
    }
}

pub(super) fn series(db: &Connection, schema: i32, parts: Parts) -> Result<Vec<Series>, Broken> {
    // A metric that this version does not know is left out: its meaning is unknown.
    let known = |name: &String| Metric::parse(name).filter(|metric| is_wanted(*metric, parts));
    let layouts: BTreeMap<i64, Vec<Option<Metric>>> = rows(db, "SELECT * FROM layout", |row| {
        Ok((
            row.get("id")?,
            json::<Vec<String>>(row, "metrics")?
                .iter()
                .map(known)
                .collect(),
        ))
    })?
    .into_iter()
    .collect();
    let decode: samples::Decode = if schema < database::SINCE {
        samples::decode_singles
    } else {
        samples::decode
    };
    let mut values: Vec<f32> = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    let mut place: HashMap<(SubjectId, Metric), usize> = HashMap::new();
    // Of each subject and layout the series of its values: they are looked up once, and not for each of millions.
    let mut places: BTreeMap<(SubjectId, i64), Vec<Option<usize>>> = BTreeMap::new();
    // The database passes over rows of which nothing is wanted; those whose layout is not there it does not.
    let idle = layouts
        .iter()
        .filter(|(_, metrics)| metrics.iter().all(Option::is_none));
    let idle = idle
        .filter(|(id, _)| (0..MASK).contains(*id))
        .fold(0u64, |mask, (id, _)| mask | 1 << id);
    let sql = format!(
        "SELECT subject, at_ns, over_ns, layout, data FROM sample WHERE layout NOT BETWEEN 0 AND {} OR NOT {idle} >> layout & 1",
        MASK - 1
    );
    rows(db, &sql, |row| {
        let id: i64 = row.get(3)?;
        let metrics = layouts.get(&id).ok_or_else(|| meaningless("layout", id))?;
        let (subject, at, over) = (
            SubjectId(row.get(0)?),
            Nanos(row.get(1)?),
            Nanos(row.get(2)?),
        );
        let data = row.get_ref(4)?.as_blob()?;
        decode(data, metrics.len(), &mut values).ok_or_else(|| {
            meaningless(
                "data",
                format!("{} bytes for {} metrics", data.len(), metrics.len()),
            )
        })?;
        let own = places.entry((subject, id)).or_insert_with(|| {
            let mut of = |metric: Metric| {
                *place.entry((subject, metric)).or_insert_with(|| {
                    series.push(Series {
                        subject,
                        metric,
                        samples: Vec::new(),
                    });
                    series.len() - 1
                })
            };
            metrics.iter().map(|metric| metric.map(&mut of)).collect()
        });
        for (place, value) in own.iter().zip(&values) {
            if let (Some(place), true) = (place, value.is_finite()) {
                series[*place].samples.push(Sample {
                    at,
                    over,
                    value: *value,
                });
            }
        }
        Ok(())
    })?;
    series
        .iter_mut()
        .for_each(|series| series.samples.sort_by_key(|sample| sample.at));
    series.retain(|series| !series.samples.is_empty());
    series.sort_by_key(|series| (series.subject, series.metric));
    Ok(series)
}
