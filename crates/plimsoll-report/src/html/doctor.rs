//! What the doctor found on machine and media before the first load.

use plimsoll_analysis::Summary;
use plimsoll_record::DiagnosisLevel;

use crate::doctor::{counts, problems, table};
use crate::message::Messages;
use crate::table::Grid;

pub(super) struct DoctorView {
    /// How much of each level there is.
    pub sentence: String,
    /// What is not as it should be, the worst first.
    pub findings: Grid,
    pub fine: Grid,
}

/// `None` where the doctor was not asked.
pub(super) fn view(m: &Messages, summary: &Summary) -> Option<DoctorView> {
    if summary.figures.diagnoses.is_empty() {
        return None;
    }
    let all = summary.figures.diagnoses.iter();
    let fine: Vec<_> = all
        .filter(|found| found.diagnosis.level == DiagnosisLevel::Ok)
        .collect();
    Some(DoctorView {
        sentence: counts(m, summary),
        findings: table().to_grid(m, &problems(summary)),
        fine: table().to_grid(m, &fine),
    })
}
