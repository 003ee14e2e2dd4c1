//! What is allowed, what is refused, and that neither the check nor the kernel lets fio out of its directory.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;

use super::options::option_names;
use super::oracle::first_escape;
use super::*;
use crate::arguments::of_file;
use crate::fio::{FioCommand, Flow, can_confine, run, showcmd};

fn read(text: &str) -> JobFile {
    JobFile::read(text).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn why(text: &str) -> String {
    let faults = JobFile::read(text).unwrap_err();
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// A job file of each kind of option that is allowed.
const USUAL: &str = "; a comment with filename=/dev/sda\r\n# filename=/dev/sdb\n[global]\nioengine = libaio ; it is there\n\
    direct=1\nbssplit=4k/60:64k/40\nrandom_distribution=zoned:60/10:30/20:10/70\nsize=10%\ntime_based\n\
    description=don't worry: ${HOME} is not used\nverify_pattern=\"abc\"0xff\n[rand read.1]\nrw=randrw:8\n\
    filename=a:sub/b\nwrite_bw_log=mine\nwrite_lat_log\ndirectory=./here\nrate=1M,500k\nmem=mmapshared\n\
    [job2]\nstonewall\nfilename_format=$jobname.$jobnum.$filenum\nsteadystate=iops_slope:0.3%\n";

#[test]
fn a_usual_job_file_names_nothing_elsewhere_and_fio_gets_the_same() {
    let job = read(USUAL);
    assert_eq!(job.outside(), [""; 0]);
    assert!(
        job.text()
            .starts_with("[global]\nioengine=libaio\ndirect=1\n")
    );
    assert!(
        job.text()
            .contains("\n[rand read.1]\nrw=randrw:8\nfilename=a:sub/b\n")
    );
    assert!(!job.text().contains("HOME") && !job.text().contains("/dev"));
    job.check_showcmd(&showcmd(&job.text()).unwrap()).unwrap();
}

#[test]
fn harmless_forms_that_people_post_are_run() {
    let job = read(
        "\u{feff}[global]\nthreads=1\nnumjobs=$ncpus\nbs=$pagesize\nioengine=linuxaio\n[ journal ]  # log\nrw=write\nsize=4m\n",
    );
    assert_eq!(
        job.text(),
        "[global]\nnumjobs=$ncpus\nbs=$pagesize\nioengine=linuxaio\n[journal]\nrw=write\nsize=4m\n"
    );
    let printed = showcmd(&job.text()).unwrap();
    assert!(!printed.contains('$'), "{printed}");
    job.check_showcmd(&printed).unwrap();
    for value in [
        "$ncpus*2",
        "$ncpus;x",
        "a$pagesize",
        "$pagesize$ncpus",
        "$HOME",
        "${ncpus}",
    ] {
        assert!(JobFile::read(&format!("[a]\nbs={value} \nfilename={value}\n")).is_err());
    }
    assert!(JobFile::read("[a]\nfilename=$ncpus\n").is_err());
}

#[test]
fn a_file_without_a_job_is_refused() {
    for text in ["", "# nothing\n", "[global]\nbs=4k\n"] {
        assert!(why(text).contains("the file has no job"), "{text}");
    }
}

#[test]
fn paths_elsewhere_are_listed_once() {
    let job =
        read("[a]\nfilename=/dev/sda:b: /srv/x y\n[b]\ndirectory = /up\n[d]\nfilename=/dev/sda\n");
    assert_eq!(job.outside(), ["/dev/sda", "/srv/x y", "/up"]);
    // From another directory they are other files.
    for path in ["../up", "-", "/dev/../etc/passwd", "a/../../b"] {
        let why = why(&format!("[a]\nfilename=x:{path}\n"));
        assert!(why.contains("give its full path"), "{path}: {why}");
    }
}

#[test]
fn a_fault_names_its_line_and_shows_no_control_characters() {
    assert_eq!(
        why("[a]\nrw=read\nexec_prerun=\u{1b}[2Jx\n"),
        "line 3: `exec_prerun=\\u{1b}[2Jx`: it starts a program"
    );
}

#[test]
fn what_fio_reads_otherwise_is_refused() {
    let job = read("[a]\nrw=write\nfilename=/dev/sda\n");
    for (printed, words) in [
        (
            "fio --name=a --rw=write --filename=/dev/sdb ",
            "reads the path /dev/sdb",
        ),
        ("fio --exec_prerun=x --name=a ", "starts a program"),
        ("fio --name=/dev/sdb --rw=write", "a job's name has only"),
        ("fio --name=a --new_in_4=1", "not known"),
    ] {
        let why = job.check_showcmd(printed).unwrap_err();
        assert!(why.contains(words), "{printed}: {why}");
    }
    job.check_showcmd("fio --name=a --rw=write --filename=/dev/sda \n")
        .unwrap();
    assert!(
        showcmd("[a]\nbs=rubbish\n")
            .unwrap_err()
            .contains("does not understand it")
    );
}

#[test]
fn the_table_has_every_option_of_fio_3_23_to_3_42_and_no_other() {
    let lines = include_str!("fio-options.tsv").lines();
    let listed: BTreeSet<&str> = lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('\t').next())
        .collect();
    let table: Vec<&str> = option_names().collect();
    assert_eq!(table.len(), listed.len(), "none is there twice");
    assert_eq!(table.into_iter().collect::<BTreeSet<_>>(), listed);
}

/// What fio prints about its options: `name  : what it does`, those of a group further right.
fn printed_options(arg: &str) -> Vec<String> {
    let output = Command::new("fio").arg(arg).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| line.split_once(':'));
    names
        .map(|(name, _)| name.trim().to_owned())
        .filter(|name| !name.is_empty() && !name.contains(' '))
        .collect()
}

