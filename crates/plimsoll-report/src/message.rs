//! Every sentence and label people read, from one catalog (`locales/`).

use std::borrow::Cow;
use std::collections::HashMap;

use fluent_templates::fluent_bundle::FluentValue;
use fluent_templates::{LanguageIdentifier, Loader, langid};
use plimsoll_analysis::audit::{AuditFault, Evidence, Missing, Next, Rule};
use plimsoll_analysis::summary::{DataState, FigureId, FindingKind, PointSummary};
use plimsoll_plan::Interference;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::message::check::RowRequirement;
use plimsoll_record::message::{
    BackupDetail, CheckDetail, DoctorFinding, EventKind, FirstLost, ImportNote, ResetCheck,
};
use plimsoll_record::{Diagnosis, DiagnosisLevel, Integrity, OfferedLoad};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::number;

fluent_templates::static_loader! {
    static LOCALES = {
        locales: "./locales",
        fallback_language: "en",
        // Isolation marks (U+2068, U+2069) would show up in tables and be copied with commands.
        customise: |bundle| bundle.set_use_isolating(false),
    };
}

/// The catalog in one language.
#[derive(Debug, Clone)]
pub struct Messages {
    language: LanguageIdentifier,
}

impl Messages {
    pub fn english() -> Self {
        Self {
            language: langid!("en"),
        }
    }

    pub fn language(&self) -> String {
        self.language.to_string()
    }

    /// The text of `id`; the id itself where the catalog has none, which a test rules out.
    pub fn text(&self, id: &str) -> String {
        LOCALES
            .try_lookup(&self.language, id)
            .unwrap_or_else(|| id.to_owned())
    }

