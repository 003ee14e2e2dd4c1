//! What each row of a table of several runs has of its run.

use plimsoll_analysis::Summary;
use plimsoll_record::{Integrity, Record, Severity, SubjectKind};

use crate::table::{CellValue, Table, TableSink, TypedColumn, UtcTime};

/// A run and the file that it was read from.
pub(crate) struct RunRow<'a> {
    pub record: &'a Record,
    pub file: &'a str,
    /// Only of tables that are computed from it.
    pub summary: Option<&'a Summary>,
}

impl RunRow<'_> {
    /// A fact of the machine that plimsoll ran on.
    fn host(&self, key: &str) -> Option<&str> {
        self.fact(SubjectKind::Host, key)
    }

    fn fact(&self, kind: SubjectKind, key: &str) -> Option<&str> {
        let subjects = self.record.subjects.iter();
        let mut subjects = subjects.filter(|subject| subject.kind == kind);
        subjects.find_map(|subject| {
            let mut facts = self.record.facts.iter();
            let fact = facts.find(|fact| fact.subject == subject.id && fact.key == key);
            fact.map(|fact| fact.value.as_str())
        })
    }

    /// Codes of the rules that fired, each once.
    fn fired(&self, severity: Severity) -> Option<String> {
        let mut codes: Vec<&str> = Vec::new();
        for verdict in &self.summary?.audit.verdicts {
            let code = verdict.rule.code();
            if verdict.outcome.severity() == Some(severity) && !codes.contains(&code) {
                codes.push(code);
            }
        }
        Some(codes.join(" "))
    }

    fn label(&self) -> Option<&str> {
        let mut facts = self.record.facts.iter();
        let label = facts.find(|fact| fact.key == plimsoll_record::runfile::LABEL);
        label.map(|fact| fact.value.as_str())
    }
}

/// Of every table.
pub(crate) fn table<'a>() -> Table<'a, &'a RunRow<'a>> {
    Table::<&RunRow<'_>>::new("run")
        .field("run_id", |r| r.record.run.id.clone())
        .field("run_file", |r| r.file)
        .field("run_title", |r| r.record.run.title.clone())
        .field("run_label", |r| r.label())
        .field("run_started_at", |r| {
            UtcTime(r.record.run.started_at.clone())
        })
        .field("run_lasted_s", |r| r.record.run.lasted.as_secs_f64())
        .field("run_status", |r| r.record.run.status.name())
        .field("run_integrity", |r| integrity_name(&r.record.integrity))
        .field("plimsoll_version", |r| {
            r.record.run.plimsoll_version.clone()
        })
        .field("plimsoll_commit", |r| r.record.run.plimsoll_commit.clone())
        .field("host_machine", |r| r.host("machine"))
        .field("host_cpu_model", |r| r.host("cpu_model"))
        .field("host_cpus", |r| r.host("cpus")?.parse::<u64>().ok())
        .field("host_memory", |r| r.host("memory"))
        .field("host_kernel", |r| r.host("kernel"))
        .field("host_os", |r| r.host("os"))
}

/// With what the audit found, of tables that are computed from a summary.
pub(crate) fn audited<'a>() -> Table<'a, &'a RunRow<'a>> {
    table()
        .field("run_verdict", |r| Some(r.summary?.verdict))
        .field("audit_errors", |r| r.fired(Severity::Error))
        .field("audit_warnings", |r| r.fired(Severity::Warning))
}

fn integrity_name(integrity: &Integrity) -> &'static str {
    match integrity {
        Integrity::Intact { .. } => "intact",
        Integrity::Changed { .. } => "changed",
        Integrity::NoDigest => "no_digest",
        Integrity::Open => "open",
    }
}

/// Passes a table on with the columns of its run before its own.
pub(super) struct WithRun<'s> {
    columns: Vec<TypedColumn>,
    /// Those of the run and, behind them, of one row: what is the same in all rows is not copied for each.
    cells: Vec<CellValue>,
    sink: &'s mut dyn TableSink,
}

impl<'s> WithRun<'s> {
    pub fn new<'a>(
        table: &Table<'a, &'a RunRow<'a>>,
        run: &'a RunRow<'a>,
        sink: &'s mut dyn TableSink,
    ) -> Self {
        Self {
            columns: table.typed_columns(),
            cells: table.values(&run),
            sink,
        }
    }
}

impl TableSink for WithRun<'_> {
    fn begin(&mut self, columns: Vec<TypedColumn>) {
        self.sink.begin([self.columns.clone(), columns].concat());
    }

    fn row(&mut self, cells: &[CellValue]) {
        self.cells.truncate(self.columns.len());
        self.cells.extend_from_slice(cells);
        self.sink.row(&self.cells);
    }
}
