//! Prints a page to a PDF file through a browser that is there.
//!
//! The browser sees a copy of the page in a new directory of its own, and writes there; the PDF file is written by
//! plimsoll. Root starts it as `nobody`, since Chromium's sandbox refuses root; without the sandbox it runs as root of a
//! container only.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, fchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::fs::OFlags;

use crate::failure::Failure;
use crate::output::{WholeFile, not_written};
use crate::output_kind::OutputKind;

/// Overrides the search for a browser.
const BROWSER_VARIABLE: &str = "PLIMSOLL_CHROMIUM";
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
/// User and group without rights: the kernel's number for it (`/proc/sys/kernel/overflowuid`), and that of distributions.
const NOBODY: u32 = 65_534;

/// A PDF file that has its name once the browser has printed all of it.
pub struct PdfFile(WholeFile);

impl PdfFile {
    pub fn create(pdf: &Path) -> Result<Self, Failure> {
        WholeFile::create(pdf, &OutputKind::Pdf).map(Self)
    }

    /// Prints a page.
    pub fn print(mut self, page: &Path) -> Result<(), Failure> {
        let printed = print_to_pdf(page, self.0.path())?;
        self.0
            .write_all(&printed)
            .map_err(|error| not_written(self.0.path(), &error))?;
        self.0.finish()
    }
}

/// # Errors
/// Without a browser, and where it writes nothing.
fn print_to_pdf(page: &Path, pdf: &Path) -> Result<Vec<u8>, Failure> {
    let browser = browser().ok_or_else(|| {
        Failure::run(format!(
            "cannot make {}\nneither Chromium nor Google Chrome is installed, and {BROWSER_VARIABLE} names none\n\
             Install chromium, or open {} in a browser and print it to a file.",
            pdf.display(),
            page.display()
        ))
    })?;
    print(&browser, page).map_err(|why| {
        Failure::run(format!(
            "cannot make {}\n{}: {why}\nOpen {} in a browser and print it to a file.",
            pdf.display(),
            browser.display(),
            page.display()
        ))
    })
}

/// The page as a PDF document.
fn print(browser: &Path, page: &Path) -> io::Result<Vec<u8>> {
    let directory = tempfile::Builder::new()
        .prefix("plimsoll-pdf-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()?;
    let copy = directory.path().join("page.html");
    fs::copy(page, &copy)?;
    let user = BrowserUser::current();
    if user == BrowserUser::Nobody {
        for path in [&copy, directory.path()] {
            fchown(open_unlinked(path)?, Some(NOBODY), Some(NOBODY))?;
        }
    }
    let pdf = directory.path().join("page.pdf");
    let ran = run(browser, directory.path(), user)?;
    let mut printed = Vec::new();
    let read = open_unlinked(&pdf).and_then(|mut file| file.read_to_end(&mut printed));
    if ran.status.success() && read.is_ok() {
        return Ok(printed);
    }
    let errors = String::from_utf8_lossy(&ran.stderr);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty());
    Err(io::Error::other(
        last.map_or_else(|| ran.status.to_string(), str::to_owned),
    ))
}

fn run(browser: &Path, directory: &Path, user: BrowserUser) -> io::Result<Output> {
    let option = |name: &str, file: &str| {
        let mut option = OsString::from(name);
        option.push(directory.join(file));
        option
    };
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--disable-gpu", "--no-pdf-header-footer"])
        .arg(option("--user-data-dir=", "profile"))
        .arg(option("--print-to-pdf=", "page.pdf"));
    match user {
        BrowserUser::Same => {}
        BrowserUser::Nobody => {
            // std drops the supplementary groups along with the uid. Others can read the environment of what runs as nobody.
            command.uid(NOBODY).gid(NOBODY).env_clear();
            command.env("HOME", directory).env("TMPDIR", directory);
            command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        }
        BrowserUser::ContainerRoot => {
            command.arg("--no-sandbox");
        }
    }
    command
        .arg(file_url(&directory.join("page.html")))
        .stdin(Stdio::null())
        .output()
}

/// A regular file or directory, and never what a link leads to: others may write where the browser does.
fn open_unlinked(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() || kind.is_dir() {
        Ok(file)
    } else {
        Err(io::Error::other(format!("{} is no file", path.display())))
    }
}

/// Who the browser runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BrowserUser {
    /// The user of plimsoll, in the browser's sandbox.
    Same,
    /// In the browser's sandbox, because plimsoll is root.
    Nobody,
    /// Without the sandbox, for which containers lack the rights; the page is plimsoll's own and loads nothing.
    ContainerRoot,
}

impl BrowserUser {
    fn current() -> Self {
        /// What Docker, Podman and systemd-nspawn put there (systemd, "The Container Interface").
        const MARKS: [&str; 3] = [
            "/.dockerenv",
            "/run/.containerenv",
            "/run/systemd/container",
        ];
        let is_container = || {
            std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
                || MARKS.iter().any(|mark| Path::new(mark).exists())
        };
        if !rustix::process::geteuid().is_root() {
            Self::Same
        } else if is_container() {
            Self::ContainerRoot
        } else {
            Self::Nobody
        }
    }
}

/// The one that is named, or else the first that is installed.
fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(BROWSER_VARIABLE) {
        return Some(PathBuf::from(named)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    BROWSERS.iter().find_map(|name| {
        let files = directories.iter().map(|directory| directory.join(name));
        files.into_iter().find(|file| file.is_file())
    })
}

/// Characters that mean something in a URL are written as their bytes.
fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(char::from(*byte));
            }
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_signs_is_a_url() {
        assert_eq!(
            file_url(Path::new("/tmp/50 %#1?.html")),
            "file:///tmp/50%20%25%231%3F.html"
        );
    }
}
