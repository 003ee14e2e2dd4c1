//! Files that commands write: each as a whole or not at all, and none in the place of another kind of file.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::failure::Failure;
use crate::output_kind::{FileSample, OutputKind};
use crate::part_dir::{PartDir, parent};

/// More symbolic links in a row are a circle.
const MOST_LINKS: u32 = 40;
/// What SQLite has beside a database that is in use.
const BESIDE_DATABASE: [&str; 2] = ["-wal", "-journal"];

/// Where a file will be, or a device, pipe or open descriptor that is written to as it is.
#[derive(Debug)]
pub struct OutputFile {
    /// As it was given.
    path: PathBuf,
    target: OutputTarget,
}

#[derive(Debug)]
enum OutputTarget {
    Stream(File),
    File(NewFile),
}

/// A file that has its name only once it is complete.
#[derive(Debug)]
struct NewFile {
    /// Without symbolic links: they stay.
    path: PathBuf,
    replaced: Option<ReplacedFile>,
    dir: PartDir,
}

/// A file that another takes the place of.
#[derive(Debug)]
struct ReplacedFile {
    device: u64,
    inode: u64,
    mode: u32,
    user: u32,
    group: u32,
}

impl From<&Metadata> for ReplacedFile {
    fn from(about: &Metadata) -> Self {
        Self {
            device: about.dev(),
            inode: about.ino(),
            mode: about.mode() & 0o777,
            user: about.uid(),
            group: about.gid(),
        }
    }
}

impl ReplacedFile {
    fn is_at(&self, path: &Path) -> bool {
        path.symlink_metadata()
            .is_ok_and(|named| (named.dev(), named.ino()) == (self.device, self.inode))
    }
}

impl OutputFile {
    /// Refuses a place where something would be lost. Until [`finish`](Self::finish) nothing changes there.
    pub fn at(path: &Path, kind: &OutputKind) -> Result<Self, Failure> {
        let target = match resolve(path, kind)? {
            Resolved::Stream(file) => OutputTarget::Stream(file),
            Resolved::File(path, replaced) => OutputTarget::File(NewFile {
                dir: PartDir::beside(&path).map_err(|error| not_written(&path, &error))?,
                path,
                replaced,
            }),
        };
        Ok(Self {
            path: path.into(),
            target,
        })
    }

    /// Where a program of its own writes the content.
    pub fn part(&self) -> PathBuf {
        match &self.target {
            OutputTarget::Stream(_) => self.path.clone(),
            OutputTarget::File(new) => new.part(),
        }
    }

    /// What was written to the part becomes the file, durably.
    pub fn finish(self) -> Result<(), Failure> {
        match self.target {
            OutputTarget::Stream(_) => Ok(()),
            OutputTarget::File(new) => new.take_place().map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => exists(&self.path),
                _ => not_written(&self.path, &error),
            }),
        }
    }

    /// As it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn open(&self) -> io::Result<File> {
        match &self.target {
            OutputTarget::Stream(file) => file.try_clone(),
            OutputTarget::File(new) => new.open(),
        }
    }
}

impl NewFile {
    fn part(&self) -> PathBuf {
        self.dir.path().join("part")
    }

    fn open(&self) -> io::Result<File> {
        // One that few may read is not open to others for a moment.
        let mode = self.replaced.as_ref().map_or(0o666, |_| 0o600);
        File::options()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(self.part())
    }

    fn take_place(self) -> io::Result<()> {
        let part = self.part();
        let file = File::open(&part)?;
        if let Some(replaced) = &self.replaced {
            // Only root can; for another user the file becomes that user's, as with any editor.
            let _ = std::os::unix::fs::fchown(&file, Some(replaced.user), Some(replaced.group));
            file.set_permissions(Permissions::from_mode(replaced.mode))?;
        }
        file.sync_all()?;
        match &self.replaced {
            Some(replaced) if replaced.is_at(&self.path) => fs::rename(&part, &self.path)?,
            _ => rename_new(&part, &self.path)?,
        }
        sync_directory(parent(&self.path))
    }
}

/// A file that is written from its beginning to its end.
pub struct WholeFile {
    output: OutputFile,
    file: BufWriter<File>,
}

impl WholeFile {
    pub fn create(path: &Path, kind: &OutputKind) -> Result<Self, Failure> {
        let output = OutputFile::at(path, kind)?;
        let file = output.open().map_err(|error| not_written(path, &error))?;
        Ok(Self {
            output,
            file: BufWriter::new(file),
        })
    }

    /// As it was given.
    pub fn path(&self) -> &Path {
        self.output.path()
    }

    pub fn finish(mut self) -> Result<(), Failure> {
        match self.file.flush() {
            // Whoever read it has enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(not_written(&self.output.path, &error)),
            Ok(()) => self.output.finish(),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file as a whole or not at all.
pub fn write_whole(path: &Path, text: &str, kind: &OutputKind) -> Result<(), Failure> {
    let mut file = WholeFile::create(path, kind)?;
    match file.write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(not_written(path, &error)),
        _ => file.finish(),
    }
}

/// Whether something can be written there later. It changes nothing.
pub fn expect_free(path: &Path, kind: &OutputKind) -> Result<(), Failure> {
    match fs::metadata(path) {
        // Opening it would wait for a reader, or begin what it does.
        Ok(about)
            if kind.can_be_streamed()
                && !about.is_file()
                && !about.is_dir()
                && !is_disk(&about) =>
        {
            Ok(())
        }
        _ => resolve(path, kind).map(drop),
    }
}

/// Whether it is written to as it is: a device, a pipe or an open descriptor.
pub fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file()) || is_descriptor(path)
}

