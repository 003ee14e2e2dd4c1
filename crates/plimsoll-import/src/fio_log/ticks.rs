//! What logs hold, over time: counts by tick, distributions and means.

use super::fit;
use super::log::{DIRECTIONS, FioLog, FioLogKind, FioLogRow, ONE_TICK_MS};
use crate::load::{ImportedLoad, LoadTick, LoadWindow, Span, completed, sum_of};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::{CoarseHist, Hist};
use plimsoll_record::import_facts::PERCENTILES_FACT;
use plimsoll_record::lane::Counts;
use plimsoll_record::message::{CountsSource, ImportNote};

/// Puts the logs of one job into its load.
pub(crate) fn attach(load: &mut ImportedLoad, logs: &[&FioLog]) -> Result<(), String> {
    fit::check(load, logs)?;
    if let Some(began) = logs.iter().filter_map(|log| log.began_ms).min() {
        load.started = Some(Nanos::from_millis(began));
        load.notes.retain(|note| {
            !matches!(
                note,
                ImportNote::StartsComputed { .. } | ImportNote::ConcurrencyUnknown
            )
        });
    }
    if load.txns.is_empty() {
        load.txns = DIRECTIONS.map(str::to_owned).to_vec();
        load.windows = vec![None; DIRECTIONS.len()];
    }
    for (kind, name) in [
        (FioLogKind::Lat, "lat"),
        (FioLogKind::Clat, "clat"),
        (FioLogKind::Slat, "slat"),
    ] {
        for log in of_kind(logs, kind) {
            means(load, log, name);
        }
    }
    let hists = of_kind(logs, FioLogKind::Hist);
    let rates = of_kind(logs, FioLogKind::Iops);
    let mut rows = rates.iter().flat_map(|log| &log.rows);
    if !hists.is_empty() {
        distributions(load, &hists)
    } else if rows.any(|row| row.bytes > 0) {
        singles(load, &rates)
    } else if !rates.is_empty() {
        counts(load, &rates, &of_kind(logs, FioLogKind::Bandwidth))
    } else {
        Ok(())
    }
}

fn of_kind<'a>(logs: &[&'a FioLog], kind: FioLogKind) -> Vec<&'a FioLog> {
    let logs = logs.iter().copied();
    logs.filter(|log| log.kind == kind).collect()
}

/// What fio averages over `log_avg_msec`, or logs of single requests: the first are figures, the second too many.
fn means(load: &mut ImportedLoad, log: &FioLog, name: &str) {
    const MOST_FIGURES: usize = 10_000;
    let mut pairs = log.rows.windows(2);
    let is_averaged =
        pairs.all(|rows| rows[0].direction != rows[1].direction || rows[0].at_ms < rows[1].at_ms);
    if !is_averaged || log.rows.len() > MOST_FIGURES {
        load.note(ImportNote::SingleLatencies);
        return;
    }
    let name = format!("{name} mean over the log's interval");
    let mut ends = [0; DIRECTIONS.len()];
    for row in &log.rows {
        let before_ms = std::mem::replace(&mut ends[row.direction], row.at_ms);
        let over = Span::of_millis(before_ms.min(row.at_ms), row.at_ms);
        let txn = DIRECTIONS[row.direction];
        let printed = row.value.to_string();
        load.figures.put(txn, &name, &printed, "ns", Some(over));
    }
}

/// The place of a direction among the load's types; fio may report all together (`unified_rw_reporting`).
fn place(load: &ImportedLoad, direction: usize) -> Option<usize> {
    load.txns
        .iter()
        .position(|name| name == DIRECTIONS[direction] || name == "mixed")
}

/// The times at which lines end; times of one tick count once.
fn ends(logs: &[&FioLog]) -> Vec<u64> {
    let mut ends: Vec<u64> = logs
        .iter()
        .flat_map(|log| log.rows.iter().map(|row| row.at_ms))
        .collect();
    ends.sort_unstable();
    ends.dedup_by(|later, earlier| *later - *earlier <= ONE_TICK_MS);
    ends.retain(|end| *end > 0);
    ends
}

/// Index of the tick that a line belongs to.
fn tick_of(ends: &[u64], row: &FioLogRow) -> Option<usize> {
    let at_ms = row.at_ms;
    let after = ends.partition_point(|end| *end <= at_ms);
    match after.checked_sub(1) {
        Some(at) if at_ms - ends[at] <= ONE_TICK_MS => Some(at),
        _ => ends.get(after).map(|_| after),
    }
}

fn empty_ticks(ends: &[u64], types: usize) -> Vec<LoadTick> {
    let mut ticks = Vec::with_capacity(ends.len());
    let mut start = 0;
    for end in ends {
        let span = Span::of_millis(start, *end);
        ticks.push(LoadTick::new(span, vec![Counts::default(); types]));
        start = *end;
    }
    ticks
}

/// A line of a histogram log with its place.
struct PlacedRow<'a> {
    tick: usize,
    txn: usize,
    row: &'a FioLogRow,
}

