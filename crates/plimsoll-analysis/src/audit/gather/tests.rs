//! Records in which something is wrong, and what the audit makes of them.

mod removed;

use super::load::{checkpoints, precision};
use crate::audit::input::{AuditInput, LoadInput};
use crate::audit::rules::evaluate;
use crate::audit::{
    Audit, AuditFault, AuditSubject, Evidence, Missing, Rule, RuleOutcome, RuleVerdict, audit,
    audit_pair,
};
use crate::compare::{ComparedSide, unlike};
use crate::summarise;
use crate::summary::FigureId;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Interference, RecordedPlan, Thresholds};
use plimsoll_record::fixture;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::Absence;
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::{
    Diagnosis, DiagnosisLevel, Fact, INSTANCE_OF, Outage, Phase, PhaseId, Point, PointId, Record,
    Severity, Subject, SubjectId, SubjectKind,
};

const HOST: SubjectId = SubjectId(1);
const FAST: SubjectId = SubjectId(4);
const DB_FAST: SubjectId = SubjectId(6);

fn of(record: &Record) -> Audit {
    audit(record, &summarise(record).figures)
}

fn verdicts(audit: &Audit, rule: Rule) -> Vec<&RuleVerdict> {
    audit
        .verdicts
        .iter()
        .filter(|verdict| verdict.rule == rule)
        .collect()
}

fn worst(audit: &Audit, rule: Rule) -> Option<Severity> {
    verdicts(audit, rule)
        .iter()
        .filter_map(|verdict| verdict.outcome.severity())
        .max()
}

fn passes(audit: &Audit, rule: Rule) -> bool {
    let own = verdicts(audit, rule);
    worst(audit, rule).is_none()
        && own
            .iter()
            .any(|verdict| matches!(verdict.outcome, RuleOutcome::Passed { .. }))
}

fn not_evaluated(audit: &Audit, rule: Rule, why: Missing) -> bool {
    verdicts(audit, rule)
        .iter()
        .all(|verdict| verdict.outcome == RuleOutcome::NotEvaluated { because: why })
}

fn fact(record: &mut Record, subject: SubjectId, key: &str, value: &str) {
    record
        .facts
        .retain(|fact| fact.subject != subject || fact.key != key);
    record.facts.push(Fact {
        subject,
        key: key.to_owned(),
        value: value.to_owned(),
    });
}

fn server() -> Record {
    let mut record = fixture::single_point();
    record.plan = plan("engine = \"postgres\"", "");
    record
}

/// Of the fixture's step, on another system and with other thresholds.
fn plan(system: &str, audit: &str) -> RecordedPlan {
    fixture::plan(&format!(
        "title = \"t\"\n[medium.fast]\npath = \"/srv/fast\"\n[system.db]\n{system}\n[audit]\n{audit}\n\
         [workload.oltp.tpcc]\nwarehouses = 4\n\
         [[step]]\nname = \"ladder\"\nrun = \"oltp\"\nsystem = \"db\"\nusers = 8\n"
    ))
}

#[test]
fn every_rule_has_a_verdict_on_every_record() {
    let records = [
        fixture::record(),
        fixture::nothing_measured(),
        fixture::single_point(),
        fixture::search(),
        fixture::block(),
    ];
    for record in records {
        let audit = of(&record);
        assert!(
            Rule::ALL
                .into_iter()
                .all(|rule| !verdicts(&audit, rule).is_empty()),
            "{}",
            record.run.title
        );
    }
    let nothing = of(&fixture::nothing_measured());
    assert!(not_evaluated(
        &nothing,
        Rule::Little,
        Missing::NothingMeasured
    ));
    assert_eq!(
        worst(&nothing, Rule::Short),
        Some(Severity::Error),
        "as the summary has it"
    );
}

#[test]
fn durability_is_read_from_settings_and_mounts() {
    let mut record = server();
    assert!(
        passes(&of(&record), Rule::Durable),
        "the mount options are known, and fine"
    );
    fact(&mut record, DB_FAST, "setting.fsync", "off");
    let audit = of(&record);
    assert_eq!(worst(&audit, Rule::Durable), Some(Severity::Warning));
    let RuleOutcome::Fired { evidence, .. } = &verdicts(&audit, Rule::Durable)[0].outcome else {
        panic!()
    };
    assert_eq!(
        evidence[0],
        Evidence::Unsafe {
            setting: "fsync".to_owned(),
            value: "off".to_owned()
        }
    );
    fact(&mut record, DB_FAST, "setting.fsync", "on");
    fact(&mut record, FAST, "mount_options", "rw,nobarrier");
    assert_eq!(worst(&of(&record), Rule::Durable), Some(Severity::Warning));
}

