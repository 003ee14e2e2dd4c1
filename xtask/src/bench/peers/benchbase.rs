//! BenchBase, where BENCHBASE names the folder of its `benchbase.jar`: its TPC-C in prepared statements over TCP.
//!
//! It is a Java program: the machine's start, the logins and the warm-up stay out. The CPU time of all its
//! threads counts between the lines that it prints when it begins and stops to count transactions; some compiling of
//! Java still falls in between. Aborted transactions count, as BenchBase counts them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::server::{Kind, Server};
use super::super::{USERS, child};
use super::Run;
use crate::exec::{Task, because, failed};

const DATABASE: &str = "benchbase";
/// Java compiles what runs often. With 6 seconds a busy machine showed twice the CPU per transaction.
const WARM_UP_S: u32 = 20;
const WINDOW: child::Window = child::Window {
    from: "Warmup complete, starting measurements",
    to: "Waiting for all terminals to finish",
};

/// How Java reaches a database.
struct Driver {
    /// What its file in lib/ begins with.
    file: &'static str,
    /// BenchBase's name of the database.
    database: &'static str,
    class: &'static str,
    scheme: &'static str,
    options: &'static str,
    /// The server's default.
    isolation: &'static str,
    user: &'static str,
}

fn driver(kind: Kind) -> Driver {
    match kind {
        Kind::Postgres => Driver {
            file: "postgresql-",
            database: "POSTGRES",
            class: "org.postgresql.Driver",
            scheme: "postgresql",
            options: "sslmode=disable&amp;reWriteBatchedInserts=true",
            isolation: "TRANSACTION_READ_COMMITTED",
            user: "postgres",
        },
        Kind::Mariadb => Driver {
            file: "mariadb-java-client-",
            database: "MARIADB",
            class: "org.mariadb.jdbc.Driver",
            scheme: "mariadb",
            options: "useServerPrepStmts=true",
            isolation: "TRANSACTION_REPEATABLE_READ",
            user: "tcp",
        },
        Kind::Mysql => Driver {
            file: "mysql-connector-",
            database: "MYSQL",
            class: "com.mysql.cj.jdbc.Driver",
            scheme: "mysql",
            options: "rewriteBatchedStatements=true&amp;allowPublicKeyRetrieval=true&amp;sslMode=DISABLED",
            isolation: "TRANSACTION_REPEATABLE_READ",
            user: "tcp",
        },
    }
}

pub struct BenchBase {
    folder: PathBuf,
    /// For its configuration and its results.
    work: PathBuf,
    title: String,
}

