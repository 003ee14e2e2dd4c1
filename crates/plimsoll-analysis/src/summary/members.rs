//! The drives of an emulated array or cluster over a point's window.
//!
//! | figure | formula |
//! | --- | --- |
//! | rates, queue, busy, power | means of the model's seconds over the window |
//! | wear | bytes to flash (without flash: bytes written) / those of all drives |
//! | write amplification | bytes to flash / bytes written |

use super::drive_summary::MemberSummary;
use super::index::Index;
use super::means::MetricMean;
use plimsoll_plan::PlacedName;
use plimsoll_record::SubjectKind;
use plimsoll_record::metric::Metric;

/// In their order in the array; those of which nothing was recorded are left out.
pub(super) fn of(index: &Index, medium: &str, means: &[MetricMean]) -> Vec<MemberSummary> {
    let subjects = index.record.subjects.iter();
    let members = subjects.filter(|own| {
        let placed = PlacedName::parse(&own.name);
        own.kind == SubjectKind::Member && placed.medium == Some(medium)
    });
    let rows: Vec<MemberMeans<'_>> = members
        .filter_map(|own| MemberMeans::of(&own.name, means))
        .collect();
    let all: f64 = rows.iter().map(MemberMeans::wear).sum();
    rows.iter().map(|own| own.summary(all)).collect()
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
        }
    }
}