#[test]
fn a_power_cut_that_loses_transactions_is_an_error() {
    assert_eq!(
        worst(&of(&fixture::record()), Rule::Durable),
        Some(Severity::Error)
    );
}

#[test]
fn where_the_generator_ran() {
    let mut record = server();
    assert_eq!(worst(&of(&record), Rule::SameBox), Some(Severity::Note));
    let url = |host: &str| plan(&format!("url = \"postgres://u@{host}/d\""), "");
    record.plan = url("db.example.org:5432");
    assert!(passes(&of(&record), Rule::SameBox));
    assert!(verdicts(&of(&record), Rule::Cached).iter().all(|verdict| {
        !matches!(&verdict.outcome, RuleOutcome::Fired { evidence, .. } if matches!(evidence[0], Evidence::DataAndMemory { .. }))
    }), "the memory that is known is not the server's");
    record.plan = url("localhost");
    assert_eq!(worst(&of(&record), Rule::SameBox), Some(Severity::Note));
    record.plan = RecordedPlan::Imported;
    assert!(not_evaluated(&of(&record), Rule::SameBox, Missing::NoPlace));
}

#[test]
fn nothing_is_evaluated_without_the_plan_of_the_run() {
    let mut record = server();
    record.plan = RecordedPlan::from_text("what a plan never is");
    let audit = of(&record);
    assert!(
        audit.has_errors() && matches!(&audit.faults[..], [AuditFault::PlanUnreadable { .. }]),
        "{audit:?}"
    );
    for rule in Rule::ALL.into_iter().filter(|rule| *rule != Rule::Intact) {
        assert!(not_evaluated(&audit, rule, Missing::PlanUnreadable));
    }
    assert!(passes(&audit, Rule::Intact), "which needs no plan");
}

#[test]
fn counts_conditions_and_drives_are_the_summarys() {
    let audit = of(&fixture::record());
    assert_eq!(worst(&audit, Rule::Consist), Some(Severity::Error));
    assert!(worst(&audit, Rule::Emulated) >= Some(Severity::Warning));
    let mut record = fixture::single_point();
    assert!(passes(&of(&record), Rule::Conserve));
    record.seconds.edit(|s| s[20].counts.committed += 1);
    assert_eq!(worst(&of(&record), Rule::Conserve), Some(Severity::Error));
}

#[test]
fn a_transaction_that_ended_after_the_window_may_be_the_longest() {
    let mut record = fixture::single_point();
    record.points[0].users *= 2;
    record.points[0].connections *= 2;
    assert_eq!(worst(&of(&record), Rule::Little), Some(Severity::Error));
    let cool = record
        .phases
        .iter()
        .find(|phase| phase.kind == PhaseKind::Cool);
    let cool = cool.unwrap().id;
    let mut after = record.windows[0].clone();
    after.phase = cool;
    after.response = Hist::default();
    after.response.record(Nanos::from_secs(60));
    record.windows.push(after);
    assert!(not_evaluated(
        &of(&record),
        Rule::Little,
        Missing::TooShortForLongest
    ));
}

#[test]
fn edges_of_a_window_weigh_more_where_connections_were_away() {
    let mut record = fixture::single_point();
    let phase_of = |kind| record.phases.iter().find(|phase| phase.kind == kind);
    let measure = phase_of(PhaseKind::Measure).unwrap().clone();
    let cool = phase_of(PhaseKind::Cool).unwrap().id;
    let point = &record.points[0];
    // A quarter of the connections is left, and twice as much is in flight.
    let measured = measure.end.saturating_sub(measure.start);
    let connections = Nanos(measured.0 / 4 * 3) * u64::from(point.connections);
    record.outages.push(Outage {
        phase: measure.id,
        subject: point.system,
        start: measure.start,
        end: measure.end,
        absence: Absence {
            server: Nanos::ZERO,
            connections,
        },
    });
    assert_eq!(worst(&of(&record), Rule::Little), Some(Severity::Error));
    let mut after = record.windows[0].clone();
    after.phase = cool;
    after.response = Hist::default();
    after.response.record(Nanos(measured.0 / 10 * 6));
    record.windows.push(after);
    assert!(not_evaluated(
        &of(&record),
        Rule::Little,
        Missing::TooShortForLongest
    ));
}