    pub fn text_with(&self, id: &str, args: &[(&'static str, String)]) -> String {
        let args: HashMap<Cow<'static, str>, FluentValue> = args
            .iter()
            .map(|(name, value)| (Cow::Borrowed(*name), number_or_text(value.clone())))
            .collect();
        LOCALES
            .try_lookup_with_args(&self.language, id, &args)
            .unwrap_or_else(|| id.to_owned())
    }

    /// `p99.9`, `NOPM`.
    pub fn figure(&self, figure: FigureId) -> String {
        self.text(&figure_id(figure))
    }

    /// `Transactions/s`.
    pub fn figure_on_page(&self, figure: FigureId) -> String {
        self.placed(&figure_id(figure), true, &[])
    }

    /// As a page words it, where its words differ from those of a terminal.
    pub(crate) fn placed(
        &self,
        id: &str,
        is_page: bool,
        args: &[(&'static str, String)],
    ) -> String {
        let on_page = format!("{id}.page");
        let text = self.text_with(&on_page, args);
        if is_page && text != on_page {
            text
        } else {
            self.text_with(id, args)
        }
    }

    /// The sentence of a finding: `finding-` and its name in the export, with its fields as arguments.
    pub fn finding(&self, kind: &FindingKind) -> String {
        let coded = self.with_details(kind);
        self.coded("finding", &coded, "")
            .unwrap_or_else(|| coded.code.clone())
    }

    /// The figures behind a finding; empty where its sentence has them all.
    pub fn finding_detail(&self, kind: &FindingKind) -> String {
        let coded = self.with_details(kind);
        self.coded("finding", &coded, ".detail").unwrap_or_default()
    }

    /// With the sentences that its own contains.
    fn with_details(&self, kind: &FindingKind) -> Coded {
        let mut coded = Coded::of("finding", kind);
        match kind {
            FindingKind::Event { message, .. } => coded.add("text", &self.event(message)),
            FindingKind::ConditionFails { clause, detail, .. } => {
                coded.add("detail", &self.check(clause, detail));
            }
            FindingKind::CommittedLost {
                first_lost: Some(first),
                ..
            } => coded.add("first-lost", &self.first_lost(first)),
            FindingKind::BackupFailed {
                detail: Some(detail),
                ..
            }
            | FindingKind::RestoreDiffers {
                detail: Some(detail),
                ..
            } => coded.add("detail", &self.backup_detail(detail)),
            _ => {}
        }
        coded
    }

    /// What to do about a finding; may be empty.
    pub fn finding_next(&self, kind: &FindingKind) -> String {
        let coded = Coded::of("finding", kind);
        self.coded("finding", &coded, ".next").unwrap_or_default()
    }

    /// What an event of the record reports.
    pub fn event(&self, event: &EventKind) -> String {
        match event {
            EventKind::Stored { text, .. } => text.clone(),
            coded => {
                let coded = Coded::of("code", coded);
                self.coded("event", &coded, "")
                    .unwrap_or_else(|| coded.code.clone())
            }
        }
    }

    /// What a consistency condition compared.
    pub fn check(&self, clause: &str, detail: &CheckDetail) -> String {
        if let CheckDetail::Stored { text } = detail {
            return text.clone();
        }
        let mut coded = Coded::of("code", detail);
        let condition = format!("condition-{}", clause.replace('.', "-"));
        if let Some(text) = LOCALES.try_lookup_with_args(&self.language, &condition, &coded.args) {
            coded.add("condition", &text);
        }
        if let CheckDetail::RowsMissing { tables, .. } = detail {
            let tables: Vec<String> = tables.iter().map(|table| self.table_rows(table)).collect();
            coded.add("tables", &tables.join(", "));
        }
        self.coded("check", &coded, "")
            .unwrap_or_else(|| coded.code.clone())
    }

    /// What was compared after a reset.
    pub fn reset_check(&self, check: &ResetCheck) -> String {
        match check {
            ResetCheck::Stored { text } => text.clone(),
            coded => self.of_code("reset-check", &Coded::of("code", coded)),
        }
    }

    /// How a restore compared, or why a backup or restore failed.
    pub fn backup_detail(&self, detail: &BackupDetail) -> String {
        let mut coded = Coded::of("code", detail);
        match detail {
            BackupDetail::Stored { text } => return text.clone(),
            BackupDetail::ConditionFails { clause, check } => {
                coded.add("check", &self.check(clause, check));
            }
            _ => {}
        }
        self.of_code("backup-detail", &coded)
    }

    /// Where the first transactions were that a power cut took.
    pub fn first_lost(&self, first: &FirstLost) -> String {
        match first {
            FirstLost::Stored { text } => text.clone(),
            coded => self.of_code("lost", &Coded::of("code", coded)),
        }
    }

    /// The sentence of a code; the code itself where the catalogue has none, which a test rules out.
    fn of_code(&self, family: &str, coded: &Coded) -> String {
        self.coded(family, coded, "")
            .unwrap_or_else(|| coded.code.clone())
    }

    fn table_rows(&self, table: &RowRequirement) -> String {
        let coded = Coded::of("code", table);
        LOCALES
            .try_lookup_with_args(&self.language, "check-table-rows", &coded.args)
            .unwrap_or_default()
    }

    /// The sentence of an audit rule's evidence: `evidence-` and its name in the export.
    pub fn evidence(&self, evidence: &Evidence) -> String {
        match evidence {
            Evidence::Found { finding } => self.finding(finding),
            Evidence::Diagnosed {
                of,
                code,
                level,
                finding,
            } => {
                // Fluent selects by name, and the machine has none.
                let of = if of.is_empty() { "none" } else { of };
                let args = [
                    ("of", of.to_owned()),
                    ("code", code.clone()),
                    ("found", self.found(*level, finding)),
                ];
                self.text_with("evidence-diagnosed", &args)
            }
            Evidence::MissingInput { missing } => format!("({})", self.missing(*missing)),
            other => self.describe("evidence", other),
        }
    }

    pub fn audit_fault(&self, fault: &AuditFault) -> String {
        self.describe("fault", fault)
    }

    /// Why a rule was not evaluated.
    pub fn missing(&self, missing: Missing) -> String {
        self.text(&unit_id("missing", &missing))
    }

    pub fn next(&self, next: Next) -> String {
        self.text(&unit_id("next", &next))
    }

    /// Whether a run file is as it was when its run ended, and its digest: `state-` and its name in the export.
    pub fn file_state(&self, file: &Integrity) -> String {
        self.describe("state", file)
    }

    /// Whether a system's data were loaded for the run: `data-` and its name in the export.
    pub fn data_state(&self, data: &DataState) -> String {
        self.describe("data", data)
    }

    /// What a rule requires, and why it matters.
    pub fn rule(&self, rule: Rule) -> String {
        self.text(&format!("rule-{}", rule.code().to_lowercase()))
    }

    pub fn import_notes(&self, notes: &[ImportNote]) -> String {
        let texts: Vec<String> = notes.iter().map(|note| self.import_note(note)).collect();
        texts.join("; ")
    }

    /// What an imported output lacks, or how a figure was found that it does not print.
    fn import_note(&self, note: &ImportNote) -> String {
        let coded = Coded::of("note", note);
        self.coded("import", &coded, "").unwrap_or_default()
    }

    /// What the doctor found, and on which of several disks.
    pub fn diagnosis(&self, diagnosis: &Diagnosis) -> String {
        let found = self.found(diagnosis.level, &diagnosis.finding);
        match &diagnosis.disk {
            None => found,
            Some(disk) => self.text_with(
                "doctor-on-disk",
                &[("disk", disk.clone()), ("found", found)],
            ),
        }
    }

    fn found(&self, level: DiagnosisLevel, finding: &DoctorFinding) -> String {
        match finding {
            DoctorFinding::Stored { found, .. } => found.clone(),
            coded => self.of_doctor(level, coded, ""),
        }
    }

    /// What to do about what the doctor found; empty where nothing is.
    pub fn advice(&self, diagnosis: &Diagnosis) -> String {
        match &diagnosis.finding {
            DoctorFinding::Stored { next, .. } => next.clone().unwrap_or_default(),
            // A sentence for all levels has advice for some of them.
            _ if diagnosis.level == DiagnosisLevel::Ok => String::new(),
            coded => self.of_doctor(diagnosis.level, coded, ".next"),
        }
    }

    fn of_doctor(&self, level: DiagnosisLevel, finding: &DoctorFinding, part: &str) -> String {
        let mut coded = Coded::of("finding", finding);
        coded.add("level", level.name());
        coded.round_percents(finding);
        self.coded("doctor", &coded, part).unwrap_or_default()
    }

    /// The sentence of a value of a closed set: the tag's name and the value's, with its fields as arguments.
    fn describe(&self, tag: &str, value: &impl Serialize) -> String {
        let coded = Coded::of(tag, value);
        self.coded(tag, &coded, "")
            .unwrap_or_else(|| format!("{tag}-{}", coded.code))
    }

    /// The text of `family-code`, or of a `.part` of it; `None` where the catalog has none.
    fn coded(&self, family: &str, coded: &Coded, part: &str) -> Option<String> {
        let id = format!("{family}-{}{part}", coded.code);
        LOCALES.try_lookup_with_args(&self.language, &id, &coded.args)
    }

    /// `21 users`, `100/s offered`.
    pub fn load(&self, load: OfferedLoad) -> String {
        let text = number::load(load);
        match load.users {
            _ if load.is_open() => self.text_with("load-open", &[("rate", text)]),
            1 => self.text("load-one"),
            _ => self.text_with("load-closed", &[("users", text)]),
        }
    }

    /// Which point: `16 users, ladder, db@fast`.
    pub fn point(&self, point: &PointSummary) -> String {
        let (step, system) = (
            ("step", point.key.step.clone()),
            ("system", point.key.system.clone()),
        );
        let load = number::load(point.key.load);
        let text = match point.key.load.offered_per_second {
            Some(_) => self.text_with("point-open", &[("rate", load), step, system]),
            None if point.key.load.users == 1 => self.text_with("point-one", &[step, system]),
            None => self.text_with("point-closed", &[("users", load), step, system]),
        };
        let text = self.in_scene(text, point.key.scene);
        match point.repeat {
            0 => text,
            n => self.text_with(
                "point-repeat",
                &[("point", text), ("repeat", (n + 1).to_string())],
            ),
        }
    }

    /// The name of a place that is measured with and without noise.
    pub fn in_scene(&self, place: String, scene: Interference) -> String {
        match scene {
            Interference::Alone => place,
            Interference::Quiet => self.text_with("scene-quiet", &[("place", place)]),
            Interference::Noisy => self.text_with("scene-noisy", &[("place", place)]),
        }
    }

    /// All labels that scripts show, by id.
    pub fn chart_labels(&self) -> Vec<(&'static str, String)> {
        CHART_IDS.iter().map(|id| (*id, self.text(id))).collect()
    }
}

/// "1" as a number, so that a sentence can have a singular; all else is text already.
fn number_or_text(text: String) -> FluentValue<'static> {
    if text == "1" {
        FluentValue::from(1)
    } else {
        FluentValue::from(text)
    }
}

/// A code and its arguments, ready for the catalog.
struct Coded {
    code: String,
    args: HashMap<Cow<'static, str>, FluentValue<'static>>,
}

impl Coded {
    /// The arguments stand beside the tag and, where the value comes from a record, in `args`.
    fn of(tag: &str, value: &impl Serialize) -> Self {
        // None of them has map keys but strings, so they always become objects.
        let fields = match serde_json::to_value(value) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let code = fields.get(tag).and_then(Value::as_str).unwrap_or_default();
        let nested = fields.get("args").and_then(Value::as_object);
        // Those beside the tag last: they are the value's own.
        let args = nested.into_iter().flatten();
        let args = args
            .chain(fields.iter().filter(|(key, _)| *key != "args"))
            .map(|(key, value)| (Cow::Owned(key.replace('_', "-")), argument(key, value)));
        Self {
            code: code.replace('_', "-"),
            args: args.collect(),
        }
    }

    /// The doctor's shares are of samples: a third digit would be chance.
    fn round_percents(&mut self, value: &impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or_default();
        for (key, value) in value["args"].as_object().into_iter().flatten() {
            if key.ends_with("_percent")
                && let Some(percent) = value.as_f64().filter(|_| value.is_f64())
            {
                let name = Cow::Owned(key.replace('_', "-"));
                self.args.insert(name, number::two(percent).into());
            }
        }
    }

    fn add(&mut self, name: &'static str, value: &str) {
        self.args
            .insert(name.into(), FluentValue::from(value.to_owned()));
    }
}

fn argument(key: &str, value: &Value) -> FluentValue<'static> {
    match value {
        // Fluent selects by name, and an empty text has none.
        Value::Null => FluentValue::from("none"),
        Value::String(text) if text.is_empty() => FluentValue::from("none"),
        Value::String(text) => FluentValue::from(text.clone()),
        Value::Array(texts) if texts.is_empty() => FluentValue::from("none"),
        Value::Array(texts) => {
            let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
            FluentValue::from(texts.join(", "))
        }
        // A time must be found again on the charts: three digits are too few after an hour.
        Value::Number(n) if key.ends_with("_s") => {
            FluentValue::from(format!("{:.1}", n.as_f64().unwrap_or_default()))
        }
        Value::Number(n) if key.ends_with("_bytes") && n.is_u64() => {
            FluentValue::from(Bytes(n.as_u64().unwrap_or_default()).to_string())
        }
        Value::Number(n) if key.ends_with("_ns") => {
            FluentValue::from(number::time(Nanos(n.as_u64().unwrap_or_default())))
        }
        // Whoever checks it by hand needs all digits of a large figure.
        Value::Number(n) if n.is_f64() && n.as_f64().is_some_and(|n| n.abs() < 1e3) => {
            FluentValue::from(number::three(n.as_f64().unwrap_or_default()))
        }
        Value::Number(n) => number_or_text(number::whole(n.as_f64().unwrap_or_default())),
        other => FluentValue::from(other.to_string()),
    }
}

/// The id of a value without fields: its name in the export.
pub(crate) fn unit_id(prefix: &str, value: &impl Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    format!(
        "{prefix}-{}",
        name.as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default()
            .replace('_', "-")
    )
}

/// Of the name of a figure.
pub(crate) fn figure_id(figure: FigureId) -> String {
    unit_id("figure", &figure)
}

/// Ids that `web/src` uses.
pub const CHART_IDS: &[&str] = &["chart-linear", "chart-log", "chart-no-data"];

#[cfg(test)]
mod tests;
