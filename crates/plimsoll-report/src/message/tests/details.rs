//! Sentences of what was compared and found.

use super::*;

#[test]
fn a_check_shows_its_condition_and_what_violates_it() {
    use plimsoll_record::message::check::{RowBound, RowRequirement};
    let m = Messages::english();
    let fails = CheckDetail::Fails {
        key: "w_id=2".to_owned(),
        left: "123.45".to_owned(),
        right: "123.40".to_owned(),
        violations: 1,
        rows: 2,
        table: "warehouse".to_owned(),
    };
    let missing = |table: &str, bound| RowRequirement {
        table: table.to_owned(),
        rows: 0,
        bound,
        expected: 200_000,
    };
    let missing = CheckDetail::RowsMissing {
        warehouses: 2,
        tables: vec![
            missing("stock", RowBound::Exactly),
            missing("orders", RowBound::AtLeast),
        ],
    };
    let hold = |bound| CheckDetail::TablesHold { bound, loaded: 100 };
    let differs = CheckDetail::TableDiffers {
        bound: RowBound::Exactly,
        loaded: 100,
        table: "sbtest2".to_owned(),
        rows: 100,
        in_range: 100,
        sum: 5050,
        whole: 98,
    };
    let requests = |errno, is_verify| CheckDetail::RequestsFailed {
        failed: 3,
        offered: 40,
        errno,
        is_verify,
    };
    let texts = [
        m.check("3.3.2.1", &CheckDetail::Holds),
        m.check("3.3.2.1", &fails),
        m.check("3.3.2.6", &missing),
        m.check("rows", &hold(RowBound::AtLeast)),
        m.check("ids", &hold(RowBound::AtMost)),
        m.check("values", &differs),
        m.check("", &requests(None, false)),
        m.check("", &requests(Some(84), true)),
        m.check("", &requests(Some(5), false)),
        m.check("", &CheckDetail::UsersFailed { users: 1 }),
        m.check("3.3.2.1", &CheckDetail::from("as it stands".to_owned())),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    W_YTD = Σ D_YTD holds
    W_YTD = Σ D_YTD fails for w_id=2: 123.45 ≠ 123.40 (1 of 2 rows of warehouse)
    O_OL_CNT = rows of ORDER-LINE cannot be evaluated: stock has 0 rows, not 200,000, orders has 0 rows, not at least 200,000 (for 2 warehouses)
    at least 100 rows in each table
    no id is outside of 1 to 100
    c and pad have their full length: sbtest2 has 100 rows, 100 of them with loaded ids (sum 5,050), 98 with full texts
    3 of 40 requests failed
    3 of 40 requests failed; blocks did not hold what was written (error 84)
    3 of 40 requests failed; fio ended with error 5 (errno)
    1 virtual user ended with an error (FINISHED FAILED)
    as it stands
    ");
}

#[test]
fn what_was_compared_has_its_sentence() {
    let m = Messages::english();
    let reset = |conditions| ResetCheck::AsAtFirst {
        bytes: 123_456,
        conditions,
    };
    let fails = BackupDetail::ConditionFails {
        clause: "3.3.2.1".to_owned(),
        check: Box::new(CheckDetail::TableEmpty {
            table: "warehouse".to_owned(),
        }),
    };
    let lost = |before_load| FirstLost::OfDistrict {
        lost: 2,
        acknowledged: 30,
        before_load,
        warehouse: 3,
        district: 7,
    };
    let texts = [
        m.reset_check(&reset(None)),
        m.reset_check(&reset(Some(12))),
        m.backup_detail(&fails),
        m.backup_detail(&BackupDetail::NotVerified),
        m.first_lost(&lost(None)),
        m.first_lost(&lost(Some(5))),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    what transactions left is as at first (123,456 bytes then); conditions were not verified
    what transactions left is as at first (123,456 bytes then); 12 conditions hold
    condition 3.3.2.1 does not hold: W_YTD = Σ D_YTD cannot be evaluated: warehouse is empty
    ended before it was verified
    2 of 30 of warehouse 3, district 7
    2 of 30 of warehouse 3, district 7, and 5 from before the load
    ");
}

/// Findings of the doctor that are never worse than unknown.
const WITHOUT_ADVICE: &[&str] = &[
    "doctor-governor-unset",
    "doctor-governor-full-clock",
    "doctor-clock-unknown",
    "doctor-clock-quick",
    "doctor-steal-unknown",
    "doctor-not-in-use",
    "doctor-no-health-report",
    "doctor-health-not-read",
    "doctor-health-good",
    "doctor-cache-unknown",
    "doctor-no-cache",
    "doctor-cache-flushed",
    "doctor-power-loss-protected",
    "doctor-power-loss-volatile",
    "doctor-power-loss-no-cache",
    "doctor-scheduler-unknown",
    "doctor-scheduler",
    "doctor-queue-unknown",
    "doctor-queue",
    "doctor-whole-drive",
    "doctor-aligned",
    "doctor-noise-unknown",
    "doctor-array-settings",
    "doctor-mount-options-fine",
    "doctor-no-device-to-read",
    "doctor-too-small-to-read",
    "doctor-all-zero",
    "doctor-entropy",
];

#[test]
fn what_the_doctor_warns_of_has_advice() {
    let messages = messages();
    let doctor = coded().filter(|(id, ..)| id.starts_with("doctor-"));
    let without: Vec<String> = doctor
        .map(|(id, ..)| id)
        .filter(|id| !messages[id].contains("    .next = "))
        .collect();
    assert_eq!(without, WITHOUT_ADVICE);
}

#[test]
fn percentages_of_the_doctor_have_two_digits() {
    let m = Messages::english();
    let text = |level, finding| {
        m.diagnosis(&Diagnosis {
            subject: None,
            code: String::new(),
            level,
            disk: None,
            finding,
        })
    };
    let steal = DoctorFinding::Steal {
        now_percent: Some(12.345),
        since_boot_percent: 0.034_56,
    };
    let worn = DoctorFinding::HealthWorn {
        used_percent: 100,
        program: "nvme".to_owned(),
    };
    let texts = [
        text(DiagnosisLevel::Warning, steal),
        text(
            DiagnosisLevel::Ok,
            DoctorFinding::OtherPrograms { busy_percent: 99.7 },
        ),
        text(DiagnosisLevel::Warning, worn),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    Other virtual machines take CPU time, so times are longer than the storage makes them (12 % now, 0.035 % since boot).
    Other programs use 100 % of the CPUs.
    100 % of the drive's endurance is used up (nvme).
    ");
}

#[test]
fn causes_have_their_sentences() {
    use plimsoll_record::message::doctor::{HealthFault, NoDeviceCause};
    let m = Messages::english();
    let event = EventKind::NoDevice {
        medium: "ssd".to_owned(),
        cause: NoDeviceCause::SeveralDevices,
        what: "2".to_owned(),
    };
    let none = |cause, what: &str| DoctorFinding::NoBlockDevice {
        cause,
        what: what.to_owned(),
    };
    let health = |cause, program: Option<&str>, what: &str| DoctorFinding::HealthUnreadable {
        cause,
        program: program.map(str::to_owned),
        what: what.to_owned(),
    };
    let found = |finding| m.found(DiagnosisLevel::Unknown, &finding);
    let texts = [
        m.event(&event),
        found(none(NoDeviceCause::NotOnDevice, "proc")),
        found(none(NoDeviceCause::Error, "No such file or directory")),
        found(health(HealthFault::TimedOut, Some("smartctl"), "2")),
        found(health(HealthFault::NoNode, None, "")),
        found(health(
            HealthFault::Error,
            Some("nvme"),
            "Permission denied",
        )),
        found(health(
            HealthFault::Error,
            None,
            "/dev/vda: Unable to detect device type",
        )),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    Medium ssd has no block device to watch (this btrfs is on 2 devices; give each of them as a device to watch).
    There is no block device (a proc filesystem is not on a block device).
    There is no block device (No such file or directory).
    The drive's health cannot be read (smartctl gave no answer within 2 s).
    The drive's health cannot be read (it has no device node).
    The drive's health cannot be read (nvme: Permission denied).
    The drive's health cannot be read (/dev/vda: Unable to detect device type).
    ");
}
