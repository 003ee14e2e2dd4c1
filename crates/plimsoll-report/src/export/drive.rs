//! One row for each second, emulated drive and kind of operation.

use plimsoll_analysis::summary::lateness_us;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::{DriveRow, Record};

use super::{name, quoted};

pub(super) fn csv(record: &Record) -> String {
    let mut out = String::from(
        "start_s,end_s,medium,op,ops,bytes,errors,modelled_mean_us,modelled_p50_us,modelled_p99_us,modelled_max_us,\
         real_mean_us,real_p50_us,real_p99_us,real_max_us,late_p50_us,late_p99_us,beyond\n",
    );
    for row in &record.drive {
        let DriveRow {
            subject,
            start,
            end,
            op,
            ops,
            bytes,
            errors,
            modelled,
            real,
            late,
            beyond,
        } = row;
        let mut cells = vec![
            start.as_secs_f64().to_string(),
            end.as_secs_f64().to_string(),
            quoted(name(record, *subject)),
            op.name().to_owned(),
        ];
        cells.extend([ops, bytes, errors].map(u64::to_string));
        cells.extend([modelled, real].into_iter().flat_map(times));
        cells.extend([0.5, 0.99].map(|q| shown(lateness_us(late, q))));
        cells.push(beyond.to_string());
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

fn times(hist: &CoarseHist) -> [String; 4] {
    [
        hist.mean(),
        hist.quantile(0.5),
        hist.quantile(0.99),
        hist.max(),
    ]
    .map(|time| shown(time.map(Nanos::as_micros_f64)))
}

fn shown(us: Option<f64>) -> String {
    us.map(|us| us.to_string()).unwrap_or_default()
}
