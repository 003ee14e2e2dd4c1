//! One thing that a plimsoll prints or writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::exec::{Task, because, root};

pub struct View {
    /// Of the file that it becomes.
    pub name: String,
    /// Of the command line; run in the checkout.
    pub words: Vec<String>,
    /// What the command writes, which is then kept: the extension of its file.
    pub written: Option<&'static str>,
}

impl View {
    pub fn printed(name: String, words: &[&str]) -> Self {
        View {
            name,
            words: words.iter().map(|&word| word.to_owned()).collect(),
            written: None,
        }
    }

    pub fn written(name: String, words: &[&str], extension: &'static str) -> Self {
        View {
            written: Some(extension),
            ..View::printed(name, words)
        }
    }

    /// Runs the command. Its exit code and what it prints are kept too: a refusal is an answer.
    pub fn write(&self, binary: &Path, dir: &Path) -> Task {
        let target = dir.join(&self.name);
        let made = self
            .written
            .map(|extension| target.with_added_extension(extension));
        let mut command = Command::new(binary);
        command.args(&self.words).current_dir(root());
        if let Some(made) = &made {
            command.arg("-o").arg(made);
        }
        let out = command.output().map_err(because(binary.display()))?;
        let code = out.status.code().unwrap_or(-1);
        let errors = String::from_utf8_lossy(&out.stderr).replace(&*dir.to_string_lossy(), "DIR");
        let mut text = String::from_utf8_lossy(&out.stdout).replace(&*dir.to_string_lossy(), "DIR");
        text.push_str(&format!("\nexit code {code}\n{errors}"));
        fs::write(&target, text).map_err(because(target.display()))?;
        match made {
            Some(page) if self.written == Some("html") && page.is_file() => by_line(&page),
            _ => Ok(()),
        }
    }
}

/// A page with an element a line, so that a difference is of a line.
fn by_line(page: &Path) -> Task {
    let text = fs::read_to_string(page).map_err(because(page.display()))?;
    let text = text.replace('<', "\n<").replace(",\"", ",\n\"");
    fs::write(page, text).map_err(because(page.display()))
}
