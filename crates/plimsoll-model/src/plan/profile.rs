//! Block workloads that plimsoll has at hand, with their sources: the files in `profiles/`, as they are.

use std::sync::OnceLock;

use super::findings::Findings;
use super::raw::RawProfile;
use super::resolved::BlockJob;
use super::{PlanErrors, read, resolve, suggestion};
use crate::units::Bytes;

/// Jobs under a name that people in the field know.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Name of the file without `.toml`.
    pub name: &'static str,
    pub title: String,
    /// What it is for, and what of it is invented.
    pub about: String,
    /// A paper, a tool, a clause.
    pub source: String,
    /// What a plan that leaves these out gets; `None`: what any block workload gets.
    pub workers: Option<u32>,
    pub size: Option<Bytes>,
    pub fill: Option<f64>,
    pub jobs: Vec<BlockJob>,
}

/// A name that is not among the profiles.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{name}`\n{help}")]
pub struct UnknownProfile {
    pub name: String,
    /// What to do about it.
    pub help: String,
}

macro_rules! entries {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../profiles/", $name, ".toml")))),*]
    };
}

/// By name.
const ENTRIES: &[(&str, &str)] = entries!["four-corners",];

/// All of them, by name.
pub fn all() -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let read = |(name, text): &(&'static str, &str)| parse(name, text).expect("a test reads every profile");
        ENTRIES.iter().map(read).collect()
    })
}

/// The profile of this name.
///
/// # Errors
/// There is none; says which name may be meant.
pub fn find(name: &str) -> Result<&'static Profile, UnknownProfile> {
    all().iter().find(|profile| profile.name == name).ok_or_else(|| {
        let known: Vec<&str> = all().iter().map(|profile| profile.name).collect();
        UnknownProfile { name: name.to_owned(), help: suggestion(name, &known, "") }
    })
}

fn parse(name: &'static str, text: &str) -> Result<Profile, PlanErrors> {
    let mut findings = Findings::new(text);
    let raw: Option<RawProfile> = read::read(&mut findings);
    let profile = raw.and_then(|raw| resolve::resolve_profile(name, &raw, &mut findings));
    let (profile, warnings) = findings.finish(profile)?;
    if warnings.is_empty() { Ok(profile) } else { Err(PlanErrors(warnings)) }
}
