//! `plimsoll serve`: the runs of a directory in a browser.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use plimsoll_analysis::ListedResult;
use plimsoll_analysis::compare::{Ask, compare};
use plimsoll_record::runfile;
use plimsoll_report::versus::comparison_page;
use plimsoll_serve::{
    FoundRun, PageServer, RunSource, ServeOptions, StopServer, Token, is_growing, needs_token,
};

use rustix::fs::OFlags;

use super::compare::{label, sides_of};
use super::list::listed_result;
use super::predict::summary_of;
use crate::cli::ServeArgs;
use crate::failure::Failure;
use crate::run_path::run_files;
use crate::terminal::note;

/// Of the process beside a run: it gets the processor only where nothing else wants it.
const NICE: i32 = 19;
/// Bytes of a token file.
const LONGEST_SECRET: u64 = 4096;

pub fn serve(args: &ServeArgs) -> Result<ExitCode, Failure> {
    if !args.beside_run && !args.dir.exists() {
        return Err(Failure::usage(format!(
            "{} does not exist\nName a directory with run files.",
            args.dir.display()
        )));
    }
    let options = ServeOptions {
        listen: args.listen,
        token: token(args)?,
        beside_run: args.beside_run,
        warn: |text| note!("warning: {text}"),
    };
    let source = RunFolder {
        dir: args.dir.clone(),
        results: Mutex::default(),
    };
    let server = PageServer::bind(options, Box::new(source))
        .map_err(|error| Failure::usage(error.to_string()))?;
    if args.beside_run {
        // Without it the run is disturbed more, and goes on.
        let _ = rustix::process::nice(NICE);
        report_to_parent(&address(&server, args), server.stopper())?;
    } else {
        note!("Serving {}: {}", args.dir.display(), address(&server, args));
        if args.listen.ip().is_unspecified() {
            note!("From other machines: the same with this machine's address.");
        }
        note!("Press Ctrl-C to stop.");
    }
    server.run();
    Ok(ExitCode::SUCCESS)
}

/// A token of the user's own is known, and is printed nowhere.
fn address(server: &PageServer, args: &ServeArgs) -> String {
    match args.token_file {
        Some(_) => server.address(),
        None => server.address_with_token(),
    }
}

fn token(args: &ServeArgs) -> Result<Option<Token>, Failure> {
    let Some(path) = &args.token_file else {
        let random = needs_token(&args.listen).then(Token::random).transpose();
        return random.map_err(Failure::run);
    };
    let text = read_secret(path).map_err(|why| token_file_error(path, why))?;
    let token = Token::from_text(&text).map_err(|why| {
        token_file_error(path, format!("{why}\nWrite one line: openssl rand -hex 32"))
    })?;
    Ok(Some(token))
}

fn token_file_error(path: &Path, why: String) -> Failure {
    Failure::usage(format!(
        "the token file {} cannot be used\n{why}",
        path.display()
    ))
}

/// A short text that only its owner can read or change, or root's and readable by a group (a secret of Kubernetes). Links
/// are followed: the file that was opened is what is checked.
fn read_secret(path: &Path) -> Result<String, String> {
    let file = File::options()
        .read(true)
        // A pipe is refused below, and not waited for.
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .open(path)
        .map_err(|error| format!("{error}\nWrite one: (umask 077; openssl rand -hex 32 > FILE)"))?;
    let about = file.metadata().map_err(|error| error.to_string())?;
    require_secret(&about, path)?;
    let mut text = String::new();
    file.take(LONGEST_SECRET)
        .read_to_string(&mut text)
        .map_err(|error| format!("{error}\nWrite one line: openssl rand -hex 32"))?;
    Ok(text)
}

fn require_secret(file: &Metadata, path: &Path) -> Result<(), String> {
    if !file.is_file() {
        return Err("It is not a regular file.\nName a file with one line.".to_owned());
    }
    let user = rustix::process::geteuid().as_raw();
    let owner = file.uid();
    if owner != user && owner != 0 {
        return Err(format!(
            "It belongs to user {owner}, who can change it.\nCopy it to a file of your own, or: chown {user} {}",
            path.display()
        ));
    }
    let others = if owner == 0 && user != 0 {
        0o037
    } else {
        0o077
    };
    let mode = file.mode() & 0o7777;
    if mode & others != 0 {
        return Err(format!(
            "Other users can read or change it (mode {mode:03o}).\nchmod 600 {}, and write another token: others may know this one",
            path.display()
        ));
    }
    Ok(())
}