#[test]
fn imported_latencies_have_their_method() {
    let mut record = fixture::single_point();
    assert!(
        passes(&of(&record), Rule::Omission) && passes(&of(&record), Rule::PctAvg),
        "plimsoll's own"
    );
    fact(&mut record, DB_FAST, "import.tool", "wrk");
    assert!(
        not_evaluated(&of(&record), Rule::Omission, Missing::NoMethod),
        "the tool does not state it"
    );
    fact(&mut record, DB_FAST, "import.response_from", "start");
    fact(&mut record, DB_FAST, "import.percentiles", "averaged");
    assert!(passes(&of(&record), Rule::Omission), "a closed loop");
    assert_eq!(worst(&of(&record), Rule::PctAvg), Some(Severity::Error));
    record.points[0].offered_per_second = Some(100.0);
    assert_eq!(worst(&of(&record), Rule::Omission), Some(Severity::Error));
    fact(&mut record, DB_FAST, "import.response_from", "unknown");
    assert!(not_evaluated(
        &of(&record),
        Rule::Omission,
        Missing::NoMethod
    ));
}

#[test]
fn what_the_doctor_found_is_evidence() {
    let mut record = fixture::block();
    record.diagnoses.clear();
    assert_eq!(
        (
            worst(&of(&record), Rule::Lies),
            worst(&of(&record), Rule::Thin)
        ),
        (None, None)
    );
    for (code, level) in [
        ("fsync", DiagnosisLevel::Error),
        ("unwritten", DiagnosisLevel::Warning),
    ] {
        record.diagnoses.push(Diagnosis {
            subject: Some(FAST),
            code: code.to_owned(),
            level,
            disk: None,
            finding: DoctorFinding::NoDeviceToRead,
        });
    }
    let audit = of(&record);
    assert_eq!(worst(&audit, Rule::Lies), Some(Severity::Error));
    assert_eq!(worst(&audit, Rule::Thin), Some(Severity::Warning));
    record.diagnoses.clear();
    record.blocks.iter_mut().for_each(|block| block.fill = 0.5);
    assert_eq!(worst(&of(&record), Rule::Thin), Some(Severity::Warning));
    fact(&mut record, HOST, "governor", "powersave");
    assert_eq!(worst(&of(&record), Rule::Noise), Some(Severity::Warning));
}

/// The record's point again, with other ids and on another system.
fn again(record: &mut Record, (id, shift): (u32, u32), system: SubjectId, scene: Interference) {
    let first = record.points[0].clone();
    record.points.push(Point {
        id: PointId(id),
        system,
        scene,
        ..first.clone()
    });
    let own: Vec<Phase> = record
        .phases
        .iter()
        .filter(|phase| phase.point == Some(first.id))
        .cloned()
        .collect();
    for phase in own {
        let new = PhaseId(phase.id.0 + shift);
        let seconds: Vec<_> = record
            .seconds
            .iter()
            .filter(|second| second.phase == phase.id)
            .map(|second| second.to_second())
            .collect();
        record
            .seconds
            .extend(seconds.into_iter().map(|second| plimsoll_record::Second {
                phase: new,
                subject: system,
                ..second
            }));
        let windows: Vec<_> = record
            .windows
            .iter()
            .filter(|window| window.phase == phase.id)
            .cloned()
            .collect();
        record
            .windows
            .extend(windows.into_iter().map(|window| plimsoll_record::Window {
                phase: new,
                subject: system,
                ..window
            }));
        record.phases.push(Phase {
            id: new,
            point: Some(PointId(id)),
            ..phase
        });
    }
}

