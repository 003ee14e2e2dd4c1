//! Series of metrics out of a run file's samples.

use std::collections::{BTreeMap, HashMap};

use crate::metric::Metric;
use crate::{Sample, Series, SubjectId};
use plimsoll_plan::units::Nanos;
use rusqlite::Connection;

use super::row::{BadRow, ValueBudget, json, meaningless, rows};
use super::samples;

pub(super) fn series(db: &Connection) -> Result<Vec<Series>, BadRow> {
    // A metric that this version does not know is left out: its meaning is unknown.
    let layouts: BTreeMap<i64, Vec<Option<Metric>>> = rows(db, "SELECT * FROM layout", |row| {
        Ok((
            row.get("id")?,
            json::<Vec<String>>(row, "metrics")?
                .iter()
                .map(|name| Metric::parse(name))
                .collect(),
        ))
    })?
    .into_iter()
    .collect();
    let mut values: Vec<f32> = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    let mut place: HashMap<(SubjectId, Metric), usize> = HashMap::new();
    // Of each subject and layout the series of its values: they are looked up once, and not for each of millions.
    let mut places: BTreeMap<(SubjectId, i64), Vec<Option<usize>>> = BTreeMap::new();
    let mut budget = ValueBudget::of_file(db)?;
    let sql = "SELECT subject, at_ns, over_ns, layout, data FROM sample";
    rows(db, sql, |row| {
        let id: i64 = row.get(3)?;
        let metrics = layouts.get(&id).ok_or_else(|| meaningless("layout", id))?;
        let subject = SubjectId(row.get(0)?);
        let at = Nanos(row.get(1)?);
        let over = Nanos(row.get(2)?);
        let data = row.get_ref(4)?.as_blob()?;
        budget.take("data", metrics.len())?;
        samples::decode(data, metrics.len(), &mut values).ok_or_else(|| {
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
