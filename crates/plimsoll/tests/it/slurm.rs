//! Cells of a set that a scheduler runs: one by one with `--cell`, and as a Slurm job array.
//!
//! Machines that run tests have no Slurm. Small scripts stand in for sbatch, squeue and scancel: a job is a folder, a task a
//! file with its state, and one node runs the tasks in the background. What real ones print is in src/slurm/recorded.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::{Background, Outcome, Place, send, wait_for};
use rustix::process::Signal;

const SBATCH: &str = r#"#!/bin/sh
[ "$1" = --version ] && exit 0
for word in "$@"; do
    case "$word" in
    --array=*) array=${word#--array=} ;;
    --output=*) output=${word#--output=} ;;
    esac
    script=$word
done
cd "$JOBS" || exit 1
job=1
until mkdir "$job" 2> /dev/null; do job=$((job + 1)); done
echo "$@" > "$job.arguments"
cells=$(echo "${array%%\%*}" | tr , '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
for cell in $cells; do echo PENDING > "$job/$cell"; done
{
    for cell in $cells; do
        [ "$(cat "$job/$cell")" = PENDING ] || continue
        log=$(printf "${output%\%3a.log}%03d.log" "$cell")
        SLURM_ARRAY_TASK_ID=$cell sh -c 'echo $$ > "$0"; cd "$1" && exec sh "$2"' \
            "$JOBS/$job.$cell.pid" "$OLDPWD" "$script" >> "$log" 2>&1 &
        echo RUNNING > "$job/$cell"
        wait $!
        case $? in
        0) echo COMPLETED ;;
        137) echo NODE_FAIL ;;
        *) echo FAILED ;;
        esac > "$job/$cell"
    done
} < /dev/null > /dev/null 2>&1 &
echo "$job"
"#;

