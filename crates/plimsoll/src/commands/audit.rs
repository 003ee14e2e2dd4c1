//! `plimsoll audit`: evaluates the rules on runs and published tables.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plimsoll_analysis::audit::claim::PublishedClaim;
use plimsoll_analysis::audit::{self, Audit, Rule, audit_pair};
use plimsoll_analysis::audited::figures;
use plimsoll_analysis::compare::{ComparedSide, unlike};
use plimsoll_analysis::summary::RunFigures;
use plimsoll_record::Record;
use plimsoll_report::{audit_csv, audit_json, audit_page, audit_table, explain};

use super::io::print;
use crate::bundled::{CLAIMS, find};
use crate::cli::{AuditArgs, Format};
use crate::failure::Failure;
use crate::input::read_text;
use crate::output::write_whole;
use crate::output_kind::OutputKind;
use crate::plan_errors;
use crate::run_path::RunArgument;
use plimsoll_record::runfile;

/// Far more than any claim needs.
const LARGEST_CLAIM: u64 = 4 << 20;
/// Alone it lists the bundled claims; the words behind it are names of them.
const CLAIMS_WORD: &str = "claims";

pub fn audit(args: &AuditArgs) -> Result<ExitCode, Failure> {
    if let Some(code) = &args.explain {
        let Some(rule) = Rule::parse(code) else {
            let known: Vec<&str> = Rule::ALL.into_iter().map(Rule::code).collect();
            return Err(Failure::usage(format!(
                "there is no audit rule {code}\nThere are {}.",
                known.join(", ")
            )));
        };
        return print(&explain(rule));
    }
    if args.files == [Path::new(CLAIMS_WORD)] {
        return print(&bundled_claims());
    }
    let audits = audits(&args.files)?;
    if let Some(output) = &args.output {
        write_whole(output, &audit_page(&audits), &OutputKind::Page)?;
    }
    print(&render(&audits, args.format))?;
    let errors = audits.iter().any(Audit::has_errors);
    Ok(if args.strict && errors {
        ExitCode::from(3)
    } else {
        ExitCode::SUCCESS
    })
}

fn render(audits: &[Audit], format: Format) -> String {
    match format {
        Format::Table => audits
            .iter()
            .map(audit_table)
            .collect::<Vec<_>>()
            .join("\n"),
        Format::Json => audit_json(audits),
        Format::Csv => audit_csv(audits),
    }
}

/// Each by itself, then each run against the first.
fn audits(files: &[PathBuf]) -> Result<Vec<Audit>, Failure> {
    if let [word, names @ ..] = files
        && word == Path::new(CLAIMS_WORD)
    {
        return names.iter().map(|name| bundled_claim(name)).collect();
    }
    let mut audits = Vec::new();
    let mut runs = Vec::new();
    for file in files {
        if file
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            audits.push(claim(file)?);
            continue;
        }
        for path in RunArgument::open(file)?.files() {
            let record = runfile::read(&path)?;
            let figures = figures(&record);
            audits.push(audit::audit(&record, &figures));
            runs.push((record, figures));
        }
    }
    audits.extend(against_the_first(&runs));
    Ok(audits)
}

fn against_the_first(runs: &[(Record, RunFigures)]) -> Vec<Audit> {
    let Some(((record, figures), others)) = runs.split_first() else {
        return Vec::new();
    };
    let first = ComparedSide::of_summary("", record, figures);
    others
        .iter()
        .filter_map(|(other, of_other)| {
            let unlike = unlike(&first, &ComparedSide::of_summary("", other, of_other));
            audit_pair((record, figures), (other, of_other), unlike)
        })
        .collect()
}

fn claim(file: &Path) -> Result<Audit, Failure> {
    let name = file.display().to_string();
    let failed = |error: std::io::Error| {
        Failure::usage(format!(
            "{name} cannot be read: {error}\nName a run file, a set of runs or a claim."
        ))
    };
    let length = match std::fs::metadata(file) {
        Err(_) if find(CLAIMS, &name, "").is_ok() => return bundled_claim(file),
        metadata => metadata.map_err(failed)?.len(),
    };
    if length > LARGEST_CLAIM {
        return Err(Failure::usage(format!(
            "{name} is larger than 4 MiB, which no claim is\nName a claim (see claims/)."
        )));
    }
    audit_claim(&name, &read_text(file).map_err(failed)?)
}

fn bundled_claim(name: &Path) -> Result<Audit, Failure> {
    let name = name.display().to_string();
    let none = "`plimsoll audit claims` lists them.";
    let file = find(CLAIMS, &name, none)
        .map_err(|help| Failure::usage(format!("there is no bundled claim {name}\n{help}")))?;
    audit_claim(file.name(), file.text)
}

fn audit_claim(name: &str, text: &str) -> Result<Audit, Failure> {
    let claim = PublishedClaim::parse(text)
        .map_err(|errors| plan_errors::claim_failure(name, text, errors))?;
    Ok(claim.audit())
}

/// Names, each with its title below it.
fn bundled_claims() -> String {
    let lines = CLAIMS.iter().filter_map(|file| {
        let claim = PublishedClaim::parse(file.text).ok()?;
        Some(format!("{}\n    {}\n", file.name(), claim.title))
    });
    lines.collect::<String>() + "\nAudit one: plimsoll audit claims NAME"
}
