//! Arguments of `plimsoll compare` and `plimsoll gate`.

use std::path::PathBuf;

use clap::Args;
use plimsoll_analysis::audit::Rule;
use plimsoll_analysis::compare::Group;
use plimsoll_plan::requirement::Requirement;

use super::format::Format;
use super::value::share;

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Run files, or sets of runs (directories). The first is the baseline; of a single set, its first combination.
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// The smallest relevant change, in percent: smaller ones count as equal.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub min_effect: Option<f64>,
    /// The one intended difference: hosts, cpus, kernel, drives, software, settings, workload, sizes, load,
    /// generator-place or loaded-systems.
    #[arg(long, value_name = "GROUP", value_parser = group)]
    pub factor: Option<Group>,
    /// Also show the ratio of loads whose workloads differ: script, kind and size of requests, amount of data.
    #[arg(long)]
    pub anyway: bool,
    /// Also make a self-contained HTML page.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = GATE_CODES)]
pub struct GateArgs {
    /// The run to evaluate: a run file, or a set of repeats.
    pub run: PathBuf,
    /// The baseline: a run file, or a set of repeats.
    #[arg(long, value_name = "RUN", requires = "max_regression")]
    pub baseline: Option<PathBuf>,
    /// A limit that every load must keep, such as 'p99<200ms', 'failed<0.1%' or 'nopm>12000', beside those of the plan.
    /// Figures: mean, p50, p90, p95, p99, p99.9 and max of response times, failed, nopm, throughput, iops, mb/s. Repeatable.
    #[arg(long, value_name = "REQUIREMENT")]
    pub require: Vec<Requirement>,
    /// Largest allowed decrease of throughput, in percent; for open-loop load, largest allowed increase of the 99th
    /// percentile of response times.
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "baseline")]
    pub max_regression: Option<f64>,
    /// Largest allowed increase of the 99th percentile of response times, in percent, at every load.
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "baseline")]
    pub max_latency_regression: Option<f64>,
    /// An audit rule to ignore. Repeatable.
    #[arg(long, value_name = "RULE", value_parser = rule)]
    pub allow: Vec<Rule>,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

const GATE_CODES: &str = "Exit codes: 0 passed · 1 a run file is damaged · 2 usage: a file that is missing or no run file, or no load in common · 3 regression, or a requirement is missed · 4 cannot be evaluated: the last sentence has the reason";

/// `3` and `3%` are 0.03.
fn percent(text: &str) -> Result<f64, String> {
    share(text.strip_suffix('%').unwrap_or(text).trim())
}

fn group(text: &str) -> Result<Group, String> {
    let factor = |group: &Group| *group != Group::Incidental;
    Group::parse(text).filter(factor).ok_or_else(|| {
        let names: Vec<&str> = Group::ALL
            .into_iter()
            .filter(factor)
            .map(Group::name)
            .collect();
        format!("give one of {}", names.join(", "))
    })
}

fn rule(text: &str) -> Result<Rule, String> {
    Rule::parse(text).ok_or_else(|| {
        let codes: Vec<&str> = Rule::ALL.into_iter().map(Rule::code).collect();
        format!("give one of {}", codes.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_groups_and_rules_are_read() {
        assert_eq!(
            (percent("3%"), percent("0.5"), percent("3 %")),
            (Ok(0.03), Ok(0.005), Ok(0.03))
        );
        assert!(percent("x").is_err() && percent("-3%").is_err());
        assert_eq!(
            (group("drives"), rule("onefactor")),
            (Ok(Group::Drives), Ok(Rule::OneFactor))
        );
        assert!(group("incidental").is_err() && rule("x").unwrap_err().contains("DURABLE"));
    }
}