const SQUEUE: &str = r#"#!/bin/sh
[ "$1" = --version ] && exit 0
for word in "$@"; do
    case "$word" in --jobs=*) job=${word#--jobs=} ;; esac
done
if ! cd "$JOBS/$job"; then
    echo "slurm_load_jobs error: Invalid job id specified" >&2
    exit 1
fi
for cell in *; do echo "$job|$cell|$(cat "$cell")|None|n1"; done
"#;

const SCANCEL: &str = r#"#!/bin/sh
[ "$1" = --version ] && exit 0
echo "$@" >> "$JOBS/../canceled"
cd "$JOBS" || exit 1
case "$1" in
--state=PENDING) for cell in "$2"/*; do grep -q PENDING "$cell" && echo CANCELLED > "$cell"; done ;;
--signal=INT) kill -INT "$(cat "$(echo "$3" | tr _ .).pid")" ;;
esac
exit 0
"#;

/// A cluster of one node.
struct Cluster {
    place: Place,
}

impl Cluster {
    fn new(step: &str, matrix: &str) -> Self {
        let place = Place::new();
        place.write(
            "plan.toml",
            &format!(
                "title = \"Cells\"\n[system.db.mock]\nlatency = \"1ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
                 [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nramp = \"0s\"\n{step}\n[matrix]\n{matrix}\n"
            ),
        );
        for folder in ["bin", "jobs"] {
            fs::create_dir(place.path(folder)).unwrap();
        }
        for (name, text) in [("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL)] {
            let path = place.write(&format!("bin/{name}"), text);
            fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
        Self { place }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(args);
        let path = std::env::var("PATH").unwrap();
        let bin = self.place.path("bin");
        command
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("JOBS", self.place.path("jobs"))
            .env("PGPASSWORD", "not-for-others");
        command
    }

    fn start(&self, args: &[&str]) -> Background {
        self.place.start_command(self.command(args))
    }

    fn run(&self, args: &[&str]) -> Outcome {
        self.start(args).wait()
    }

    fn has_run_file(&self, file: &str) {
        wait_for(file, || self.place.path(file).exists().then_some(()));
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.place.path(file)).unwrap()
    }

    /// What sbatch was called with for a job.
    fn submitted(&self, job: u32) -> String {
        self.read(&format!("jobs/{job}.arguments"))
    }

    /// The process of a task.
    fn task(&self, job: u32, cell: u32) -> i32 {
        let pid = self.read(&format!("jobs/{job}.{cell}.pid"));
        pid.trim().parse().unwrap()
    }
}

#[test]
fn an_array_of_cells_ends_as_if_they_had_run_here() {
    let cluster = Cluster::new(
        "users = 1\nmeasure = \"20s\"",
        "step.oltp.users = [1, 2, 3, 4]",
    );
    let common = ["--virtual-time", "--seed", "1", "--label", "it's"];
    let here = ["run", "plan.toml", "-o", "here.set"];
    let here = cluster.run(&[&here[..], &common].concat()).succeeded();
    let there = [
        "run",
        "plan.toml",
        "-o",
        "over.set",
        "--slurm=--time=5 --array=%3",
    ];
    let there = cluster.run(&[&there[..], &common].concat()).succeeded();
    assert_eq!(there.stdout.replace("over.set", "here.set"), here.stdout);
    assert!(there.stdout.contains("4 of 4 runs complete"), "{there:?}");

    let arguments = cluster.submitted(1);
    for word in [
        "--array=1-4%3",
        "--exclusive",
        "--time=5 ",
        "/over.set/slurm-%3a.log",
    ] {
        assert!(arguments.contains(word), "{word:?} is not in {arguments}");
    }
    let own_time = arguments.find("--time=11").expect("a default");
    assert!(
        own_time < arguments.find("--time=5 ").unwrap(),
        "{arguments}"
    );
    for entry in fs::read_dir(cluster.place.path("over.set"))
        .unwrap()
        .flatten()
    {
        let text = fs::read(entry.path()).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(!text.contains("not-for-others"), "{:?}", entry.path());
    }
    assert!(!arguments.contains("not-for-others"));
    let label = "SELECT value FROM fact WHERE key = 'label'";
    let rows = cluster.place.rows("over.set/004-users=4.plimsoll", label);
    assert_eq!(rows[0]["value"], "it's");
}

#[test]
fn a_cell_that_was_killed_is_submitted_again_and_no_other() {
    let cluster = Cluster::new(
        "users = 1\nmeasure = \"4s\"",
        "system.db.mock.latency = [\"1ms\", \"2ms\", \"3ms\"]",
    );
    let run = cluster.start(&["run", "plan.toml", "-o", "x.set", "--slurm"]);
    cluster.has_run_file("x.set/002-latency=2ms.plimsoll");
    send(cluster.task(1, 2), Signal::KILL);
    run.wait().failed(
        1,
        &[
            "cell 2 of 3: latency=2ms: NODE_FAIL on n1",
            "x.set/slurm-002.log",
            "1 of 3 cells failed",
            "plimsoll run plan.toml --resume x.set --slurm",
        ],
    );
    let resumed = cluster
        .run(&["run", "plan.toml", "--resume", "x.set", "--slurm"])
        .succeeded();
    assert!(
        resumed.stdout.contains("3 of 3 runs complete"),
        "{resumed:?}"
    );
    assert!(cluster.submitted(2).contains("--array=2 "));
    let kept = "x.set/002-latency=2ms.ended-early-1.plimsoll";
    assert!(cluster.place.path(kept).exists());
    cluster.place.expect_clean();
}

#[test]
fn ctrl_c_ends_the_tasks_and_keeps_what_they_measured() {
    let cluster = Cluster::new(
        "users = 1\nmeasure = \"60s\"",
        "system.db.mock.latency = [\"1ms\", \"2ms\"]",
    );
    let mut run = cluster.start(&["run", "plan.toml", "-o", "x.set", "--slurm=-p all"]);
    cluster.has_run_file("x.set/001-latency=1ms.plimsoll");
    run.until_measured("x.set/001-latency=1ms.plimsoll");
    run.signal(Signal::INT);
    run.wait().failed(
        1,
        &[
            "interrupted: 0 of 2 cells are complete in x.set",
            "plimsoll run plan.toml --resume x.set '--slurm=-p all'",
        ],
    );
    let canceled = cluster.read("canceled");
    assert_eq!(canceled, "--state=PENDING 1\n--signal=INT --batch 1_1\n");
    let kept = cluster.place.opens("x.set/001-latency=1ms.plimsoll");
    assert_eq!(kept["run"]["status"], "interrupted");
    assert!(
        !cluster
            .place
            .path("x.set/002-latency=2ms.plimsoll")
            .exists()
    );
}

#[test]
fn an_array_outlives_who_waits_for_it_and_is_waited_for_again() {
    let cluster = Cluster::new(
        "users = 1\nmeasure = \"4s\"",
        "system.db.mock.latency = [\"1ms\", \"2ms\"]",
    );
    let run = cluster.start(&["run", "plan.toml", "-o", "x.set", "--slurm"]);
    cluster.has_run_file("x.set/001-latency=1ms.plimsoll");
    run.signal(Signal::KILL);
    run.wait();
    let resumed = cluster
        .run(&["run", "plan.toml", "--resume", "x.set", "--slurm"])
        .succeeded();
    assert!(
        resumed
            .stderr
            .contains("Slurm job 1 of this set goes on: 2 cells"),
        "{resumed:?}"
    );
    assert!(
        resumed.stdout.contains("2 of 2 runs complete"),
        "{resumed:?}"
    );
    assert!(
        !cluster.place.path("jobs/2").exists(),
        "nothing was submitted"
    );
}

#[test]
fn cells_share_a_set_that_the_first_makes_and_never_run_twice_at_once() {
    let cluster = Cluster::new(
        "users = 1\nmeasure = \"5s\"",
        "system.db.mock.latency = [\"1ms\", \"2ms\"]",
    );
    let cell = |number| ["run", "plan.toml", "-o", "x.set", "--cell", number];
    let both = [cluster.start(&cell("1")), cluster.start(&cell("2"))];
    cluster.has_run_file("x.set/001-latency=1ms.plimsoll");
    cluster
        .run(&cell("1"))
        .failed(1, &["runs this cell", "resume the set"]);
    for run in both {
        run.wait().succeeded();
    }
    let again = cluster.run(&cell("1")).succeeded();
    assert!(
        again
            .stderr
            .contains("cell 1 of 2: latency=1ms: done before"),
        "{again:?}"
    );
    let names = fs::read_dir(cluster.place.path("x.set")).unwrap().count();
    assert_eq!(names, 4, "plan, list and two runs");
    cluster
        .run(&cell("3"))
        .failed(2, &["no cell 3", "from 1 to 2"]);
    cluster
        .run(&["run", "plan.toml", "--cell", "1"])
        .failed(2, &["--output DIR"]);
}

#[test]
fn cells_on_an_existing_server_run_one_at_a_time() {
    let cluster = Cluster::new("users = 1", "step.oltp.users = [1, 2]");
    // Nothing listens there: the tasks fail, and their errors are shown here.
    let plan = cluster.read("plan.toml");
    let url = "[system.db]\nurl = \"postgres://nobody@127.0.0.1:1/none\"";
    let mock = "[system.db.mock]\nlatency = \"1ms\"";
    assert!(plan.contains(mock));
    cluster.place.write("plan.toml", &plan.replace(mock, url));
    cluster
        .run(&["run", "plan.toml", "-o", "x.set", "--slurm"])
        .failed(
            1,
            &[
                "Slurm job 1: 2 of 2 cells, 1 at once",
                "cell 2 of 2: users=2: FAILED on n1: error: ",
                "127.0.0.1:1",
                "2 of 2 cells failed",
            ],
        );
    assert!(cluster.submitted(1).contains("--array=1-2%1 "));
}

#[test]
fn what_slurm_cannot_run_is_refused_with_the_next_step() {
    let cluster = Cluster::new("users = 1\nmeasure = \"5s\"", "step.oltp.users = [1, 2]");
    let args = ["run", "plan.toml", "-o", "x.set", "--slurm"];
    cluster
        .run(&["run", "plan.toml", "-o", "x.set", "--slurm=nvme"])
        .failed(2, &["nvme is no option of sbatch", "--partition=nvme"]);
    let refusing = "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n\
                    echo 'sbatch: error: invalid partition specified: nope' >&2\nexit 1\n";
    cluster.place.write("bin/sbatch", refusing);
    cluster
        .run(&args)
        .failed(1, &["invalid partition specified: nope", "sinfo"]);
    let mut without = cluster.command(&["run", "plan.toml", "-o", "y.set", "--slurm"]);
    without.env("PATH", cluster.place.path("tmp"));
    cluster
        .place
        .start_command(without)
        .wait()
        .failed(2, &["needs sbatch", "without --slurm"]);
    assert!(!cluster.place.path("y.set").exists());
    let plan = cluster.read("plan.toml");
    cluster
        .place
        .write("one.toml", plan.split("[matrix]").next().unwrap());
    cluster.run(&["run", "one.toml", "--slurm"]).failed(
        2,
        &[
            "no [matrix]",
            "srun --nodes=1 --exclusive plimsoll run one.toml",
        ],
    );
}
