//! The drives of an emulated array or cluster over a point's window.
//!
//! | figure | formula |
//! | --- | --- |
//! | rates, queue, busy, power | means of the model's seconds over the window |
//! | wear | bytes to flash (without flash: bytes written) / those of all drives |
//! | write amplification | bytes to flash / bytes written |
//! | joules per transaction | power / transactions per second, of all systems on the drive |
//! | all | sums; of busy times the mean; write amplification of the sums |

use super::drive_summary::MemberSummary;
use super::index::Index;
use super::means::MetricMean;
use plimsoll_plan::PlacedName;
use plimsoll_record::SubjectKind;
use plimsoll_record::metric::Metric;

/// The row of all drives together.
const ALL_MEMBERS: &str = "all";

/// All together, and each in its order in the array; those of which nothing was recorded are left out. `rate`: transactions
/// per second that all of this was done for.
pub(super) fn of(
    index: &Index,
    medium: &str,
    means: &[MetricMean],
    rate: Option<f64>,
) -> Vec<MemberSummary> {
    let subjects = index.record.subjects.iter();
    let members = subjects.filter(|own| {
        let placed = PlacedName::parse(&own.name);
        own.kind == SubjectKind::Member && placed.medium == Some(medium)
    });
    let rows: Vec<MemberMeans<'_>> = members
        .filter_map(|own| MemberMeans::of(&own.name, means))
        .collect();
    let all: f64 = rows.iter().map(MemberMeans::wear).sum();
    let each: Vec<MemberSummary> = rows.iter().map(|own| own.summary(all)).collect();
    let mut members: Vec<MemberSummary> = MemberSummary::all(&each, &rows).into_iter().collect();
    members.extend(each);
    let rate = rate.filter(|rate| *rate > 0.0);
    for own in &mut members {
        own.joules_per_transaction = own.watts.zip(rate).map(|(watts, rate)| watts / rate);
    }
    members
}

impl MemberSummary {
    fn all(members: &[Self], means: &[MemberMeans<'_>]) -> Option<Self> {
        let first = members.first()?;
        let sum = |of: fn(&Self) -> f64| members.iter().map(of).sum::<f64>();
        let known = |of: fn(&Self) -> Option<f64>| members.iter().map(of).sum::<Option<f64>>();
        let total = |metric| means.iter().map(|own| own.mean(metric)).sum::<f64>();
        let [flash, written] = [Metric::MemberFlashBytes, Metric::MemberWriteBytes].map(total);
        Some(Self {
            member: ALL_MEMBERS.to_owned(),
            reads_per_second: sum(|own| own.reads_per_second),
            writes_per_second: sum(|own| own.writes_per_second),
            read_mb_per_second: sum(|own| own.read_mb_per_second),
            written_mb_per_second: sum(|own| own.written_mb_per_second),
            wear_percent: first.wear_percent.map(|_| 100.0),
            queue: sum(|own| own.queue),
            busy_percent: sum(|own| own.busy_percent) / members.len() as f64,
            write_amplification: (flash > 0.0 && written > 0.0).then(|| flash / written),
            watts: known(|own| own.watts),
            joules_per_transaction: None,
        })
    }
}

struct MemberMeans<'a> {
    name: &'a str,
    means: Vec<&'a MetricMean>,
}

impl<'a> MemberMeans<'a> {
    fn of(name: &'a str, means: &'a [MetricMean]) -> Option<Self> {
        let own = means.iter();
        let own =
            own.filter(|mean| mean.subject_kind == SubjectKind::Member && mean.subject == name);
        let means: Vec<&MetricMean> = own.collect();
        (!means.is_empty()).then_some(Self { name, means })
    }

    fn mean(&self, metric: Metric) -> f64 {
        self.recorded(metric).unwrap_or_default()
    }

    fn recorded(&self, metric: Metric) -> Option<f64> {
        let mut means = self.means.iter();
        let own = means.find(|mean| mean.metric == metric.info().name);
        own.map(|mean| mean.mean)
    }

    fn wear(&self) -> f64 {
        let flash = self.mean(Metric::MemberFlashBytes);
        if flash > 0.0 {
            flash
        } else {
            self.mean(Metric::MemberWriteBytes)
        }
    }

    fn summary(&self, wear_of_all: f64) -> MemberSummary {
        let [flash, written] = [Metric::MemberFlashBytes, Metric::MemberWriteBytes];
        let [flash, written] = [self.mean(flash), self.mean(written)];
        MemberSummary {
            member: PlacedName::parse(self.name).name.to_owned(),
            reads_per_second: self.mean(Metric::MemberReads),
            writes_per_second: self.mean(Metric::MemberWrites),
            read_mb_per_second: self.mean(Metric::MemberReadBytes) / 1e6,
            written_mb_per_second: written / 1e6,
            wear_percent: (wear_of_all > 0.0).then(|| 100.0 * self.wear() / wear_of_all),
            queue: self.mean(Metric::MemberQueue),
            busy_percent: self.mean(Metric::MemberBusy),
            write_amplification: (flash > 0.0 && written > 0.0).then(|| flash / written),
            watts: self.recorded(Metric::MemberWatts),
            joules_per_transaction: None,
        }
    }
}