fn placed<'a>(load: &ImportedLoad, logs: &[&'a FioLog], ends: &[u64]) -> Vec<PlacedRow<'a>> {
    let mut placed = Vec::new();
    for row in logs.iter().flat_map(|log| &log.rows) {
        if let Some(tick) = tick_of(ends, row)
            && let Some(txn) = place(load, row.direction)
        {
            placed.push(PlacedRow { tick, txn, row });
        }
    }
    placed
}

/// Full histograms of the whole time and of one tick at a time: each takes 270 kB.
fn distributions(load: &mut ImportedLoad, logs: &[&FioLog]) -> Result<(), String> {
    let ends = ends(logs);
    let types = load.txns.len();
    let mut ticks = empty_ticks(&ends, types);
    for tick in &mut ticks {
        tick.response = vec![CoarseHist::default(); types];
    }
    let mut rows = placed(load, logs, &ends);
    rows.sort_by_key(|placed| placed.tick);
    let mut whole = vec![Hist::new(); types];
    let mut own = vec![Hist::new(); types];
    for same in rows.chunk_by(|a, b| a.tick == b.tick) {
        let tick = &mut ticks[same[0].tick];
        for PlacedRow { txn, row, .. } in same {
            let buckets = row.buckets.iter();
            let n = buckets.map(|(_, n)| *n).fold(0, u64::saturating_add);
            if n < 1 << 52 {
                own[*txn].merge(&histogram(row));
                tick.counts[*txn].add(&completed(n, 0));
            }
        }
        tick.response = own.iter().map(Hist::coarse).collect();
        for (sum, own) in whole.iter_mut().zip(&mut own) {
            sum.merge(own);
            own.clear();
        }
    }
    bytes_of(load, &mut ticks);
    if !replace(load, logs, ticks, CountsSource::HistogramLog)? {
        return Ok(());
    }
    // Buckets of JSON+ are of the whole time, those of a log end with its last line.
    if load.windows.iter().all(Option::is_none) {
        load.windows = whole.into_iter().map(LoadWindow::of_response).collect();
    }
    load.replace_fact(PERCENTILES_FACT, "merged");
    Ok(())
}

fn histogram(row: &FioLogRow) -> Hist {
    let buckets = row.buckets.iter();
    let sum = buckets.map(|(value, n)| u128::from(value.0) * u128::from(*n));
    let max = row.buckets.last().map_or(Nanos::ZERO, |(value, _)| *value);
    Hist::of_buckets(row.buckets.iter().copied(), sum.sum(), max)
}

/// Puts the ticks of logs in place of the load's; `false` where they have no time.
fn replace(
    load: &mut ImportedLoad,
    logs: &[&FioLog],
    ticks: Vec<LoadTick>,
    source: CountsSource,
) -> Result<bool, String> {
    if ticks.is_empty() {
        load.note(ImportNote::LogsWithoutTime);
        return Ok(false);
    }
    let unlogged = fit::check_counts(load, logs, &ticks, every_ms(load, logs))?;
    load.notes.extend(unlogged);
    load.ticks = settled(load, ticks);
    load.replace_note(ImportNote::CountsFrom { source });
    Ok(true)
}

/// How long the interval of a line is: as asked for, or the least that lines are apart.
fn every_ms(load: &ImportedLoad, logs: &[&FioLog]) -> u64 {
    if let Some(every_ms) = load.logs.every_ms {
        return every_ms;
    }
    let directions = 0..DIRECTIONS.len();
    let least = directions.flat_map(|direction| {
        let logs = logs.iter();
        logs.filter_map(move |log| least_ms(log, direction))
    });
    least.min().unwrap_or(u64::MAX)
}

/// Without the last line, which ends with the job.
fn least_ms(log: &FioLog, direction: usize) -> Option<u64> {
    let rows = log.rows.iter().filter(|row| row.direction == direction);
    let mut times: Vec<u64> = rows.map(|row| row.at_ms).collect();
    if times.len() > 2 {
        times.pop();
    }
    let apart = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let all = times.first().copied().into_iter().chain(apart);
    all.filter(|apart| *apart > ONE_TICK_MS).min()
}

/// fio writes no line for an interval in which nothing completed: where ends are further apart, there is one more.
fn with_gaps(ends: &[u64], every_ms: u64) -> Vec<u64> {
    let mut all = Vec::with_capacity(ends.len());
    for end in ends {
        let before = all.last().copied().unwrap_or_default();
        if is_gap(end - before, every_ms) {
            all.push(end - every_ms);
        }
        all.push(*end);
    }
    all
}

/// Lines are late now and then.
fn is_gap(apart_ms: u64, every_ms: u64) -> bool {
    apart_ms > every_ms.saturating_add(every_ms / 2)
}

/// The time that a line is about, of each line of a log.
fn spans(log: &FioLog, every_ms: u64) -> impl Iterator<Item = (&FioLogRow, Nanos)> {
    let mut before = [0; DIRECTIONS.len()];
    log.rows.iter().map(move |row| {
        let apart = row
            .at_ms
            .saturating_sub(std::mem::replace(&mut before[row.direction], row.at_ms));
        let span = if is_gap(apart, every_ms) {
            every_ms
        } else {
            apart
        };
        (row, Nanos::from_millis(span))
    })
}

