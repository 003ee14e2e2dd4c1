//! The project's own rules. Each rule is a function from the files to findings, with a failing example in its tests.

mod calls;
mod circles;
mod closures;
mod dead;
mod lengths;
mod links;
mod manifests;
mod paths;
mod source;
mod specification;
mod text;
mod types;
mod words;

use std::collections::BTreeMap;
use std::fmt;

use crate::exec::{Task, because, failed, program, root};
use source::Source;

/// What a rule found at a place. Lines count from 1; 0 is the file as a whole.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// The text files of the project, by path from the checkout with `/`.
pub struct Tree {
    pub files: BTreeMap<String, String>,
    /// Every path, also of files that are no text: links may lead there.
    pub paths: Vec<String>,
    sources: BTreeMap<String, Source>,
}

impl Tree {
    pub fn new(files: BTreeMap<String, String>, paths: Vec<String>) -> Self {
        let rust = files.iter().filter(|(path, _)| path.ends_with(".rs"));
        let mut sources: BTreeMap<_, _> = rust
            .map(|(path, text)| (path.clone(), Source::new(text)))
            .collect();
        for path in dead::test_only_files(&sources) {
            if let Some(source) = sources.get_mut(&path) {
                source.in_test.fill(true);
            }
        }
        Self {
            files,
            paths,
            sources,
        }
    }

    /// What git would commit: tracked files and new ones that are not ignored.
    fn read() -> Task<Self> {
        let list = program(
            "git",
            &[
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ],
        )
        .output()?;
        let mut files = BTreeMap::new();
        let mut paths = Vec::new();
        for path in list.split('\0').filter(|path| !path.is_empty()) {
            let full = root().join(path);
            if !full.is_file() {
                continue; // deleted, not yet committed
            }
            let bytes = std::fs::read(&full).map_err(because(path))?;
            paths.push(path.to_string());
            if let Ok(text) = String::from_utf8(bytes)
                && !text.contains('\0')
            {
                files.insert(path.to_string(), text);
            }
        }
        Ok(Self::new(files, paths))
    }

    pub fn sources(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.sources
            .iter()
            .map(|(path, source)| (path.as_str(), source))
    }

    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files: BTreeMap<_, _> = files
            .iter()
            .map(|(path, text)| (path.to_string(), text.to_string()))
            .collect();
        let paths = files.keys().cloned().collect();
        Self::new(files, paths)
    }
}

pub fn run() -> Task {
    let tree = Tree::read()?;
    for warning in lengths::warnings(&tree) {
        eprintln!("tidy: warning: {warning}");
    }
    let mut findings: Vec<Finding> = [
        lengths::check,
        calls::check,
        circles::check,
        closures::check,
        dead::check,
        links::check,
        text::check,
        types::check,
        words::check,
    ]
    .iter()
    .flat_map(|rule| rule(&tree))
    .collect();
    let (promises, pending) = specification::check(&tree, &mut findings);
    findings.extend(manifests::check(&tree, &manifests::read()?));
    findings.sort();
    for finding in &findings {
        eprintln!("{finding}");
    }
    eprintln!(
        "tidy: {} files; SPECIFICATION.md: {promises} promises, {pending} pending",
        tree.paths.len()
    );
    match findings.len() {
        0 => Ok(()),
        n => failed(format!("tidy: {n} finding(s) above")),
    }
}

/// `path:line` of findings, for the tests of the rules.
#[cfg(test)]
fn places(findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .map(|finding| format!("{}:{}", finding.path, finding.line))
        .collect()
}