#[test]
fn the_installed_fio_has_no_option_that_the_table_lacks() {
    let engines = ENGINES.iter().chain(NAME_ENGINES);
    let engines = engines.map(|engine| format!("--enghelp={engine}"));
    let arguments = std::iter::once("--cmdhelp=all".to_owned()).chain(engines.take(8));
    let printed: Vec<String> = arguments.flat_map(|arg| printed_options(&arg)).collect();
    assert!(printed.len() > 200, "{printed:?}");
    let missing: Vec<&String> = printed
        .iter()
        .filter(|name| option_kind(name).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

struct EscapingJobFile<'t> {
    title: &'t str,
    why: &'t str,
    text: String,
}

fn escaping_job_files() -> impl Iterator<Item = EscapingJobFile<'static>> {
    let files = include_str!("escapes.txt").split("\n== ").skip(1);
    files.map(|file| {
        let mut parts = file.splitn(3, '\n');
        let mut part = || parts.next().unwrap();
        let title = part();
        let why = part();
        let text = [
            ("<TAB>", "\t"),
            ("<CR>", "\r"),
            ("<NUL>", "\0"),
            ("<ESC>", "\u{1b}"),
            ("<LONG>", &"1".repeat(4092)),
        ]
        .iter()
        .fold(part().to_owned(), |text, (name, character)| {
            text.replace(name, character)
        });
        EscapingJobFile { title, why, text }
    })
}

#[test]
fn no_escaping_job_file_is_run() {
    let mut count = 0;
    for EscapingJobFile { title, why, text } in escaping_job_files() {
        count += 1;
        for victim in ["/dev/loop0", "/home/me/diary.txt", "../victim"] {
            let text = text.replace("VICTIM", victim);
            let why = why.replace("VICTIM", victim);
            match JobFile::read(&text) {
                Ok(job) => panic!("{title}: allowed as {job:?}"),
                Err(faults) => {
                    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
                    assert!(lines.join("; ").contains(&why), "{title}: {lines:?}");
                }
            }
        }
    }
    assert!(count >= 60, "{count}");
}

const HOSTILE: [&str; 30] = [
    "/dev/loop0",
    "/etc/passwd",
    "../victim",
    "sub/../../victim",
    "..",
    ".",
    "-",
    "a:/dev/loop0",
    "a\\:b",
    "${HOME}/x",
    "$jobname/../x",
    "$ncpus",
    "mmap:/etc/passwd",
    "mmapshared:x",
    "mmaphuge",
    "external:/tmp/x.so",
    "./x",
    "exec",
    "libaio",
    "filedelete",
    "'/etc/passwd'",
    "\"abc\"",
    "4k --filename=/dev/loop0",
    "4k\tfilename=/x",
    "4k;filename=/x",
    "inside",
    "sub/inside",
    "1",
    "64k",
    "write",
];

