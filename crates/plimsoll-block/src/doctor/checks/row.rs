//! A check's row in the report, by its level.

use plimsoll_record::message::DoctorFinding;
use plimsoll_record::{Diagnosis, DiagnosisLevel};

pub fn diagnosis(level: DiagnosisLevel, code: &str, finding: DoctorFinding) -> Diagnosis {
    Diagnosis {
        subject: None,
        code: code.into(),
        level,
        disk: None,
        finding,
    }
}

pub fn ok(code: &str, finding: DoctorFinding) -> Diagnosis {
    diagnosis(DiagnosisLevel::Ok, code, finding)
}

pub fn unknown(code: &str, finding: DoctorFinding) -> Diagnosis {
    diagnosis(DiagnosisLevel::Unknown, code, finding)
}

pub fn warning(code: &str, finding: DoctorFinding) -> Diagnosis {
    diagnosis(DiagnosisLevel::Warning, code, finding)
}

pub fn error(code: &str, finding: DoctorFinding) -> Diagnosis {
    diagnosis(DiagnosisLevel::Error, code, finding)
}
