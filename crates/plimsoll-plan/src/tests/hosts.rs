//! Hosts, and load that comes from them.

use super::*;
use crate::resolved::PlanHost;

const PLAN: &str = "title = \"Hosts\"\n[host.\"gen[1-3]\"]\nvia = \"ssh -p 22 {host}\"\n[host.near]\nprogram = \"/p\"\n\
     [system.db]\nurl = \"postgres://u@db/x\"\nhost = \"gen1\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\n\
     system = \"db\"\nusers = [4, 8]\n";

fn with(line: &str) -> String {
    format!("{PLAN}{line}\n")
}

#[test]
fn a_pattern_gives_each_host_its_own_command() {
    let plan = good(&with("from = [\"near\", \"gen[2-3]\"]")).plan;
    let step = plan.load_steps().next().unwrap();
    let hosts: Vec<&PlanHost> = step.from.iter().map(|host| plan.host(*host)).collect();
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["near", "gen2", "gen3"]);
    assert_eq!(hosts[1].via, ["ssh", "-p", "22", "gen2"]);
    assert!(hosts[0].via.is_empty());
    assert_eq!(hosts[0].program.as_deref(), Some("/p"));
    assert_eq!(hosts[0].patience, Nanos::from_secs(60));
    survives(&plan);
    let used = plan.used_hosts();
    let used: Vec<&str> = used
        .iter()
        .map(|host| plan.host(*host).name.as_str())
        .collect();
    assert_eq!(used, ["gen1", "gen2", "gen3", "near"]);
    let none = good(PLAN).plan;
    assert!(none.load_steps().all(|step| step.from.is_empty()));
}

#[test]
fn what_no_host_can_do_is_refused() {
    for (line, message) in cases(
        r#"
from = ["gen4"] => there is no host `gen4`
from = ["gen[3-1]"] => this is no pattern of hosts
from = ["gen[1-3]", "near"] ; connections = 3 => 4 hosts share fewer users or connections
from = ["near"] ; power_cut = "5s" => `from` and `power_cut` exclude each other
"#,
    ) {
        let errors = bad(&with(&line.replace(" ; ", "\n")));
        assert!(errors.contains(message), "{line}: {errors}");
    }
    let unknown = PLAN.replace("host = \"gen1\"", "host = \"db1\"");
    assert!(bad(&unknown).contains("there is no host `db1`"));
    let own = with("from = [\"near\"]")
        .replace("url = \"postgres://u@db/x\"", "engine = \"postgres\"")
        .replace("host = \"gen1\"\n", "");
    let own = format!("{own}on = [\"here\"]\n[medium.here]\npath = \".\"\n");
    let errors = bad(&own);
    assert!(
        errors.contains("cannot reach a database that plimsoll starts"),
        "{errors}"
    );
    let twice = PLAN.replace("[host.near]", "[host.gen2]");
    assert!(bad(&twice).contains("two hosts are named `gen2`"));
}

const EVERYWHERE: &str = "title = \"Everywhere\"\non_hosts = [\"n[1-2]\", \"n2\"]\n[host.\"n[1-2]\"]\n[medium.here]\npath = \"/d\"\n\
     [system.db]\nengine = \"sqlite\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\n\
     on = [\"here\"]\n";

#[test]
fn a_plan_runs_on_each_of_its_hosts() {
    let plan = good(&format!("{EVERYWHERE}users = [4, 8]\n")).plan;
    let names: Vec<&str> = plan
        .on_hosts
        .iter()
        .map(|host| plan.host(*host).name.as_str())
        .collect();
    assert_eq!(names, ["n1", "n2"]);
    assert_eq!(plan.used_hosts().len(), 2);
    survives(&plan);
}

#[test]
fn hosts_that_could_not_stay_in_step_are_refused() {
    let auto = EVERYWHERE.replace("path = \"/d\"", "drive = \"d.toml\"");
    let own_load = format!("{EVERYWHERE}users = 2\nfrom = [\"n1\"]\n")
        .replace("engine = \"sqlite\"", "engine = \"mock\"");
    let own_load = own_load.replace("on = [\"here\"]\n", "");
    let search = format!("{EVERYWHERE}users = 4\nfind = {{ mean_ms = 10 }}\n");
    for (text, message) in [
        (auto + "users = 2\n", "is chosen on this machine"),
        (own_load, "exclude each other"),
        (search, "decides by each host's own figures"),
        (
            EVERYWHERE.replace("\"n2\"", "\"n3\"") + "users = 2\n",
            "there is no host `n3`",
        ),
    ] {
        let errors = bad(&text);
        assert!(errors.contains(message), "{text}: {errors}");
    }
}