impl BenchBase {
    /// None, too, where its build has no driver for the database.
    pub fn find(kind: Kind, work: &Path) -> Task<Option<Self>> {
        let Some(folder) = std::env::var_os("BENCHBASE").map(PathBuf::from) else {
            return Ok(None);
        };
        let lib = folder.join("lib");
        let files = std::fs::read_dir(&lib).map_err(because(lib.display()))?;
        let names = files
            .flatten()
            .map(|file| file.file_name().to_string_lossy().into_owned());
        let wanted = driver(kind).file;
        let Some(file) = names.into_iter().find(|name| name.starts_with(wanted)) else {
            return Ok(None);
        };
        let mut unzip = Command::new("unzip");
        unzip
            .arg("-p")
            .arg(folder.join("benchbase.jar"))
            .arg("META-INF/MANIFEST.MF");
        let version = version(&child::measure(&mut unzip)?.stdout)?;
        let driver = file.trim_end_matches(".jar");
        Ok(Some(Self {
            title: format!("BenchBase {version} with {driver}, TCP"),
            folder,
            work: work.join("benchbase"),
        }))
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    /// A database of its own, loaded by BenchBase.
    pub fn prepare(&self, server: &Server, warehouses: u32) -> Task {
        server.sql(&format!("CREATE DATABASE {DATABASE}"))?;
        let mut command = self.command(server, warehouses, 1)?;
        child::measure(command.args(["--create=true", "--load=true"])).map(drop)
    }

    pub fn run(&self, server: &Server, warehouses: u32, seconds: u32) -> Task<Run> {
        let mut command = self.command(server, warehouses, seconds)?;
        let cost = child::measure_window(command.arg("--execute=true"), &WINDOW)?;
        let count = number_after(&cost.stdout, "measuredRequests=")?;
        let seconds = number_after(&cost.stdout, "nanoSeconds=")? / 1e9;
        let per_second = count / seconds;
        Ok(Run {
            cpu_us: cost.cpu.as_secs_f64() * 1e6 / count,
            per_second,
            nopm: Some(per_second * 60.0 * share_of_new_orders(&cost.stdout)?),
        })
    }

    fn command(&self, server: &Server, warehouses: u32, seconds: u32) -> Task<Command> {
        std::fs::create_dir_all(&self.work).map_err(because(self.work.display()))?;
        let file = self.work.join("tpcc.xml");
        let text = configuration(server, warehouses, seconds);
        std::fs::write(&file, text).map_err(because(file.display()))?;
        let mut command = Command::new("java");
        command
            .args(["-jar", "benchbase.jar", "-b", "tpcc", "-c"])
            .arg(file);
        command.arg("-d").arg(self.work.join("results"));
        // It looks for its list of benchmarks in the current directory.
        command.current_dir(&self.folder);
        Ok(command)
    }
}

fn configuration(server: &Server, warehouses: u32, seconds: u32) -> String {
    let Driver {
        database,
        class,
        scheme,
        options,
        isolation,
        user,
        ..
    } = driver(server.kind());
    let port = server.port();
    let kinds = [
        "NewOrder",
        "Payment",
        "OrderStatus",
        "Delivery",
        "StockLevel",
    ]
    .map(|name| format!("<transactiontype><name>{name}</name></transactiontype>\n"))
    .concat();
    format!(
        "<?xml version=\"1.0\"?>\n<parameters>\n\
         <type>{database}</type>\n<driver>{class}</driver>\n\
         <url>jdbc:{scheme}://127.0.0.1:{port}/{DATABASE}?{options}</url>\n\
         <username>{user}</username>\n<password></password>\n\
         <isolation>{isolation}</isolation>\n<batchsize>128</batchsize>\n\
         <scalefactor>{warehouses}</scalefactor>\n<terminals>{USERS}</terminals>\n\
         <works><work><time>{seconds}</time><warmup>{WARM_UP_S}</warmup><rate>unlimited</rate>\
         <weights>45,43,4,4,4</weights></work></works>\n\
         <transactiontypes>\n{kinds}</transactiontypes>\n</parameters>\n"
    )
}

/// `Implementation-Version: 2023-SNAPSHOT`.
fn version(manifest: &str) -> Task<String> {
    let line = manifest
        .lines()
        .find_map(|line| line.strip_prefix("Implementation-Version: "));
    match line.map(str::trim) {
        Some(version) if !version.is_empty() => Ok(version.into()),
        _ => failed("benchbase.jar does not name its version"),
    }
}

/// `… Results(state=EXIT, nanoSeconds=11000176403, measuredRequests=6905) = …`.
fn number_after(printed: &str, name: &str) -> Task<f64> {
    let rest = printed.split(name).nth(1);
    let number = rest.and_then(|rest| rest.split([',', ')']).next());
    match number.and_then(|text| text.parse().ok()) {
        Some(number) if number > 0.0 => Ok(number),
        _ => failed(format!(
            "BenchBase did not print {name} and a number:\n{printed}"
        )),
    }
}

/// Of the whole run with its warm-up, from lines as `…procedures.NewOrder/01   [4132] *****`: those completed, of all
/// that ended.
fn share_of_new_orders(printed: &str) -> Task<f64> {
    let (mut new_orders, mut all, mut section) = (0.0, 0.0, "");
    for line in printed.lines() {
        if line.contains("Transactions") {
            section = line;
        }
        let ended = section.contains("Completed") || section.contains("Aborted");
        let Some(count) = count_in_histogram(line).filter(|_| ended) else {
            continue;
        };
        all += count;
        if section.contains("Completed") && line.contains("procedures.NewOrder") {
            new_orders += count;
        }
    }
    if new_orders > 0.0 {
        return Ok(new_orders / all);
    }
    failed(format!(
        "BenchBase did not print how many new orders it did:\n{printed}"
    ))
}

fn count_in_histogram(line: &str) -> Option<f64> {
    let rest = line.split_once("tpcc.procedures.")?.1;
    rest.split_once('[')?
        .1
        .split_once(']')?
        .0
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
[INFO ] runWorkload - Rate limited reqs/s: Results(state=EXIT, nanoSeconds=11000000000, measuredRequests=6905) = 627.7
\u{1b}[0;1mCompleted Transactions:\u{1b}[0;0m
com.oltpbenchmark.benchmarks.tpcc.procedures.NewOrder/01       [ 450] ****
com.oltpbenchmark.benchmarks.tpcc.procedures.Payment/02        [ 440] ****

\u{1b}[0;1mAborted Transactions:\u{1b}[0;0m
com.oltpbenchmark.benchmarks.tpcc.procedures.NewOrder/01       [  10] ****

\u{1b}[0;1mRejected Transactions (Server Retry):\u{1b}[0;0m
com.oltpbenchmark.benchmarks.tpcc.procedures.NewOrder/01       [  70] ****
";

    #[test]
    fn benchbase_is_understood_or_refused() {
        assert_eq!(
            number_after(PRINTED, "measuredRequests=").expect("a count"),
            6905.0
        );
        assert_eq!(number_after(PRINTED, "nanoSeconds=").expect("a time"), 11e9);
        assert_eq!(share_of_new_orders(PRINTED).expect("a share"), 0.5);
        for rubbish in [
            "",
            "measuredRequests=",
            "measuredRequests=x)",
            "measuredRequests=0)",
        ] {
            assert!(
                number_after(rubbish, "measuredRequests=").is_err(),
                "{rubbish}"
            );
            assert!(share_of_new_orders(rubbish).is_err(), "{rubbish}");
        }
        assert_eq!(
            version("A: b\nImplementation-Version: 2023-X\n").expect("one"),
            "2023-X"
        );
        assert!(version("Implementation-Version: \n").is_err());
    }
}
