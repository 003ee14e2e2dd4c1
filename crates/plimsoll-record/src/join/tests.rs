use super::*;
use crate::fixture;

const LATER: Nanos = Nanos::from_millis(1500);

fn on_host<'a>(host: &'a str, record: Record, time: &'a dyn Fn(Nanos) -> Nanos) -> HostRecord<'a> {
    HostRecord { host, record, time }
}

fn joined_of(hosts: Vec<HostRecord<'_>>) -> Option<Record> {
    join(hosts).unwrap()
}

fn committed(record: &Record) -> u64 {
    record
        .seconds
        .iter()
        .map(|second| second.counts.committed)
        .sum()
}

#[test]
fn one_host_keeps_its_names_and_its_times_are_the_run_s() {
    let whole = fixture::record();
    let later = |at: Nanos| at + LATER;
    let joined = joined_of(vec![on_host("n1", whole.clone(), &later)]).unwrap();
    assert_eq!(joined.points.len(), whole.points.len());
    assert_eq!(committed(&joined), committed(&whole));
    assert_eq!(joined.phases[0].start, whole.phases[0].start + LATER);
    assert_eq!(joined.media(), whole.media());
    let names = |record: &Record, kind| {
        let all = record.subjects.iter().filter(|it| it.kind == kind);
        all.map(|it| it.name.clone()).collect::<Vec<String>>()
    };
    assert_eq!(
        names(&joined, SubjectKind::System),
        names(&whole, SubjectKind::System)
    );
    assert_eq!(
        names(&joined, SubjectKind::Worker)
            .first()
            .map(String::as_str),
        Some("n1")
    );
    assert_eq!(names(&joined, SubjectKind::Host), Vec::<String>::new());
    assert!(joined_of(Vec::new()).is_none());
}

#[test]
fn systems_of_two_hosts_are_instances_and_media_are_added_up() {
    let whole = fixture::record();
    let later = |at: Nanos| at + LATER;
    let same = |at: Nanos| at;
    let joined = joined_of(vec![
        on_host("n1", whole.clone(), &same),
        on_host("n2", whole.clone(), &later),
    ])
    .unwrap();
    assert_eq!(joined.points.len(), 2 * whole.points.len());
    assert_eq!(committed(&joined), 2 * committed(&whole));
    assert_eq!(joined.media(), whole.media());
    let on_n2 = joined.subjects.iter().filter(|it| it.name.contains(".n2@"));
    let bases: BTreeSet<&str> = on_n2.map(|it| joined.system_name(it)).collect();
    assert!(
        !bases.is_empty() && bases.iter().all(|base| !base.contains(".n2")),
        "{bases:?}"
    );
    let sum = |record: &Record| record.drive.iter().map(|row| row.ops).sum::<u64>();
    assert_eq!(sum(&joined), 2 * sum(&whole));
    let starts: BTreeSet<(SubjectId, usize, Nanos)> = joined
        .drive
        .iter()
        .map(|row| (row.subject, row.op as usize, row.start))
        .collect();
    assert_eq!(starts.len(), joined.drive.len(), "a second is there twice");
}

#[test]
fn a_point_that_one_host_has_not_reached_is_left_out() {
    let whole = fixture::record();
    let mut short = whole.clone();
    let last = short.points.pop().unwrap();
    short.phases.retain(|phase| phase.point != Some(last.id));
    let same = |at: Nanos| at;
    let joined = joined_of(vec![
        on_host("n1", whole.clone(), &same),
        on_host("n2", short, &same),
    ])
    .unwrap();
    assert_eq!(joined.points.len(), 2 * (whole.points.len() - 1));
    let phases: BTreeSet<_> = joined.phases.iter().map(|phase| phase.id).collect();
    assert!(
        joined
            .seconds
            .iter()
            .all(|second| phases.contains(&second.phase))
    );
}