/// One of the fields that a total is of.
type Field = fn(&mut Counts) -> &mut u64;

/// The ticks with the rest of the totals of fio's own output, where there is one: in a last tick, or where too much was
/// counted by rounding, taken from the end.
fn settled(load: &ImportedLoad, mut ticks: Vec<LoadTick>) -> Vec<LoadTick> {
    /// A rest of less is the end of the last interval.
    const SHORTEST_REST: Nanos = Nanos::from_millis(100);
    const FIELDS: [Field; 2] = [|counts| &mut counts.committed, |counts| &mut counts.bytes];
    if load.ticks.is_empty() {
        return ticks;
    }
    let types = load.txns.len();
    let end = load.lasted();
    let start = ticks.last().map_or(Nanos::ZERO, |tick| tick.end);
    if end > start + SHORTEST_REST {
        let rest = Span { start, end };
        ticks.push(LoadTick::new(rest, vec![Counts::default(); types]));
    }
    for txn in 0..types {
        for field in FIELDS {
            let total = *field(&mut of_txn(&load.ticks, txn));
            let logged = *field(&mut of_txn(&ticks, txn));
            let mut over = logged.saturating_sub(total);
            let mut left = total.saturating_sub(logged);
            for tick in ticks.iter_mut().rev() {
                if let Some(counts) = tick.counts.get_mut(txn) {
                    let own = field(counts);
                    let less = over.min(*own);
                    *own = (*own - less).saturating_add(std::mem::take(&mut left));
                    over -= less;
                }
            }
        }
    }
    for counts in ticks.iter_mut().flat_map(|tick| &mut tick.counts) {
        counts.offered = counts.committed;
    }
    ticks
}

/// The sum over all ticks.
fn of_txn(ticks: &[LoadTick], txn: usize) -> Counts {
    sum_of(ticks.iter().filter_map(|tick| tick.counts.get(txn)))
}

/// The bytes of a request are those of the whole output's mean.
fn bytes_of(load: &ImportedLoad, ticks: &mut [LoadTick]) {
    for txn in 0..load.txns.len() {
        let whole = of_txn(&load.ticks, txn);
        let each = match whole.committed {
            0 => 0.0,
            n => whole.bytes as f64 / n as f64,
        };
        for counts in ticks.iter_mut().filter_map(|tick| tick.counts.get_mut(txn)) {
            counts.bytes = (counts.committed as f64 * each).round().clamp(0.0, 1e18) as u64;
        }
    }
}

/// Lines of single requests (no `log_avg_msec`), counted by second.
fn singles(load: &mut ImportedLoad, logs: &[&FioLog]) -> Result<(), String> {
    // Where lines are far apart, there is a tick from one to the next.
    let rows = logs.iter().flat_map(|log| &log.rows);
    let mut ends: Vec<u64> = rows
        .clone()
        .map(|row| (row.at_ms / 1000 + 1) * 1000)
        .collect();
    ends.sort_unstable();
    ends.dedup();
    let mut ticks = empty_ticks(&ends, load.txns.len());
    for row in rows {
        let tick = ends.partition_point(|end| *end <= row.at_ms);
        if let Some(txn) = place(load, row.direction)
            && let Some(tick) = ticks.get_mut(tick)
        {
            tick.counts[txn].add(&completed(1, row.bytes));
        }
    }
    let lasted = load.lasted();
    if let Some(last) = ticks.last_mut().filter(|last| lasted > last.start) {
        last.end = last.end.min(lasted);
    }
    replace(load, logs, ticks, CountsSource::RequestLog)?;
    Ok(())
}

/// IOPS × interval, with the bytes of the bandwidth log where there is one.
fn counts(load: &mut ImportedLoad, rates: &[&FioLog], bandwidth: &[&FioLog]) -> Result<(), String> {
    const KIB: f64 = 1024.0;
    const KINDS: [fn(f64) -> Counts; 2] = [
        |requests| completed(whole(requests), 0),
        |kib| completed(0, whole(kib * KIB)),
    ];
    let every_ms = every_ms(load, rates);
    let ends = with_gaps(&ends(rates), every_ms);
    let mut ticks = empty_ticks(&ends, load.txns.len());
    for (logs, counted) in [rates, bandwidth].into_iter().zip(KINDS) {
        for (row, span) in logs.iter().flat_map(|log| spans(log, every_ms)) {
            if let Some(txn) = place(load, row.direction)
                && let Some(tick) = tick_of(&ends, row)
            {
                let amount = row.value as f64 * span.as_secs_f64();
                ticks[tick].counts[txn].add(&counted(amount));
            }
        }
    }
    if bandwidth.is_empty() {
        bytes_of(load, &mut ticks);
    }
    replace(load, rates, ticks, CountsSource::IopsLog)?;
    Ok(())
}

fn whole(n: f64) -> u64 {
    n.round().clamp(0.0, 1e15) as u64
}