/// A line of a job file; what is hostile about it varies.
fn line() -> impl Strategy<Value = String> {
    let options: Vec<&str> = option_names()
        .chain(["include", "includes", "Filename", ""])
        .collect();
    let equals = select(vec!["=", " = ", "\t=", "==", " ", "\t", ""]);
    let setting = (select(options), equals, select(HOSTILE.to_vec()))
        .prop_map(|(option, equals, value)| format!("{option}{equals}{value}"));
    let section = select(HOSTILE.to_vec()).prop_map(|name| format!("[{name}]"));
    let usual = select(USUAL.lines().collect::<Vec<_>>()).prop_map(str::to_owned);
    prop_oneof![6 => setting, 2 => section, 3 => usual, 1 => "\\PC{0,30}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whole files are mostly refused: each line by itself, too.
    #[test]
    fn random_job_files_name_nothing_outside_but_what_is_listed(lines in prop::collection::vec(line(), 1..6)) {
        let singly = lines.iter().map(|line| format!("[a]\n{line}\n"));
        for text in singly.chain([format!("[a]\n{}\n", lines.join("\n"))]) {
            let Ok(job) = JobFile::read(&text) else { continue };
            let given = job.text();
            prop_assert_eq!(first_escape(&given, job.outside()), None, "{}", given);
            let again = JobFile::read(&given).unwrap();
            prop_assert_eq!(again.text(), given);
        }
    }
}

/// A directory of fio's with files of others beside it.
struct Surroundings {
    root: tempfile::TempDir,
    inside: PathBuf,
    victim: PathBuf,
}

const CANARY: &str = "a diary\n";

impl Surroundings {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("inside");
        fs::create_dir(&inside).unwrap();
        let victim = root.path().join("victim");
        fs::write(&victim, CANARY.repeat(16 << 10)).unwrap();
        fs::write(
            root.path().join("included"),
            "filename=../victim\nrw=write\n",
        )
        .unwrap();
        let script = root.path().join("script");
        fs::write(&script, format!("echo x >{}\n", victim.display())).unwrap();
        Self {
            root,
            inside,
            victim,
        }
    }

    /// Whether anything but what lies inside has changed.
    fn is_harmed(&self) -> bool {
        let names = fs::read_dir(self.root.path()).unwrap().count();
        names != 4 || fs::read_to_string(&self.victim).ok() != Some(CANARY.repeat(16 << 10))
    }
}

/// fio with a text that nothing has checked.
fn run_unchecked(text: &str, at: &Surroundings, confined: bool) {
    if confined {
        let command = FioCommand {
            args: of_file(),
            directory: Some(at.inside.clone()),
            input: Some(text.to_owned()),
            writable: vec![at.inside.clone()],
        };
        let mut ticks = 0;
        // Most of them fail.
        let _ = run("escape", &command, &mut || {
            ticks += 1;
            if ticks > 20 { Flow::Stop } else { Flow::GoOn }
        });
    } else {
        let file = at.inside.join("job");
        fs::write(&file, text).unwrap();
        let mut fio = Command::new("fio");
        fio.arg(&file)
            .current_dir(&at.inside)
            .stdin(Stdio::null())
            .output()
            .unwrap();
    }
}

#[test]
fn the_kernel_stops_what_the_check_would_have_missed() {
    const ATTACKS: [&str; 7] = [
        "[VICTIM]\nrw=write\nsize=64k\n",
        "[a]\nfilename=../victim\nrw=write\nsize=64k\n",
        "[a]\ninclude\tROOT/included\nsize=64k\n",
        "[a]\nexec_prerun=sh ROOT/script\nrw=write\nsize=64k\n",
        "[a]\niomem=mmap:VICTIM\nrw=write\nsize=64k\n",
        "[a]\nwrite_bw_log=../log\nrw=write\nsize=64k\n",
        "[a]\nioengine=filedelete\nfilename=VICTIM\nsize=64k\n",
    ];
    let attack = |text: &str, confined: bool| {
        let at = Surroundings::new();
        let victim = at.victim.display().to_string();
        let root = at.root.path().display().to_string();
        run_unchecked(
            &text.replace("VICTIM", &victim).replace("ROOT", &root),
            &at,
            confined,
        );
        at.is_harmed()
    };
    std::thread::scope(|scope| {
        for text in ATTACKS {
            scope.spawn(move || {
                assert!(attack(text, false), "harmless: {text}");
                assert_eq!(attack(text, true), !can_confine(), "{text}");
            });
        }
    });
}

/// Options that make fio write, with values that are usual or hostile.
#[test]
fn random_job_files_that_are_allowed_harm_nothing_when_run() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = prop::collection::vec(line(), 1..5);
    let mut ran = 0;
    while ran < 4 {
        let lines = strategy.new_tree(&mut runner).unwrap().current();
        let text = format!("[a]\nrw=write\nsize=64k\n{}\n", lines.join("\n"));
        let Ok(job) = JobFile::read(&text) else {
            continue;
        };
        if !job.outside().is_empty() {
            continue;
        }
        let at = Surroundings::new();
        run_unchecked(&job.text(), &at, true);
        assert!(!at.is_harmed(), "{text}");
        ran += 1;
    }
}