#[test]
fn noise_is_compared_with_the_same_load_without_it() {
    let mut record = server();
    let other = SubjectId(90);
    record.subjects.push(Subject {
        id: other,
        kind: SubjectKind::System,
        name: "db-2@fast".to_owned(),
    });
    for subject in [DB_FAST, other] {
        fact(&mut record, subject, INSTANCE_OF, "db");
    }
    record.points[0].scene = Interference::Quiet;
    again(&mut record, (91, 1000), DB_FAST, Interference::Noisy);
    let audit = of(&record);
    assert!(
        passes(&audit, Rule::Victims),
        "{:?}",
        verdicts(&audit, Rule::Victims)
    );
    assert!(
        passes(&audit, Rule::OneFactor),
        "{:?}",
        verdicts(&audit, Rule::OneFactor)
    );
    assert_eq!(
        worst(&audit, Rule::Repeat),
        Some(Severity::Warning),
        "one run of each"
    );
    // Two systems in quiet, one beside the noise.
    again(&mut record, (92, 2000), other, Interference::Quiet);
    let audit = of(&record);
    assert_eq!(
        worst(&audit, Rule::Victims),
        Some(Severity::Error),
        "{:?}",
        verdicts(&audit, Rule::Victims)
    );
}

#[test]
fn media_are_compared_with_the_first() {
    let audit = of(&fixture::record());
    let is_pair = |verdict: &&&RuleVerdict| matches!(&verdict.about, AuditSubject::Pair { first, .. } if first == "db@fast");
    for rule in [
        Rule::OneFactor,
        Rule::Maint,
        Rule::Repeat,
        Rule::SameBox,
        Rule::Durable,
        Rule::Size,
    ] {
        assert_eq!(
            verdicts(&audit, rule).iter().filter(is_pair).count(),
            1,
            "{}",
            rule.code()
        );
    }
    // Its databases have different versions and settings.
    assert_eq!(worst(&audit, Rule::OneFactor), Some(Severity::Error));
}

#[test]
fn the_rated_capacity_of_a_drive_is_no_second_factor() {
    let differences = |capacities: [&str; 2]| {
        let mut record = fixture::block();
        let media: Vec<SubjectId> = (record.subjects.iter())
            .filter(|own| own.kind == SubjectKind::Medium)
            .map(|own| own.id)
            .collect();
        for (place, subject) in media.iter().enumerate() {
            let gb = [960, 1920][place.min(1)];
            let file = format!("capacity_gb = {{ value = {gb}, source = \"name\" }}");
            fact(&mut record, *subject, "drive_file", &file);
            fact(&mut record, *subject, "capacity", capacities[place.min(1)]);
        }
        let audit = of(&record);
        let found = verdicts(&audit, Rule::OneFactor).into_iter();
        let found = found
            .map(|own| format!("{:?}", own.outcome))
            .collect::<String>();
        found.contains("capacity")
    };
    assert!(!differences(["894.1 GiB", "1.7 TiB"]));
    assert!(differences(["894.1 GiB", "400 GiB"]));
    // Neither is a cluster's whose members differ.
    assert!(!differences(["894.1 GiB", "894.1 GiB"]));
}

#[test]
fn runs_that_differ_in_one_thing() {
    let (first, mut second) = (server(), server());
    let pair = |second: &Record| {
        let (a, b) = (summarise(&first), summarise(second));
        audit_pair((&first, &a.figures), (second, &b.figures), None).unwrap()
    };
    fact(&mut second, HOST, "cpus", "24");
    let one = pair(&second);
    assert!(
        passes(&one, Rule::OneFactor),
        "{:?}",
        verdicts(&one, Rule::OneFactor)
    );
    fact(&mut second, HOST, "kernel", "7.0");
    assert_eq!(
        worst(&pair(&second), Rule::OneFactor),
        Some(Severity::Warning),
        "no cause is named"
    );
    let nothing = fixture::nothing_measured();
    assert!(
        audit_pair(
            (&first, &summarise(&first).figures),
            (&nothing, &summarise(&nothing).figures),
            None
        )
        .is_none()
    );
}

#[test]
fn runs_of_unlike_workloads_are_an_error() {
    let of = |fixture: fn() -> Record, bs: &str| {
        let mut record = fixture();
        record
            .points
            .iter_mut()
            .for_each(|point| point.parameters = [("script".to_owned(), bs.to_owned())].into());
        let summary = summarise(&record);
        (record, summary)
    };
    // Block I/O has no ladder, so that nothing else is compared.
    for fixture in [fixture::single_point, fixture::block] {
        let (first, second) = (of(fixture, "a"), of(fixture, "b"));
        let [a, b] = [&first, &second]
            .map(|(record, summary)| ComparedSide::of_summary("x", record, &summary.figures));
        let found = unlike(&a, &b);
        assert_eq!(
            found,
            Some(Evidence::Unlike {
                differs: "script: a / b".to_owned()
            })
        );
        assert_eq!(unlike(&a, &a), None);
        let pair = audit_pair(
            (&first.0, &first.1.figures),
            (&second.0, &second.1.figures),
            found,
        )
        .expect("an audit");
        assert_eq!(worst(&pair, Rule::OneFactor), Some(Severity::Error));
    }
}

