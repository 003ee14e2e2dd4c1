//! Series of metrics out of a run file's samples.

use std::collections::{BTreeMap, HashMap};

use crate::metric::Metric;
use crate::{Sample, Series, SubjectId};
use plimsoll_plan::units::Nanos;
use rusqlite::Connection;

use super::row::{BadRow, ValueBudget, json, meaningless, rows};
use super::samples;

/// Metrics of rows of samples, by layout; of one that this version does not know the meaning is unknown.
pub(super) type Layouts = BTreeMap<i64, Vec<Option<Metric>>>;

pub(super) fn layouts(db: &Connection) -> Result<Layouts, BadRow> {
    let layouts = rows(db, "SELECT * FROM layout", |row| {
        let names: Vec<String> = json(row, "metrics")?;
        let metrics = names.iter().map(|name| Metric::parse(name));
        Ok((row.get("id")?, metrics.collect()))
    });
    Ok(layouts?.into_iter().collect())
}

pub(super) fn layout(layouts: &Layouts, id: i64) -> rusqlite::Result<&[Option<Metric>]> {
    let metrics = layouts.get(&id).map(Vec::as_slice);
    metrics.ok_or_else(|| meaningless("layout", id))
}

/// The values of a row, one for each metric.
pub(super) fn decode(
    data: &[u8],
    metrics: &[Option<Metric>],
    values: &mut Vec<f32>,
) -> rusqlite::Result<()> {
    let count = metrics.len();
    samples::decode(data, count, values)
        .ok_or_else(|| meaningless("data", format!("{} bytes for {count} metrics", data.len())))
}

pub(super) fn series(db: &Connection) -> Result<Vec<Series>, BadRow> {
    let layouts = layouts(db)?;
    let mut values: Vec<f32> = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    let mut place: HashMap<(SubjectId, Metric), usize> = HashMap::new();
    // The series of each subject and layout are looked up once, and not for each of millions of values.
    let mut places: BTreeMap<(SubjectId, i64), Vec<Option<usize>>> = BTreeMap::new();
    let mut budget = ValueBudget::of_file(db)?;
    let sql = "SELECT subject, at_ns, over_ns, layout, data FROM sample";
    rows(db, sql, |row| {
        let id: i64 = row.get(3)?;
        let metrics = layout(&layouts, id)?;
        let subject = row.get(0)?;
        let at = Nanos(row.get(1)?);
        let over = Nanos(row.get(2)?);
        let data = row.get_ref(4)?.as_blob()?;
        budget.take("data", metrics.len())?;
        decode(data, metrics, &mut values)?;
        let of_row = places.entry((subject, id)).or_insert_with(|| {
            let mut place_of = |metric: Metric| {
                *place.entry((subject, metric)).or_insert_with(|| {
                    series.push(Series {
                        subject,
                        metric,
                        samples: Vec::new(),
                    });
                    series.len() - 1
                })
            };
            metrics
                .iter()
                .map(|metric| metric.map(&mut place_of))
                .collect()
        });
        for (place, value) in of_row.iter().zip(&values) {
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
