//! A step on media themselves: its jobs on each medium, media side by side, curves, durable writes, rounds, workers.

mod curve;
mod rounds;
pub(super) mod seconds;
mod step;
mod sweep;

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{BlockMedium, RoundsOfJob};

use super::drive;
use crate::block::tables::{self, on_media, repeated};
use crate::block::{across, drives, durable_writes, heading, medium_name, notes, outcome};
use crate::document::{BlockHeading, HeadingAside, ReportBlock, ReportSection, reduced_note};
use crate::drives::{MemberRow, OpRow, by_job, members_by_job};
use crate::message::Messages;
use crate::number::three;
use crate::svg::color::MediumColors;
use crate::table::{Table, WIDTH};
use step::StepOnMedia;

/// One for each step.
pub(crate) fn sections(
    m: &Messages,
    summary: &Summary,
    colors: MediumColors<'_>,
) -> Vec<ReportSection> {
    let steps = summary.figures.blocks.iter().enumerate();
    steps
        .map(|(place, step)| {
            let all = across(step);
            let of = StepOnMedia {
                m,
                place,
                step,
                all: &all,
                colors,
            };
            of.section()
        })
        .collect()
}

impl StepOnMedia<'_> {
    fn section(&self) -> ReportSection {
        let heading = heading(self.m, self.step);
        let mut section = ReportSection::new("block", &heading).styled("charts block");
        section.line(heading);
        self.add_notes(&mut section);
        self.add_jobs(&mut section);
        self.add_curves(&mut section);
        let note = self.m.text("block-fsync-note");
        let (table, rows) = (tables::fsync(), durable_writes(self.all));
        self.add_titled(&mut section, "block-fsync-title", note, &table, &rows);
        self.add_rounds(&mut section);
        self.add_workers(&mut section);
        self.add_seconds(&mut section);
        self.add_details(&mut section);
        section
    }

    /// Where its jobs come from, on how much they run, and how steady they were.
    fn add_notes(&self, section: &mut ReportSection) {
        let notes = notes(self.m, self.step);
        section.page(ReportBlock::note(notes.join(" ")));
        section.lines(notes);
        for drive in drives(self.m, self.step) {
            section.both(ReportBlock::styled("emulated", drive));
        }
        section.line(self.m.text("text-block-note"));
        if repeated(self.step) {
            section.line(self.m.text("block-rounds-note"));
        }
        for medium in &self.step.media {
            if let Some(rounds) = &medium.rounds {
                let outcome = outcome(self.m, medium, rounds);
                let class = format!("outcome {}", outcome.verdict);
                section.page(ReportBlock::styled(class, outcome.text));
            }
        }
    }

    /// What each job reached at full speed: on a terminal by medium, and media side by side.
    fn add_jobs(&self, section: &mut ReportSection) {
        let m = self.m;
        let several = self.step.media.len() > 1;
        for medium in &self.step.media {
            section.gap();
            if several {
                section.line(medium_name(m, medium));
            }
            section.line(tables::jobs().to_text(m, &tables::job_rows(medium)));
        }
        let jobs = on_media(self.all);
        if let Some(first) = self.step.media.first().filter(|_| several) {
            let args = [
                ("step", self.step.step.clone()),
                ("first", first.medium.clone()),
            ];
            section.gap();
            section.line(m.text_with("compare-heading", &args));
            section.line(tables::side_by_side().to_text(m, &jobs));
        }
        if jobs.is_empty() {
            section.page(ReportBlock::note(m.text("block-none")));
            return;
        }
        let label = &section.title.clone();
        section.page(ReportBlock::heading(m.text("block-jobs-title")));
        section.page(ReportBlock::grid(m, label, &tables::side_by_side(), &jobs));
        section.page(ReportBlock::note(self.jobs_note()));
        let label = m.text("block-latency-title");
        section.page(ReportBlock::heading(&label));
        section.page(ReportBlock::grid(m, &label, &tables::latency(), &jobs));
        section.page(ReportBlock::heading(m.text("block-bars-title")));
        section.page(ReportBlock::note(m.text("block-bars-note")));
        section.page(ReportBlock::figures("figures pairs", sweep::charts(self)));
    }

    /// What the columns hold where it is not the same in every run.
    fn jobs_note(&self) -> String {
        let mut notes = vec![self.m.text("block-jobs-note")];
        notes.extend(repeated(self.step).then(|| self.m.text("block-rounds-note")));
        if let [first, _, ..] = self.step.media.as_slice() {
            let args = [("first", first.medium.clone())];
            notes.push(self.m.text_with("block-ratio-note", &args));
        }
        notes.join(" ")
    }

    fn add_curves(&self, section: &mut ReportSection) {
        let title = self.m.text("block-curve-title");
        let (table, rows) = (tables::curve(), tables::curve_rows(self.all));
        let all = ReportBlock::grid(self.m, &title, &table, &rows);
        let blocks = [
            ReportBlock::figures("figures", curve::charts(self)),
            ReportBlock::folded(self.m.text("block-curve-table"), [all]),
        ];
        self.add_lines(section, &title, &table, &rows);
        section.page_under(title, self.m.text("block-curve-note"), blocks);
    }

    /// A table below its title and, on a page, a note.
    fn add_titled<R>(
        &self,
        section: &mut ReportSection,
        title: &str,
        note: String,
        table: &Table<'_, R>,
        rows: &[R],
    ) {
        let title = self.m.text(title);
        self.add_lines(section, &title, table, rows);
        let grid = ReportBlock::grid(self.m, &title, table, rows);
        section.page_under(title, note, [grid]);
    }

    fn add_lines<R>(
        &self,
        section: &mut ReportSection,
        title: &str,
        table: &Table<'_, R>,
        rows: &[R],
    ) {
        if !rows.is_empty() {
            section.gap();
            section.line(title);
            section.line(table.to_text(self.m, rows));
        }
    }

    /// How rounds went until they were steady, or were given up: on a page of all media together.
    fn add_rounds(&self, section: &mut ReportSection) {
        let m = self.m;
        let rows = tables::rounds_rows(self.all);
        let Some(note) = rounds::note(m, self.step) else {
            return;
        };
        let title = m.text("block-rounds-title");
        let charts = rounds::charts(self, &rows);
        let table = ReportBlock::grid(m, &title, &tables::rounds(), &rows);
        section.page(ReportBlock::heading(title));
        section.page(ReportBlock::note(note));
        section.page(ReportBlock::figures("figures", charts));
        section.page(table);
    }

    /// Workers and, on a terminal, rounds, which stand last there.
    fn add_workers(&self, section: &mut ReportSection) {
        let m = self.m;
        let workers = tables::workers_rows(self.all);
        let note = m.text("block-workers-note");
        let table = tables::workers();
        self.add_titled(section, "block-workers-title", note, &table, &workers);
        let label = m.text("block-workers-each");
        let each = tables::worker_rows(&workers);
        let each = ReportBlock::grid(m, &label, &tables::each_worker(), &each);
        section.page(ReportBlock::folded(label, [each]));
        for medium in &self.step.media {
            self.add_lines_of_rounds(section, medium);
        }
    }

    fn add_lines_of_rounds(&self, section: &mut ReportSection, medium: &BlockMedium) {
        let Some(rounds) = &medium.rounds else {
            return;
        };
        let mut rows = tables::rounds_rows(self.all);
        rows.retain(|row| std::ptr::eq(row.on.medium, medium));
        section.gap();
        section.line(outcome(self.m, medium, rounds).text);
        section.line(tables::rounds().to_text(self.m, &rows));
        section.lines(rounds.jobs.iter().map(|own| by_round(self.m, own)));
    }

    fn add_seconds(&self, section: &mut ReportSection) {
        let jobs: Vec<_> = seconds::jobs(self).into_iter().collect();
        let reduced = reduced_note(self.m, jobs.iter().flat_map(|job| &job.charts));
        let is_open = self.all.len() <= OPEN;
        let blocks = jobs.into_iter().map(|job| ReportBlock::Details {
            summary: job.job.to_owned(),
            is_open,
            blocks: vec![ReportBlock::figures("figures pairs", job.charts)],
        });
        let blocks = blocks.chain([reduced].into_iter().filter(ReportBlock::is_filled));
        let switch = HeadingAside::Switch(self.switch());
        let heading = BlockHeading::from(self.m.text("block-time-title")).beside(switch);
        section.page_under(heading, self.m.text("block-time-note"), blocks);
    }

    /// What is asked for less often, folded away.
    fn add_details(&self, section: &mut ReportSection) {
        let (m, all) = (self.m, self.all);
        let title = m.text("block-ops-title");
        let ops = ReportBlock::grid(m, &title, &tables::by_op(), &tables::op_rows(all));
        if ops.is_filled() {
            let note = ReportBlock::note(m.text("block-ops-note"));
            section.page(ReportBlock::folded(title, [note, ops]));
        }
        let title = m.text("block-asked-title");
        let asked = ReportBlock::grid(m, &title, &tables::streams(), &tables::stream_rows(all));
        section.page(ReportBlock::folded(title, [asked]));
        let title = m.text("drive-title");
        let emulated = tables::drive_rows(all, OpRow::all);
        let emulated = ReportBlock::grid(m, &title, &by_job(), &emulated);
        if emulated.is_filled() {
            let members = tables::drive_rows(all, MemberRow::all);
            let note = ReportBlock::note(m.text("drive-note"));
            let members = drive::members(m, &members_by_job(), &members);
            let blocks = [note, emulated].into_iter().chain(members);
            section.page(ReportBlock::folded(title, blocks));
        }
    }
}

/// So many jobs are shown without being asked for; of more, only names.
const OPEN: usize = 4;

/// IOPS of all rounds, over as many lines as they need.
fn by_round(m: &Messages, own: &RoundsOfJob) -> String {
    let mut line = m.text_with("text-by-round", &[("job", own.job.clone())]);
    let mut lines = Vec::new();
    for iops in own.iops.iter().copied().map(three) {
        if line.chars().count() + 1 + iops.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, " ".to_owned()));
        }
        line = format!("{line} {iops}");
    }
    lines.push(line);
    lines.join("\n")
}

#[cfg(test)]
mod tests;
