//! `plimsoll drive learn`: a drive file from measurements.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plimsoll_block::BlockError;
use plimsoll_block::device::about::About;
use plimsoll_block::fio::{self, Fio, Flow, command_line};
use plimsoll_drive::learn::fit::rows::table;
use plimsoll_drive::learn::fit::{FitSubject, Fitted, fit, turns, unfitted};
use plimsoll_drive::learn::jobs::{LearnOptions, LearnStep, arguments, steps};
use plimsoll_drive::learn::measured::{LearnedPoint, LoadResult, Measured};
use plimsoll_drive::learn::prepare::{LearnIntent, inspect};
use plimsoll_drive::learn::runner::{self, LearnOutcome};
use plimsoll_drive::spec::DriveSpec;
use plimsoll_drive::spec::file::DriveClass;
use plimsoll_load::clock::Clock;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_report::message::Messages;

use super::learn_time::LearnTime;
use crate::cli::LearnArgs;
use crate::commands::print;
use crate::failure::Failure;
use crate::output::{expect_free, is_stream, write_whole};
use crate::output_kind::OutputKind;
use crate::progress::Progress;
use crate::signals::Interrupt;

pub fn learn(args: &LearnArgs) -> Result<ExitCode, Failure> {
    let intent = inspect(&args.path, args.overwrite, args.size).map_err(refused)?;
    let fio = fio::find().map_err(refused)?;
    let options = LearnOptions {
        seconds: args.seconds,
        writes: intent.writes,
        rotational: intent.about.rotational.unwrap_or(false),
        engine: fio.engine,
        cpus: std::thread::available_parallelism()
            .map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
        seed: args.seed,
    };
    if args.plan {
        return print(&plan(&intent, &fio, &options));
    }
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.toml", slug(&intent.about))));
    let kind = match args.force {
        true => OutputKind::DriveFile,
        false => OutputKind::New,
    };
    if !args.force && output.symlink_metadata().is_ok() && !is_stream(&output) {
        return Err(exists(&output));
    }
    expect_free(&output, &kind)?;
    // Caught from before anything exists that has to be removed.
    let interrupt = Interrupt::listen()
        .map_err(|error| Failure::run(format!("cannot receive signals: {error}")))?;
    let facts = DriveFileFacts::of(args, &intent, &fio);
    let about = intent.about.clone();
    let size = intent.size;
    let outcome = measure(args, intent, &options, &interrupt)?;
    if outcome.measured.points.is_empty() {
        return Err(Failure::run(
            "interrupted before anything was measured: nothing was written, and the test file is removed",
        ));
    }
    let is_partial = !outcome.missing.is_empty();
    // Half of the writes give no figure of a write.
    let options = LearnOptions {
        writes: options.writes && outcome.has_writes(),
        ..options
    };
    let facts = match is_partial {
        true => facts.partial(&outcome, &interrupt),
        false => facts,
    };
    let subject = subject(&facts, &about, size, &options, &outcome.measured);
    let fitted = match fit(&subject, &outcome.measured) {
        Some(fitted) => fitted,
        None if is_partial => unfitted(&subject),
        None => return Err(Failure::run("a load is missing from what was measured")),
    };
    write_whole(&output, &text(&facts, &fitted, &options), &kind)?;
    print(&summary(&fitted, &output, &options))?;
    match is_partial {
        true => Err(Failure::run(format!(
            "{}\n{} holds what was measured, marked as partial; the test file is removed.\nMeasure again for a whole drive file.",
            facts.notices.last().map_or("interrupted", String::as_str),
            output.display()
        ))),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// Refusals come before anything was touched.
fn refused(error: BlockError) -> Failure {
    match error {
        BlockError::Fio { .. } | BlockError::Output { .. } | BlockError::Cancelled => failed(error),
        refusal => Failure::usage(refusal.to_string()),
    }
}

fn failed(error: BlockError) -> Failure {
    Failure::run(error.to_string())
}

fn exists(output: &Path) -> Failure {
    Failure::usage(format!(
        "{} exists\nGive another name with --output, or --force to replace it.",
        output.display()
    ))
}

/// What would be done.
fn plan(intent: &LearnIntent, fio: &Fio, options: &LearnOptions) -> String {
    let place = intent.place();
    let mut out: String = intent
        .notices
        .iter()
        .map(|notice| format!("# {notice}\n"))
        .collect();
    let _ = writeln!(
        out,
        "# {} in {}, {} from byte {}",
        intent.size,
        intent.path().display(),
        fio.version,
        place.offset
    );
    let steps = steps(options);
    let time = LearnTime::new(Nanos::ZERO, options, intent.size);
    let _ = writeln!(out, "# {} runs, {}", steps.len(), time.total());
    for (number, step) in steps.iter().enumerate() {
        let _ = writeln!(
            out,
            "{}",
            command_line(&arguments(step, number, &place, options))
        );
    }
    out
}

fn measure(
    args: &LearnArgs,
    intent: LearnIntent,
    options: &LearnOptions,
    interrupt: &Interrupt,
) -> Result<LearnOutcome, Failure> {
    let mut notices = intent.notices.clone();
    let size = intent.size;
    notices.extend(busy(&intent.about));
    if !fio::ends_with_us() {
        notices.push(
            "setpriv (util-linux 2.33) is not installed: if plimsoll is killed, fio finishes its run alone.".into(),
        );
    }
    let prepared = intent.prepare().map_err(refused)?;
    let clock = Clock::real();
    let shown = RefCell::new(ShownStep {
        time: LearnTime::new(clock.now(), options, size),
        name: String::new(),
        progress: Progress::new(args.quiet, Nanos::ZERO),
    });
    {
        let shown = shown.borrow();
        shown
            .progress
            .print(&format!("Takes {}.", shown.time.total()));
        notices
            .iter()
            .for_each(|notice| shown.progress.print(notice));
        for path in &prepared.swept {
            let text = format!("removed {}, left by a killed run", path.display());
            shown.progress.print(&text);
        }
    }
    let count = steps(options).len();
    let outcome = runner::measure(
        &prepared.place,
        options,
        |number, step| {
            let length = Nanos::from_millis(step.expected_millis(options, size));
            let mut shown = shown.borrow_mut();
            shown.time.begin(clock.now(), number, length);
            shown.name = format!("[{}/{count}] {}", number + 1, step.name());
            // A line for each repeat would be too many where there is no terminal.
            let is_new = !matches!(step, LearnStep::Load(_, 1..) | LearnStep::Settle(_, 1..));
            shown.show(clock.now(), is_new);
        },
        || {
            let now = clock.now();
            let mut shown = shown.borrow_mut();
            shown.show(now, false);
            match interrupt.is_wanted() || shown.time.is_over(now) {
                true => Flow::Stop,
                false => Flow::GoOn,
            }
        },
    );
    shown.borrow().progress.finish();
    outcome.map_err(failed)
}

/// The step under way, as people see it.
struct ShownStep {
    time: LearnTime,
    name: String,
    progress: Progress,
}

impl ShownStep {
    fn show(&mut self, now: Nanos, is_new: bool) {
        let text = format!("{} · {}", self.name, self.time.left(now));
        match is_new {
            true => self.progress.begin(now, &text),
            false => self.progress.now(now, &text),
        }
    }
}

/// Other programs' work is measured with the drive's.
fn busy(about: &About) -> Option<String> {
    let load = about.load.filter(|load| *load > 0.5)?;
    Some(format!(
        "The machine was not idle (load average {load}): latencies are too long, rates too low."
    ))
}

/// Facts in the head of the file.
struct DriveFileFacts {
    when: String,
    command: String,
    on: String,
    fio: String,
    part: String,
    notices: Vec<String>,
    title: String,
}

impl DriveFileFacts {
    fn of(args: &LearnArgs, intent: &LearnIntent, fio: &Fio) -> Self {
        let about = &intent.about;
        let mut command = format!("plimsoll drive learn {}", args.path.display());
        if args.overwrite {
            command.push_str(" --overwrite");
        }
        let _ = write!(command, " --seconds {} --seed {}", args.seconds, args.seed);
        if let Some(size) = args.size {
            let _ = write!(command, " --size {}", size.0);
        }
        let title = about
            .model
            .clone()
            .or_else(|| about.disk.clone())
            .unwrap_or_else(|| "drive".into());
        Self {
            when: jiff::Timestamp::now()
                .strftime("%Y-%m-%d %H:%M UTC")
                .to_string(),
            command,
            on: format!(
                "{} (model {}), filesystem {}, kernel {}, write cache {}",
                or_unknown(&about.disk),
                or_unknown(&about.model),
                about
                    .filesystem
                    .as_deref()
                    .unwrap_or("none, the device itself"),
                or_unknown(&about.kernel),
                or_unknown(&about.write_cache)
            ),
            fio: format!("{} with {}", fio.version, fio.engine.name()),
            part: intent.size.to_string(),
            notices: intent.notices.iter().cloned().chain(busy(about)).collect(),
            title: format!("{title}, learned"),
        }
    }

    /// Of a file that holds only what was measured before it was stopped.
    fn partial(mut self, outcome: &LearnOutcome, interrupt: &Interrupt) -> Self {
        let why = match interrupt.is_wanted() {
            true => "interrupted",
            false => "stopped: it took longer than the longest time that was stated",
        };
        let unmeasured = outcome.unmeasured();
        let missing = match unmeasured.is_empty() {
            true => "Every load was measured, some with fewer repeats.".to_owned(),
            false => format!("Not measured: {}.", unmeasured.join(", ")),
        };
        self.title = format!("{} (partial)", self.title);
        self.notices
            .extend(outcome.measured.points.iter().map(measured_line));
        self.notices.push(format!("{why}. {missing}"));
        self
    }
}

/// `Measured: randread 4K QD1: 12,300 IOPS, 50.4 MB/s, 81 us`.
fn measured_line(point: &LearnedPoint) -> String {
    let value = |of: fn(&LoadResult) -> f64| point.figure(of).map_or(0.0, |own| own.value);
    format!(
        "Measured: {}: {:.0} IOPS, {:.1} MB/s, mean {:.1} us",
        point.profile.name(),
        value(|run| run.iops),
        value(|run| run.bytes_per_second / 1e6),
        value(|run| run.mean_us)
    )
}

fn subject(
    facts: &DriveFileFacts,
    about: &About,
    size: Bytes,
    options: &LearnOptions,
    measured: &Measured,
) -> FitSubject {
    let sata = about
        .disk
        .as_deref()
        .is_some_and(|disk| disk.starts_with("sd"));
    let kind = match () {
        () if options.rotational && turns(measured) => DriveClass::Disk,
        () if sata => DriveClass::Sata,
        () => DriveClass::Nvme,
    };
    FitSubject {
        title: facts.title.clone(),
        kind,
        capacity: about.capacity.or(about.device_size).unwrap_or(size),
        region: size,
        writes: options.writes,
        volatile: about
            .write_cache
            .as_deref()
            .map(|text| text == "write back"),
        how: format!(
            "measured on {} with {}: {}",
            facts.when, facts.fio, facts.command
        ),
    }
}

/// The drive file with its head.
fn text(facts: &DriveFileFacts, fitted: &Fitted, options: &LearnOptions) -> String {
    let mut lines = vec![
        format!("Learned on {} by: {}", facts.when, facts.command),
        format!("On {}.", facts.on),
        format!("{}, {} of the drive.", facts.fio, facts.part),
        "error_percent is the larger of: half the 95 % interval of the repeats (Student); how far the model is off at the \
         points that the figure governs."
            .to_owned(),
    ];
    lines.extend(facts.notices.iter().cloned());
    if !options.writes {
        let not = "Not measured: sequential_write_mb_s, random_write_iops, write_us, flush_us, buffer_mb.";
        let next = if is_complete(fitted) {
            ""
        } else {
            " Without them the file cannot be used."
        };
        lines.push(format!(
            "{not} Put them in from the data sheet, or measure with --overwrite.{next}"
        ));
    }
    lines.extend(fitted.notes.iter().cloned());
    lines.push("Measured, model, deviation:".to_owned());
    lines.extend(table(&fitted.rows).lines().map(|line| format!("  {line}")));
    let head: String = lines
        .iter()
        .map(|line| {
            format!("# {}", line.replace(['\n', '\r'], " "))
                .trim_end()
                .to_owned()
                + "\n"
        })
        .collect();
    head + &fitted.file.to_toml()
}

/// Whether it has all figures of a drive of its kind.
fn is_complete(fitted: &Fitted) -> bool {
    DriveSpec::parse("learned", &fitted.file.to_toml()).is_ok()
}

fn summary(fitted: &Fitted, output: &Path, options: &LearnOptions) -> String {
    let m = Messages::english();
    let mut lines = vec![deviation(&m, fitted)];
    lines.extend(fitted.notes.iter().cloned());
    if !options.writes {
        lines.push(m.text(if is_complete(fitted) {
            "learned-no-writes"
        } else {
            "learned-incomplete"
        }));
    }
    let file = [("file", output.display().to_string())];
    lines.push(m.text_with("learned-file", &file));
    format!("{}{}\n", table(&fitted.rows), lines.join("\n"))
}

/// How far the model is off what was measured.
fn deviation(m: &Messages, fitted: &Fitted) -> String {
    let rows = fitted.rows.iter();
    let far = rows.filter(|row| row.deviation_percent().abs() > 10.0);
    match (far.count(), fitted.worst()) {
        (_, None) => m.text("learned-not-compared"),
        (0, _) => m.text("learned-fits"),
        (far, Some(worst)) => {
            let args = [
                ("far", far.to_string()),
                ("points", fitted.rows.len().to_string()),
                ("point", worst.profile.name().to_owned()),
                ("unit", worst.quantity.unit().to_owned()),
                ("percent", format!("{:+.1}", worst.deviation_percent())),
            ];
            m.text_with("learned-off", &args)
        }
    }
}

/// A file name out of the model.
fn slug(about: &About) -> String {
    let name = about
        .model
        .clone()
        .or_else(|| about.disk.clone())
        .unwrap_or_default();
    let plain: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        "learned".into()
    } else {
        format!("{}-learned", words.join("-"))
    }
}

fn or_unknown(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        let about = |model: &str| About {
            model: Some(model.into()),
            ..About::default()
        };
        assert_eq!(
            slug(&about("KINGSTON SEDC1500M/960G ")),
            "kingston-sedc1500m-960g-learned"
        );
        assert_eq!(slug(&About::default()), "learned");
    }
}
