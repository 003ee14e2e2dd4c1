//! Checks a job file of fio's before it is run.
//!
//! A job file is an ini file (HOWTO, "Job file format"). It is read more strictly than fio reads it, every option is looked up
//! in a table, and fio gets the text that is made of what was understood: never the file. All that it names lies in the
//! directory in which fio runs, or is listed in [`JobFile::outside`]. What fio makes of that text is checked once more.

mod options;
#[cfg(any(test, feature = "fuzzing"))]
pub mod oracle;

use std::fmt::Write as _;
use std::path::{Component, Path};

use options::{ENGINES, MEMORY, NAME_ENGINES, OptionKind, option_kind};

/// fio reads at most 4,096 bytes of a line and takes the rest for another one.
const LONGEST_LINE: usize = 1000;
/// It becomes a part of names of files, which have at most 255 bytes.
const LONGEST_NAME: usize = 100;

/// A job file that was checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFile {
    sections: Vec<JobSection>,
    outside: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct JobSection {
    name: String,
    settings: Vec<JobSetting>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct JobSetting {
    option: String,
    value: Option<String>,
}

impl JobSection {
    /// Its settings are those of the jobs that follow; fio compares only these letters.
    fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// Why a job file is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFileFault {
    /// From 1; of the text that fio gets when fio itself read it otherwise.
    pub line: usize,
    pub text: String,
    pub why: String,
}

impl std::fmt::Display for JobFileFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: String = self.text.trim().chars().take(60).collect();
        let shown = shown.escape_debug();
        write!(f, "line {}: `{shown}`: {}", self.line, self.why)
    }
}

impl JobFile {
    /// Reads a job file.
    ///
    /// # Errors
    /// Every line that is not understood or not allowed.
    pub fn read(text: &str) -> Result<Self, Vec<JobFileFault>> {
        let mut file = Self::default();
        let mut faults = Vec::new();
        // Editors on Windows put a mark before the text.
        let text = text.trim_start_matches('\u{feff}');
        for (number, line) in (1..).zip(text.lines()) {
            if let Err(why) = file.read_line(line) {
                faults.push(JobFileFault {
                    line: number,
                    text: line.to_owned(),
                    why,
                });
            }
        }
        if faults.is_empty() && file.sections.iter().all(JobSection::is_global) {
            faults.push(JobFileFault {
                line: 1,
                text: text.lines().next().unwrap_or_default().to_owned(),
                why: "the file has no job: begin one with [NAME]".into(),
            });
        }
        if faults.is_empty() {
            Ok(file)
        } else {
            Err(faults)
        }
    }

    /// Files, directories and devices outside of the directory in which fio runs, as they are written.
    pub fn outside(&self) -> &[String] {
        &self.outside
    }

    /// What fio is to run.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for section in &self.sections {
            let _ = writeln!(text, "[{}]", section.name);
            for JobSetting { option, value } in &section.settings {
                let _ = match value {
                    Some(value) => writeln!(text, "{option}={value}"),
                    None => writeln!(text, "{option}"),
                };
            }
        }
        text
    }

    /// Compares with what fio read, as `fio --showcmd` prints it: all of it must be allowed, and name nothing else.
    ///
    /// # Errors
    /// What fio read otherwise.
    pub fn check_showcmd(&self, printed: &str) -> Result<(), String> {
        let mut again = Self::default();
        let arguments = printed.trim().strip_prefix("fio").unwrap_or(printed);
        for argument in arguments.split(" --").skip(1) {
            let checked = match argument.trim().strip_prefix("name=") {
                Some(name) => again.begin_section(name),
                None => {
                    if again.sections.is_empty() {
                        again.begin_section("global")?;
                    }
                    again.add_setting(argument.trim())
                }
            };
            checked.map_err(|why| format!("fio reads `--{}`: {why}", argument.trim()))?;
        }
        match again
            .outside
            .iter()
            .find(|path| !self.outside.contains(path))
        {
            None => Ok(()),
            Some(path) => Err(format!("fio reads the path {path}, which was not checked")),
        }
    }

    fn read_line(&mut self, line: &str) -> Result<(), String> {
        // fio ends a line at the first of them, wherever it is.
        let line = line.split([';', '#']).next().unwrap_or_default().trim();
        if line.is_empty() {
            return Ok(());
        }
        if line.len() > LONGEST_LINE {
            return Err(format!("it has more than {LONGEST_LINE} characters"));
        }
        match line.strip_prefix('[') {
            Some(rest) => {
                let name = rest.strip_suffix(']');
                self.begin_section(name.unwrap_or(rest).trim())?;
                name.map(drop)
                    .ok_or_else(|| "it does not end with ]".into())
            }
            None => self.add_setting(line),
        }
    }

    fn begin_section(&mut self, name: &str) -> Result<(), String> {
        // Even a refused one has begun: what follows it has no fault for that.
        self.sections.push(JobSection {
            name: name.to_owned(),
            settings: Vec::new(),
        });
        check_job_name(name)
    }

    fn add_setting(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with("include") {
            return Err("other files are not read: insert what it holds".into());
        }
        let setting = match line.split_once('=') {
            Some((option, value)) => JobSetting {
                option: option.trim().to_owned(),
                value: Some(value.trim().to_owned()),
            },
            None => JobSetting {
                option: line.to_owned(),
                value: None,
            },
        };
        let kind = option_kind(&setting.option).ok_or_else(|| {
            "this option is not known: remove it, or run fio by hand and use plimsoll import"
                .to_owned()
        })?;
        let outside = outside_of(kind, setting.value.as_deref().unwrap_or_default())?;
        for path in outside {
            if !self.outside.contains(&path) {
                self.outside.push(path);
            }
        }
        let section = self.sections.last_mut();
        let section = section.ok_or("no [section] has begun")?;
        if kind != OptionKind::Description {
            section.settings.push(setting);
        }
        self.check_engines()
    }

    /// A permission to overwrite is none to remove.
    fn check_engines(&self) -> Result<(), String> {
        let settings = || self.sections.iter().flat_map(|section| &section.settings);
        let is_name_engine = |setting: &JobSetting| {
            setting.option == "ioengine"
                && NAME_ENGINES.contains(&setting.value.as_deref().unwrap_or_default())
        };
        if !self.outside.is_empty() && settings().any(is_name_engine) {
            return Err(format!(
                "an engine that makes or removes files cannot be combined with {}",
                self.outside.join(", ")
            ));
        }
        Ok(())
    }
}