/// Renames where nothing is.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // NFS and some others cannot do it in one step. A link, too, leaves what exists.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match fs::hard_link(from, to) {
            Ok(()) => fs::remove_file(from),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
            Err(_) if to.symlink_metadata().is_ok() => Err(ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(from, to),
        },
        renamed => renamed.map_err(io::Error::from),
    }
}

/// Why a file does not exist now.
pub fn not_written(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::run(format!(
        "cannot write {}\n{error}\nName another file, or free what is in the way.",
        path.display()
    ))
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::usage(format!(
        "cannot write {}\n{why}\nName another file, or move this one away.",
        path.display()
    ))
}

fn exists(path: &Path) -> Failure {
    refused(path, "The file exists already.")
}

enum Resolved {
    Stream(File),
    File(PathBuf, Option<ReplacedFile>),
}

/// What a path stands for.
fn resolve(path: &Path, kind: &OutputKind) -> Result<Resolved, Failure> {
    let not_written = |error: io::Error| not_written(path, &error);
    // The kernel follows links here, as far as it lets this user.
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return resolve_new(path, kind);
        }
        about => about.map_err(not_written)?,
    };
    if about.is_dir() {
        return Err(refused(path, "It is a directory."));
    }
    if is_disk(&about) {
        return Err(refused(
            path,
            "It is a block device: its data would be lost.",
        ));
    }
    let is_stream = !about.is_file() || is_descriptor(path);
    if is_stream && !kind.can_be_streamed() {
        return Err(exists(path));
    }
    if !about.is_file() {
        return File::options()
            .write(true)
            .custom_flags(no_terminal())
            .open(path)
            .map(Resolved::Stream)
            .map_err(not_written);
    }
    if is_stream {
        let sample = FileSample::read(path).map_err(not_written)?;
        if sample.is_run_file() {
            return Err(refused(path, RUN_FILE));
        }
        return open_descriptor(path, &about)
            .map(Resolved::Stream)
            .map_err(not_written);
    }
    let real = path.canonicalize().map_err(not_written)?;
    expect_replaceable(path, &real, kind)?;
    let replaced = ReplacedFile::from(&about);
    if !replaced.is_at(&real) {
        return Err(refused(path, "Another program has just replaced it."));
    }
    Ok(Resolved::File(real, Some(replaced)))
}

const RUN_FILE: &str = "It is a run file: its measurement would be lost.";

fn resolve_new(path: &Path, kind: &OutputKind) -> Result<Resolved, Failure> {
    if path.symlink_metadata().is_ok() {
        return Err(refused(
            path,
            "It is a symbolic link to a file that does not exist.",
        ));
    }
    if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(refused(path, "There is no such directory."));
    }
    expect_free_name(path, kind)?;
    fs::metadata(parent(path)).map_err(|error| not_written(path, &error))?;
    Ok(Resolved::File(path.to_owned(), None))
}

/// Names of run files, and of what SQLite keeps beside them.
fn expect_free_name(path: &Path, kind: &OutputKind) -> Result<(), Failure> {
    let extension = path.extension().unwrap_or_default().as_encoded_bytes();
    match extension.starts_with(b"plimsoll") && *kind != OutputKind::RunFile {
        true => Err(refused(path, "The name is that of a run file.")),
        false => Ok(()),
    }
}

fn expect_replaceable(path: &Path, real: &Path, kind: &OutputKind) -> Result<(), Failure> {
    if matches!(kind, OutputKind::New | OutputKind::RunFile) {
        return Err(exists(path));
    }
    // A user who may not change it may not replace it.
    File::options()
        .write(true)
        .custom_flags(no_terminal() | OFlags::NOFOLLOW.bits().cast_signed())
        .open(real)
        .map_err(|error| not_written(path, &error))?;
    let sample = FileSample::read(real).map_err(|error| not_written(path, &error))?;
    if sample.is_run_file() {
        return Err(refused(path, RUN_FILE));
    }
    expect_free_name(real, kind)?;
    let is_in_use = BESIDE_DATABASE.iter().any(|suffix| {
        let mut beside = real.as_os_str().to_owned();
        beside.push(suffix);
        Path::new(&beside).exists()
    });
    if is_in_use {
        return Err(refused(path, "It is a database that is in use."));
    }
    match kind.replaces(&sample) {
        true => Ok(()),
        false => Err(refused(
            path,
            &format!("The file exists already, and it is not {}.", kind.name()),
        )),
    }
}

fn is_disk(about: &Metadata) -> bool {
    about.file_type().is_block_device()
}

fn no_terminal() -> i32 {
    OFlags::NOCTTY.bits().cast_signed()
}

/// Whether a path is that of an open descriptor, such as `/dev/stdout`: what it leads to belongs to whoever opened it.
fn is_descriptor(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(directory) = parent(&path).canonicalize() else {
            return false;
        };
        if directory.starts_with("/proc") && directory.ends_with("fd") {
            return true;
        }
        let Ok(link) = fs::read_link(&path) else {
            return false;
        };
        path = directory.join(link);
    }
    false
}

/// Stdout has one position for all that is written to it; another file is appended to.
fn open_descriptor(path: &Path, about: &Metadata) -> io::Result<File> {
    let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let of_stdout = stdout.metadata()?;
    match (of_stdout.dev(), of_stdout.ino()) == (about.dev(), about.ino()) {
        true => Ok(stdout),
        false => File::options().append(true).open(path),
    }
}

fn sync_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // It may be closed to readers, or on a file system without it.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}
