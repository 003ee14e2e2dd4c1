//! The array that a medium lies on.

use plimsoll_record::message::DoctorFinding;
use plimsoll_record::message::doctor::StorageArrayState;
use plimsoll_record::{Diagnosis, DiagnosisLevel};

use super::row::{diagnosis, ok};
use crate::doctor::evidence::{ArrayEvidence, MdSettings, MediumEvidence};

/// What it is and whether it is whole, and how md is set up.
pub fn array(medium: &MediumEvidence) -> Vec<Diagnosis> {
    let Some(own) = &medium.array else {
        return Vec::new();
    };
    let state = state(own);
    let level = match state {
        StorageArrayState::Whole => DiagnosisLevel::Ok,
        _ => DiagnosisLevel::Warning,
    };
    let found = DoctorFinding::Array {
        state,
        name: own.name.clone(),
        raid: own.level.clone(),
        members: own.members,
        missing: own.missing,
        action: own.action.clone(),
        errors: own.errors,
    };
    let mut rows = vec![diagnosis(level, "array", found)];
    rows.extend(own.md.as_ref().map(settings));
    rows
}

fn state(own: &ArrayEvidence) -> StorageArrayState {
    let is_filled = own.action.as_deref() == Some("recover");
    if own.missing > 0 && !is_filled {
        StorageArrayState::Degraded
    } else if own.action.is_some() {
        StorageArrayState::Busy
    } else if own.errors > 0 {
        StorageArrayState::Errors
    } else {
        StorageArrayState::Whole
    }
}

fn settings(md: &MdSettings) -> Diagnosis {
    let found = DoctorFinding::ArraySettings {
        chunk_bytes: md.chunk,
        bitmap: md.bitmap.clone(),
        stripe_cache: md.stripe_cache,
        journal: md.journal.clone(),
    };
    ok("array_settings", found)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_finding, disk, medium_of};
    use super::*;
    use plimsoll_report::message::Messages;

    fn found(change: impl FnOnce(&mut ArrayEvidence)) -> Diagnosis {
        let mut own = ArrayEvidence {
            name: "md0".into(),
            level: "raid5".into(),
            members: 4,
            missing: 0,
            action: None,
            errors: 0,
            md: None,
        };
        change(&mut own);
        let rows = array(&MediumEvidence {
            array: Some(own),
            ..medium_of(disk())
        });
        rows.into_iter().next().unwrap()
    }

    #[test]
    fn what_is_not_whole_is_a_warning() {
        use DiagnosisLevel::{Ok, Warning};
        assert_finding(&found(|_| ()), Ok, &["whole"]);
        let text = Messages::english().diagnosis(&found(|_| ()));
        assert_eq!(text, "md0 (raid5 of 4 drives) is whole.");
        assert_finding(&found(|own| own.missing = 1), Warning, &["degraded"]);
        let check = |own: &mut ArrayEvidence| own.action = Some("check".into());
        assert_finding(&found(check), Warning, &["busy", "check"]);
        let recover = |own: &mut ArrayEvidence| {
            own.missing = 1;
            own.action = Some("recover".into());
        };
        assert_finding(&found(recover), Warning, &["busy", "recover"]);
        assert_finding(&found(|own| own.errors = 2), Warning, &["errors"]);
    }

    #[test]
    fn settings_of_md_are_shown() {
        let md = MdSettings {
            chunk: Some(65_536),
            bitmap: Some("+8".into()),
            stripe_cache: Some(256),
            journal: None,
        };
        assert_finding(&settings(&md), DiagnosisLevel::Ok, &["65536", "+8", "256"]);
    }
}