#[test]
fn thresholds_are_those_of_the_plan() {
    let mut record = server();
    record.plan = plan("engine = \"postgres\"", "steal = 0.0\ncheckpoints = 1000");
    let audit = of(&record);
    assert_eq!(
        audit
            .adjusted
            .iter()
            .map(|threshold| threshold.key)
            .collect::<Vec<_>>(),
        ["checkpoints", "steal"]
    );
    assert_eq!(worst(&audit, Rule::Short), Some(Severity::Warning));
}

#[test]
fn three_repeats_take_the_place_of_a_longer_window() {
    let too_short = |values: &[f64], measured_s: f64| {
        let mut load = LoadInput {
            figures: precision(values, None),
            ..LoadInput::default()
        };
        load.figures.put(FigureId::MeasuredS, Ok(measured_s));
        let input = AuditInput {
            loads: vec![load],
            ..AuditInput::default()
        };
        let verdicts = evaluate(&input, &Thresholds::default());
        let short = verdicts.iter().find(|own| own.rule == Rule::Short).unwrap();
        match &short.outcome {
            RuleOutcome::Fired { evidence, .. } => evidence.clone(),
            _ => Vec::new(),
        }
    };
    let no_interval = |repeats| {
        vec![Evidence::NoInterval {
            measured_s: 299.4,
            fewest_s: 300.0,
            repeats,
            fewest_repeats: 3,
        }]
    };
    assert_eq!(too_short(&[100.0], 299.4), no_interval(1));
    assert_eq!(too_short(&[100.0, 101.0], 299.4), no_interval(2));
    let repeated = precision(&[100.0, 101.0, 99.0], None).read(FigureId::IntervalPercent);
    assert!(
        repeated.is_ok_and(|percent| (2.0..3.0).contains(&percent)),
        "{repeated:?}"
    );
    assert_eq!(
        too_short(&[100.0], 299.6),
        [],
        "long enough, and one movement"
    );
    let alone = precision(&[100.0], None).read(FigureId::IntervalPercent);
    assert_eq!(alone, Err(Missing::NoInterval));
}

#[test]
fn short_windows_are_warnings_and_those_of_a_search_notes() {
    assert_eq!(
        worst(&of(&fixture::single_point()), Rule::Short),
        Some(Severity::Warning)
    );
    let search = of(&fixture::search());
    let short = verdicts(&search, Rule::Short)
        .into_iter()
        .filter_map(|verdict| match &verdict.outcome {
            RuleOutcome::Fired {
                severity, evidence, ..
            } => Some((*severity, evidence)),
            _ => None,
        });
    for (severity, evidence) in short {
        let is_own = evidence
            .iter()
            .all(|evidence| matches!(evidence, Evidence::NoInterval { .. }));
        assert!(
            !is_own || severity == Severity::Note,
            "{severity:?} {evidence:?}"
        );
    }
}

#[test]
fn a_load_that_logs_nothing_needs_no_checkpoints() {
    let figures = summarise(&fixture::record()).figures;
    let mut point = figures.ladders[0].points[0].clone();
    let mut found = |per_minute, log| {
        let database = point.database.as_mut().unwrap();
        (database.checkpoints_per_minute, database.log_mb_per_second) = (per_minute, log);
        checkpoints(&point).map(|found| found / point.measured_s * 60.0)
    };
    assert_eq!(found(Some(0.0), Some(0.0)), Err(Missing::NotForThisLoad));
    assert_eq!(found(Some(0.0), Some(1.3)), Ok(0.0));
    assert_eq!(found(Some(0.0), None), Ok(0.0));
    assert_eq!(found(Some(60.0), Some(0.0)), Ok(60.0));
    assert_eq!(found(None, Some(0.0)), Err(Missing::NoCheckpoints));
}