/// Sends the address, and ends the server when the parent closes its end of stdin, or dies.
fn report_to_parent(address: &str, stopper: StopServer) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let sent = writeln!(out, "{address}").and_then(|()| out.flush());
    sent.map_err(|error| Failure::run(format!("no address for the run: {error}")))?;
    let waiting = std::thread::Builder::new()
        .name("parent".into())
        .spawn(move || {
            let _ = std::io::stdin().read(&mut [0]);
            stopper.stop();
        });
    waiting
        .map(|_| ())
        .map_err(|error| Failure::run(format!("no thread for the server: {error}")))
}

/// The run files of a directory, or one that may not be there yet.
struct RunFolder {
    dir: PathBuf,
    /// Of files that have not changed since.
    results: Mutex<HashMap<PathBuf, KnownResult>>,
}

struct KnownResult {
    version: ListedVersion,
    result: Option<ListedResult>,
}

/// Length and time of the last change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ListedVersion {
    bytes: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl ListedVersion {
    fn of(path: &Path) -> Option<Self> {
        let about = path.metadata().ok()?;
        Some(Self {
            bytes: about.len(),
            seconds: about.mtime(),
            nanoseconds: about.mtime_nsec(),
        })
    }
}

impl RunFolder {
    fn files(&self) -> Result<Vec<PathBuf>, String> {
        if self.dir.is_dir() {
            return run_files(&self.dir).map_err(|failure| failure.text());
        }
        Ok(self
            .dir
            .is_file()
            .then(|| self.dir.clone())
            .into_iter()
            .collect())
    }

    fn name(&self, path: &Path) -> String {
        let name = path.strip_prefix(&self.dir).ok();
        let name = name.filter(|name| !name.as_os_str().is_empty());
        let name = name.or(path.file_name().map(Path::new));
        name.unwrap_or(path).to_string_lossy().into_owned()
    }

    /// A link may lead out of the directory, to what is not meant to be shown.
    fn holds(&self, path: &Path) -> bool {
        let both = self.dir.canonicalize().ok().zip(path.canonicalize().ok());
        both.is_some_and(|(own, path)| path.starts_with(own))
    }
}

impl RunSource for RunFolder {
    fn runs(&self) -> Result<Vec<FoundRun>, String> {
        let mut runs: Vec<FoundRun> = Vec::new();
        for path in self.files()?.into_iter().filter(|path| self.holds(path)) {
            // Files of other programs, damaged ones, and one that is being made have no head.
            if let Ok(head) = runfile::read_head(&path) {
                runs.push(FoundRun {
                    name: self.name(&path),
                    path,
                    head,
                    result: None,
                });
            }
        }
        runs.sort_by(|a, b| {
            (&a.head.run.started_at, &a.name).cmp(&(&b.head.run.started_at, &b.name))
        });
        Ok(runs)
    }

    /// What is new is read for so many runs at a time; the page shows the others when it is asked for again.
    fn add_results(&self, runs: &mut [FoundRun]) {
        const MOST_NEW: usize = 32;
        let mut known = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new = 0;
        // The newest first, as the page has them.
        for run in runs.iter_mut().rev() {
            let Some(version) = ListedVersion::of(&run.path) else {
                continue;
            };
            let found = known.get(&run.path).filter(|own| own.version == version);
            run.result = match found {
                Some(own) => own.result,
                None if new >= MOST_NEW => continue,
                None => {
                    new += 1;
                    let result = listed_result(&run.head);
                    known.insert(run.path.clone(), KnownResult { version, result });
                    result
                }
            };
        }
    }

    fn growing(&self) -> Result<Vec<PathBuf>, String> {
        let mut files = self.files()?;
        files.retain(|path| is_growing(path) && self.holds(path));
        files.sort();
        Ok(files)
    }

    fn report(&self, path: &Path) -> Result<String, String> {
        let record = runfile::read(path).map_err(|error| error.to_string())?;
        Ok(plimsoll_report::report(&record, &summary_of(&record)))
    }

    fn compare(&self, paths: &[PathBuf]) -> Result<String, String> {
        let groups = sides_of(paths).map_err(|failure| failure.text())?;
        let comparisons: Vec<_> = groups
            .iter()
            .map(|sides| compare(sides, &Ask::default()))
            .collect();
        let names: Vec<String> = paths.iter().map(|path| label(path)).collect();
        Ok(comparison_page(&names.join(" · "), &comparisons))
    }
}
