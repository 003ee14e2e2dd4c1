//! Streams that are closed or full, words that are no UTF-8, control characters and passwords in what is printed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use rustix::process::Signal;

use crate::common::{Place, send, wait_for};

const SECRET: &str = "Zq1Zq2";

fn mock_plan(place: &Place, title: &str) {
    place.write(
        "plan.toml",
        &format!(
            "title = \"{title}\"\n[system.db.mock]\nlatency = \"10ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\n\
             run = \"oltp\"\nsystem = \"db\"\nusers = 2\nramp = \"1s\"\nmeasure = \"5s\"\n"
        ),
    );
}

/// A place with a plan and its run file.
fn measured() -> Place {
    let place = Place::new();
    mock_plan(&place, "Test");
    place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.plimsoll"])
        .succeeded();
    place
}

fn retitle(place: &Place, run: &str, title: &str) {
    let db = rusqlite::Connection::open(place.path(run)).unwrap();
    db.execute("UPDATE run SET title = ?1", [title]).unwrap();
}

/// A shell's script that has the program as `$0`.
fn shell(place: &Place, script: &str) -> Command {
    let program = place.command(&[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .arg(program.get_program())
        .current_dir(place.path(""))
        .stdin(Stdio::null());
    command
}

fn output(mut command: Command) -> Output {
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    let all = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8(all).unwrap()
}

#[test]
fn exit_codes_are_right_where_streams_are_closed_or_full() {
    let place = measured();
    for (script, code) in [
        ("\"$0\" report missing 2>&-", 2),
        ("\"$0\" report missing 2>/dev/full", 2),
        ("\"$0\" nonsense 2>/dev/full", 2),
        ("\"$0\" run missing.toml 2>/dev/full", 2),
        ("\"$0\" list . >/dev/full", 1),
        ("\"$0\" export . --to csv >/dev/full", 1),
        ("\"$0\" --help >/dev/full", 1),
        ("\"$0\" list . >/dev/full 2>/dev/full", 1),
        ("\"$0\" list . >&-", 0),
        (
            "\"$0\" run plan.toml --virtual-time -o full.plimsoll 2>/dev/full",
            0,
        ),
        // The next files that are opened must not become its streams.
        (
            "\"$0\" run plan.toml --virtual-time -o closed.plimsoll <&- >&- 2>&-",
            0,
        ),
        // A reader that is gone.
        (
            "{ \"$0\" report missing 2>&1 >&3; echo $? >code; } 3>&1 | true; exit $(cat code)",
            2,
        ),
    ] {
        let output = output(shell(&place, script));
        assert_eq!(output.status.code(), Some(code), "{script}: {output:?}");
    }
    place.opens("full.plimsoll");
    place.opens("closed.plimsoll");
}

#[test]
fn words_that_are_no_utf_8_are_paths_or_errors() {
    let place = measured();
    let name = |end: &str| OsString::from_vec([b"d\xff/n\xff", end.as_bytes()].concat());
    let path = |end: &str| place.path("").join(name(end));
    fs::create_dir(place.path("").join(OsStr::from_bytes(b"d\xff"))).unwrap();
    fs::copy(place.path("plan.toml"), path(".toml")).unwrap();
    fs::copy(place.path("x.plimsoll"), path(".plimsoll")).unwrap();
    let run = |words: &[&OsStr]| {
        let mut command = place.command(&[]);
        command.args(words);
        output(command)
    };
    let word = OsStr::new;
    let (plan, file, html) = (name(".toml"), name(".plimsoll"), name(".html"));
    let (measured, dir) = (name("-2.plimsoll"), OsStr::from_bytes(b"d\xff"));
    for words in [
        &[
            word("run"),
            &plan,
            word("--virtual-time"),
            word("-o"),
            &measured,
        ][..],
        &[word("report"), &file, word("-o"), &html],
        &[word("export"), &file, word("--to"), word("json")],
        &[word("export"), dir, word("--to"), word("csv")],
        &[word("list"), dir],
        &[word("audit"), &file],
        &[word("compare"), &file, &measured],
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
    }
    assert!(path(".html").is_file() && path("-2.plimsoll").is_file());
    // The command as it is stored can be typed again.
    let export = run(&[word("export"), &measured, word("--to"), word("json")]);
    let json: serde_json::Value = serde_json::from_slice(&export.stdout).unwrap();
    let command = json["run"]["command"].as_str().unwrap();
    assert!(
        command.contains(r#"-o "$(printf 'd\377/n\377-2.plimsoll')""#),
        "{command}"
    );
    for words in [
        &[word("bench"), word("sqlite"), dir][..],
        &[word("run"), &plan, word("--label"), dir],
        &[word("check"), dir],
        &[dir],
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        let lines = text(&output).trim_end().lines().count();
        assert!(lines >= 3, "{output:?}");
    }
    let mut command = place.command(&["list", "."]);
    for variable in [
        "TERM", "COLUMNS", "LANG", "TZ", "HOME", "TMPDIR", "NO_COLOR", "RUST_LOG",
    ] {
        command.env(variable, OsStr::from_bytes(b"\xff"));
    }
    assert_eq!(output(command).status.code(), Some(0));
    let mut command = place.command(&["check", "mysql://u@127.0.0.1:1/db"]);
    command.env("MYSQL_PWD", OsStr::from_bytes(b"\xff"));
    let output = output(command);
    assert!(
        text(&output).contains("environment is not UTF-8"),
        "{output:?}"
    );
}

#[test]
fn a_removed_working_directory_is_an_error() {
    let place = measured();
    for (arguments, code) in [
        ("plans", 0),
        ("run ../plan.toml --virtual-time", 1),
        ("bench mock --virtual-time", 1),
    ] {
        let script = format!("mkdir gone; cd gone; rmdir ../gone; exec \"$0\" {arguments}");
        let output = output(shell(&place, &script));
        assert_eq!(output.status.code(), Some(code), "{arguments}: {output:?}");
    }
}

#[test]
fn no_control_character_reaches_the_terminal() {
    const TITLE: &str = "A\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{202e}B\u{7f}";
    let place = measured();
    retitle(&place, "x.plimsoll", TITLE);
    let hostile = "n\u{1b}[31m\u{202e}.plimsoll";
    fs::copy(place.path("x.plimsoll"), place.path(hostile)).unwrap();
    place.write(
        "bad.toml",
        &format!("# {TITLE}\ntitle = \"x\"\n[{TITLE}]\n"),
    );
    for words in [
        &["list", "."][..],
        &["list", ".", "--format", "csv"],
        &["export", "x.plimsoll", "--to", "text"],
        &["export", ".", "--to", "csv"],
        &["export", hostile, "--to", "json"],
        &["audit", hostile],
        &["compare", "x.plimsoll", hostile],
        &["report", "n\u{1b}[2J"],
        &["bench", "n\u{1b}[2J"],
        &["run", "n\u{1b}[2J"],
        &["n\u{1b}[2J"],
        &["run", "bad.toml"],
        &["import", hostile],
    ] {
        let output = output(place.command(words));
        let text = text(&output);
        let control = text.chars().find(|c| {
            (c.is_control() && !"\n\t".contains(*c)) || ('\u{202a}'..='\u{202e}').contains(c)
        });
        assert_eq!(control, None, "{words:?}: {text:?}");
        assert!(!text.is_empty(), "{words:?}");
    }
    // Data keep what they have: in a file, and as JSON.
    place
        .run(&[
            "export",
            "x.plimsoll",
            hostile,
            "--to",
            "csv",
            "-o",
            "x.csv",
        ])
        .succeeded();
    assert!(
        fs::read_to_string(place.path("x.csv"))
            .unwrap()
            .contains(TITLE)
    );
    assert_eq!(place.export("x.plimsoll")["run"]["title"], TITLE);
}

#[test]
fn endless_texts_are_cut_or_refused() {
    let place = measured();
    retitle(&place, "x.plimsoll", &"x".repeat(5_000_000));
    let listed = place.run(&["list", "."]).succeeded();
    assert!(
        listed.stdout.len() < 5_000 && listed.stdout.contains('…'),
        "{listed:?}"
    );
    mock_plan(&place, &"x".repeat(3_000_000));
    let refused = place
        .run(&["run", "plan.toml"])
        .refused(&["longer than 500 characters"]);
    assert!(refused.stderr.len() < 5_000);
    let label = "x".repeat(501);
    place
        .run(&["run", "plan.toml", "--label", &label])
        .refused(&["longer than 500 characters"]);
    for words in [&["run", "/dev/zero"][..], &["drive", "show", "/dev/zero"]] {
        place.run(words).refused(&["larger than 4 MiB"]);
    }
}

#[test]
fn passwords_of_odd_urls_and_commands_do_not_show() {
    let place = measured();
    for url in [
        format!("u:{SECRET}@h/db"),
        format!("postgres:/u:{SECRET}@h/db"),
        format!("postgres://u:{SECRET}%40h/db"),
        format!("https://u:{SECRET}/x@h"),
        format!("mssql://127.0.0.1:1;user=sa;Pwd={SECRET}"),
    ] {
        for words in [
            &["check"][..],
            &["report"],
            &["bench"],
            &["bench", "--dry-run"],
            &["drive", "show"],
        ] {
            let words = [words, &[&url]].concat();
            let output = output(place.command(&words));
            assert!(!text(&output).contains(SECRET), "{words:?}: {output:?}");
        }
        let system = format!("[system.db]\nurl = \"{url}\"\n[workload.w.tpcc]\nwarehouses = 1\n");
        place.write(
            "url.toml",
            &format!("title = \"x\"\n{system}[[step]]\nrun = \"w\"\nsystem = \"db\"\n"),
        );
        for words in [
            &["run", "url.toml", "--dry-run"][..],
            &["run", "url.toml", "--scale", "0"],
        ] {
            let output = output(place.command(words));
            assert!(!text(&output).contains(SECRET), "{words:?}: {output:?}");
        }
    }
    for via in [
        format!("sshpass -p {SECRET} false"),
        format!("env API_TOKEN={SECRET} false"),
    ] {
        let plan = fs::read_to_string(place.path("plan.toml")).unwrap();
        let host = format!("{plan}from = [\"n\"]\n[host.n]\nvia = \"{via}\"\n");
        place.write("via.toml", &host);
        for words in [
            &["run", "via.toml", "--dry-run"][..],
            &["run", "via.toml", "-o", "via.plimsoll"],
        ] {
            let output = output(place.command(words));
            assert!(!text(&output).contains(SECRET), "{words:?}: {output:?}");
        }
        if let Ok(bytes) = fs::read(place.path("via.plimsoll")) {
            assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{via}");
            fs::remove_file(place.path("via.plimsoll")).unwrap();
        }
    }
    let label = format!("u:{SECRET}@h");
    place
        .run(&[
            "run",
            "plan.toml",
            "--virtual-time",
            "-o",
            "l.plimsoll",
            "--label",
            &label,
        ])
        .succeeded();
    let command = &place.rows("l.plimsoll", "SELECT command FROM run")[0]["command"];
    assert!(!command.to_string().contains(SECRET), "{command}");
}

#[test]
fn no_core_dump_holds_the_memory_of_a_run() {
    let place = measured();
    let mut command = shell(
        &place,
        "ulimit -c unlimited; exec \"$0\" serve . --listen 127.0.0.1:0",
    );
    let mut server = command.stderr(Stdio::null()).spawn().unwrap();
    let pid = server.id().cast_signed();
    let limits = wait_for("the limit of core dumps", || {
        // Not the shell before it, which may have been given the same limit.
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
        if name.trim_end() != "plimsoll" {
            return None;
        }
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max core file size"))?;
        (line.split_whitespace().nth(4) == Some("0")).then(|| line.to_owned())
    });
    send(pid, Signal::ABORT);
    let status = server.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::ABORT.as_raw()), "{limits}");
    assert!(!status.core_dumped(), "{status:?}");
}
