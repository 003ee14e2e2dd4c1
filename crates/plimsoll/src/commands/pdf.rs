//! Prints a page to a PDF file through a browser that is there.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::output::{WholeFile, is_stream, not_written};
use crate::output_kind::OutputKind;
use crate::part_dir::PartDir;

/// Overrides the search for a browser.
const BROWSER_VARIABLE: &str = "PLIMSOLL_CHROMIUM";
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// A PDF file that has its name once the browser has printed all of it.
pub struct PdfFile {
    file: WholeFile,
    /// The browser writes nowhere else.
    dir: PartDir,
}

impl PdfFile {
    pub fn create(pdf: &Path) -> Result<Self, Failure> {
        let file = WholeFile::create(pdf, &OutputKind::Pdf)?;
        let dir = match is_stream(pdf) {
            true => PartDir::create_in(&std::env::temp_dir()),
            false => PartDir::beside(pdf),
        };
        let dir = dir.map_err(|error| not_written(pdf, &error))?;
        Ok(Self { file, dir })
    }

    /// Prints a page.
    pub fn print(mut self, page: &Path) -> Result<(), Failure> {
        let printed = self.dir.path().join("page.pdf");
        print_to_pdf(page, &printed, self.file.path())?;
        File::open(&printed)
            .and_then(|mut printed| io::copy(&mut printed, &mut self.file))
            .map_err(|error| not_written(self.file.path(), &error))?;
        self.file.finish()
    }
}

/// # Errors
/// Without a browser, and where it writes nothing.
fn print_to_pdf(page: &Path, output: &Path, pdf: &Path) -> Result<(), Failure> {
    let browser = browser().ok_or_else(|| {
        Failure::run(format!(
            "cannot make {}\nneither Chromium nor Google Chrome is installed, and {BROWSER_VARIABLE} names none\n\
             Install chromium, or open {} in a browser and print it to a file.",
            pdf.display(),
            page.display()
        ))
    })?;
    let failed = |why: String| {
        Failure::run(format!(
            "cannot make {}\n{}: {why}\nOpen {} in a browser and print it to a file.",
            pdf.display(),
            browser.display(),
            page.display()
        ))
    };
    let page = std::path::absolute(page).map_err(|why| failed(why.to_string()))?;
    let output = std::path::absolute(output).map_err(|why| failed(why.to_string()))?;
    let profile = std::env::temp_dir().join(format!("plimsoll-pdf-{}", std::process::id()));
    let mut command = Command::new(&browser);
    command
        .args(["--headless", "--disable-gpu", "--no-pdf-header-footer"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--print-to-pdf={}", output.display()));
    if rustix::process::geteuid().is_root() {
        // Chromium's sandbox refuses root; the page is plimsoll's own and loads nothing.
        command.arg("--no-sandbox");
    }
    let ran = command.arg(file_url(&page)).stdin(Stdio::null()).output();
    // It may not exist, where the browser did not start.
    let _ = std::fs::remove_dir_all(&profile);
    let ran = ran.map_err(|why| failed(why.to_string()))?;
    if ran.status.success() && output.is_file() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&ran.stderr);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty());
    Err(failed(
        last.map_or_else(|| ran.status.to_string(), str::to_owned),
    ))
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