#[test]
fn block_points_of_two_hosts_are_one_with_the_workers_of_both() {
    let whole = fixture::block();
    let same = |at: Nanos| at;
    let joined = joined_of(vec![
        on_host("n1", whole.clone(), &same),
        on_host("n2", whole.clone(), &same),
    ])
    .unwrap();
    let blocks = |record: &Record| record.points.iter().filter(|it| it.is_block()).count();
    assert_eq!(blocks(&joined), blocks(&whole));
    assert_eq!(joined.blocks.len(), whole.blocks.len());
    assert_eq!(joined.blocks[0].workers, 2 * whole.blocks[0].workers);
    assert_eq!(joined.shares.len(), 2 * whole.shares.len());
    let workers: BTreeSet<(PointId, u32, u32)> = joined
        .shares
        .iter()
        .map(|it| (it.point, it.worker, it.txn))
        .collect();
    assert_eq!(workers.len(), joined.shares.len());
    assert_eq!(committed(&joined), 2 * committed(&whole));
    assert_eq!(joined.seconds.len(), whole.seconds.len());
    let requests = |record: &Record| {
        record
            .windows
            .iter()
            .map(|it| it.response.count())
            .sum::<u64>()
    };
    assert_eq!(requests(&joined), 2 * requests(&whole));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("joined.plimsoll");
    let file = crate::runfile::RunFile::create(&path, &whole.run, "", &whole.plan).unwrap();
    file.subject(SubjectKind::Worker, "n2").unwrap();
    file.add(joined.clone()).unwrap();
    drop(file);
    let read = crate::runfile::read(&path).unwrap();
    assert_eq!(committed(&read), committed(&joined));
    assert_eq!(read.shares.len(), joined.shares.len());
}

#[test]
fn a_point_that_one_host_left_early_is_as_long_on_all() {
    let whole = fixture::block();
    let mut short = whole.clone();
    let measured = short
        .phases
        .iter_mut()
        .rfind(|phase| phase.kind == plimsoll_plan::schedule::PhaseKind::Measure);
    let phase = measured.unwrap();
    phase.complete = false;
    let id = phase.id;
    let starts: BTreeSet<Nanos> = short
        .seconds
        .iter()
        .filter(|it| it.phase == id)
        .map(|it| it.start)
        .collect();
    let last = *starts.last().unwrap();
    assert!(starts.len() > 2);
    short
        .seconds
        .retain_ticks(|it| it.phase != id || it.start < last);
    let same = |at: Nanos| at;
    let joined = joined_of(vec![
        on_host("n1", whole.clone(), &same),
        on_host("n2", short.clone(), &same),
    ])
    .unwrap();
    let of_phase = |record: &Record| {
        let seconds = record.seconds.iter().filter(|it| it.phase == id);
        seconds.map(|it| it.counts.committed).sum::<u64>()
    };
    assert_eq!(of_phase(&joined), 2 * of_phase(&short));
    let phase = joined.phases.iter().find(|phase| phase.id == id).unwrap();
    assert!(!phase.complete && phase.end <= last, "{phase:?}");
    assert!(joined.windows.iter().all(|window| window.phase != id));
}

#[test]
fn seconds_of_drives_are_those_of_the_first_host() {
    let whole = fixture::record();
    let later = |at: Nanos| at + Nanos::from_millis(300);
    let same = |at: Nanos| at;
    let mut other = whole.clone();
    // In this second only the other host reads.
    let read = whole
        .drive
        .iter()
        .position(|row| row.op == crate::drive::DriveOp::Read)
        .unwrap();
    let mut first = whole.clone();
    let row = first.drive.remove(read);
    let joined = joined_of(vec![
        on_host("n1", first, &same),
        on_host("n2", other.clone(), &later),
    ])
    .unwrap();
    let starts: BTreeSet<Nanos> = joined.drive.iter().map(|it| it.start).collect();
    let before: BTreeSet<Nanos> = whole.drive.iter().map(|it| it.start).collect();
    assert_eq!(starts, before);
    let reads = joined
        .drive
        .iter()
        .find(|it| (it.start, it.op) == (row.start, row.op))
        .unwrap();
    assert_eq!(reads.ops, row.ops);
    other.events[0].subject = None;
    let joined = joined_of(vec![
        on_host("n1", whole, &same),
        on_host("n2", other, &later),
    ])
    .unwrap();
    let worker = joined.subject(SubjectKind::Worker, "n2").unwrap().id;
    assert!(
        joined
            .events
            .iter()
            .any(|event| event.subject == Some(worker))
    );
}

/// Of a host's file that was changed or is damaged, or of a host that sends what no plimsoll does.
#[test]
fn numbers_that_leave_no_room_for_others_are_an_error() {
    let same = |at: Nanos| at;
    let high = |change: fn(&mut Record)| {
        let mut record = fixture::record();
        change(&mut record);
        let hosts = [("n1", record.clone()), ("n2", record)];
        join(
            hosts
                .map(|(host, record)| on_host(host, record, &same))
                .into(),
        )
    };
    let changes: [fn(&mut Record); 3] = [
        |record| record.points[0].id = PointId(u32::MAX),
        |record| record.phases[0].id = PhaseId(u32::MAX - 1),
        |record| record.seconds.ticks_mut()[0].phase = PhaseId(u32::MAX),
    ];
    for change in changes {
        assert_eq!(high(change).err(), Some(IdsExhausted));
    }
    assert!(high(|record| record.points[0].id = PointId(u32::MAX / 2)).is_ok());
}