/// Checks the value of an option; returns the paths in it that lie outside.
fn outside_of(kind: OptionKind, value: &str) -> Result<Vec<String>, String> {
    match kind {
        OptionKind::Refused(why) => return Err(why.into()),
        OptionKind::Plain if KEYWORDS.contains(&value) => {}
        OptionKind::Plain => expect_characters(value, " .,:%-_+*()")?,
        OptionKind::Shares => expect_characters(value, " .,:%-_/")?,
        OptionKind::Pattern => expect_characters(value, " .,:%-_+*()\"!?@&=<>")?,
        OptionKind::Description => {}
        OptionKind::JobName => check_job_name(value)?,
        OptionKind::NameFormat => check_name_format(value)?,
        OptionKind::Engine => {
            if !ENGINES.contains(&value) && !NAME_ENGINES.contains(&value) {
                return Err(format!(
                    "this I/O engine is not supported; supported: {}",
                    ENGINES.join(", ")
                ));
            }
        }
        OptionKind::Memory => {
            if !MEMORY.contains(&value) {
                return Err(format!(
                    "buffers lie in memory, not in files: {}",
                    MEMORY.join(", ")
                ));
            }
        }
        OptionKind::Output => {
            expect_characters(value, PATH)?;
            if value.contains(':') || (!value.is_empty() && !lies_inside(value)) {
                return Err("name a file in the directory in which fio runs".into());
            }
        }
        OptionKind::Files | OptionKind::Directories => {
            expect_characters(value, PATH)?;
            let paths = value.split(':').map(str::trim);
            let outside: Vec<String> = paths
                .filter(|path| !path.is_empty() && !lies_inside(path))
                .map(str::to_owned)
                .collect();
            return match outside.iter().find(|path| !is_full(path)) {
                None => Ok(outside),
                Some(path) => Err(format!(
                    "{path} leads out of the directory: give its full path"
                )),
            };
        }
    }
    Ok(Vec::new())
}

/// Of names of files beside letters and digits. A colon separates two; a backslash, quotes, `$`, `;` and `#` have a meaning of
/// their own in fio.
const PATH: &str = " .,:%-_+=@~/()";

/// fio replaces each by a number. With a calculation it would start a shell, so they are allowed alone.
const KEYWORDS: [&str; 3] = ["$ncpus", "$pagesize", "$mb_memory"];

/// All of it is plain, and nothing looks like a further argument.
fn expect_characters(value: &str, others: &str) -> Result<(), String> {
    let odd = |c: &char| !c.is_ascii_alphanumeric() && !others.contains(*c);
    match value.chars().find(odd) {
        Some('$') => Err("variables are not replaced: write the value itself ($ncpus, $pagesize and $mb_memory may \
                          be a whole value)"
            .into()),
        Some(c) => Err(format!(
            "`{}` is not allowed in this value",
            c.escape_debug()
        )),
        None if value.contains("--") => Err("`--` is not allowed in a value".into()),
        None => Ok(()),
    }
}

/// fio makes names of files of it, and takes that of a device for the device.
fn check_job_name(name: &str) -> Result<(), String> {
    expect_characters(name, " .,%-_+=@()")
        .map_err(|_| "a job's name has only letters, digits and ` .,%-_+=@()`".to_owned())?;
    if name.len() > LONGEST_NAME {
        return Err(format!(
            "a job's name has at most {LONGEST_NAME} characters"
        ));
    }
    if name.trim() != name || name.trim_matches('.').is_empty() {
        return Err("a job's name has letters or digits, and no spaces around them".into());
    }
    Ok(())
}

/// A name in the directory; fio replaces the words by the job's name and by numbers.
fn check_name_format(format: &str) -> Result<(), String> {
    let words = ["$jobname", "$jobnum", "$filenum"];
    let plain = words
        .iter()
        .fold(format.to_owned(), |text, word| text.replace(word, "0"));
    check_job_name(&plain).map_err(|_| {
        format!(
            "it is a name of a file without a path, with {}",
            words.join(", ")
        )
    })
}

/// Whether a name stays below the directory in which fio runs.
fn lies_inside(path: &str) -> bool {
    // fio takes a single dash for its standard input and output.
    path != "-"
        && path.split('/').all(|part| part.trim() == part)
        && Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Whether it is the same from every directory.
fn is_full(path: &str) -> bool {
    Path::new(path)
        .components()
        .all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
        && path.starts_with('/')
}

#[cfg(test)]
mod tests;
