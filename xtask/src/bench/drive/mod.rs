//! `bench drive`: what an emulated drive was asked to do beside what fio sees of it.

mod fio;
mod mounted;
mod rows;

use std::path::{Path, PathBuf};

use crate::exec::{Failure, Task, because, cargo, root};

use fio::{FioFigures, Job, Pattern};
use mounted::{Mounted, Own};
use rows::{Row, Table};

#[derive(Debug, PartialEq)]
struct Options {
    seconds: u32,
    dir: PathBuf,
    /// A job that misses its goal is run so often before that counts; the closest is shown. Whatever else runs on the
    /// machine only ever makes it miss.
    tries: u32,
    /// Only parts whose name contains this.
    only: String,
}

fn parse(words: &[&str]) -> Task<Options> {
    let mut options = Options {
        seconds: 3,
        dir: "/var/tmp".into(),
        tries: 1,
        only: String::new(),
    };
    for pair in words.chunks(2) {
        match pair {
            ["--seconds", value] => match value.parse() {
                Ok(seconds) if seconds > 0 => options.seconds = seconds,
                _ => {
                    return super::usage(format!(
                        "--seconds takes a whole number above 0, not '{value}'"
                    ));
                }
            },
            ["--tries", value] => match value.parse() {
                Ok(tries) if tries > 0 => options.tries = tries,
                _ => {
                    return super::usage(format!(
                        "--tries takes a whole number above 0, not '{value}'"
                    ));
                }
            },
            ["--dir", value] => options.dir = value.into(),
            ["--only", value] => options.only = (*value).to_owned(),
            _ => return super::usage(format!("{} is unknown, or needs a value", pair[0])),
        }
    }
    Ok(options)
}

/// A cloud volume is the simplest drive there is: one latency, two caps.
fn volume(latency_us: u32, iops: u64, mb_s: f64) -> String {
    let latencies = ["read_us", "read_p99_us", "write_us", "write_p99_us"];
    let figure =
        |key: &str, value: f64| format!("{key} = {{ value = {value}, source = \"assumed\" }}\n");
    let latencies: String = latencies
        .iter()
        .map(|key| figure(key, latency_us.into()))
        .collect();
    format!(
        "title = \"{latency_us} us\"\nkind = \"volume\"\n{}write_cache = {{ value = \"protected\", source = \"assumed\" \
         }}\n[volume]\n{}{}{latencies}{}",
        figure("capacity_gb", 8.0),
        figure("iops", iops as f64),
        figure("mib_s", mb_s * 1e6 / f64::from(1 << 20)),
        figure("flush_us", 20.0),
    )
}

const NO_CAP_IOPS: u64 = 1_000_000;
const NO_CAP_MB_S: f64 = 100_000.0;

struct Bench {
    binary: PathBuf,
    options: Options,
    tables: Vec<Table>,
}

pub fn run(words: &[&str]) -> Task {
    let options = parse(words)?;
    cargo(&["build", "--release", "-p", "plimsoll"]).run()?;
    let mut bench = Bench {
        binary: root().join("target/release/plimsoll"),
        options,
        tables: Vec::new(),
    };
    for (latency, goal) in [(80, 10.0), (150, 5.0), (500, 5.0)] {
        bench.latency(
            &format!("{latency} us"),
            &volume(latency, NO_CAP_IOPS, NO_CAP_MB_S),
            goal,
            &[1, 8, 32],
        )?;
    }
    let disk = root().join("drives/disk-7200rpm-4t.toml");
    let disk = std::fs::read_to_string(&disk).map_err(because(disk.display()))?;
    bench.latency("disk, 7200 rpm", &disk, 3.0, &[1, 8, 32])?;
    bench.loop_share()?;
    bench.iops_caps()?;
    bench.bandwidth_caps()?;
    bench.limits()?;
    let mut missed = 0;
    for table in &bench.tables {
        println!("{}", table.render());
        missed += table.missed();
    }
    match missed {
        0 => Ok(()),
        n => Err(Failure::Missed(format!("{n} goal(s) missed"))),
    }
}

impl Bench {
    fn wants(&self, name: &str) -> bool {
        name.contains(&self.options.only)
    }

    fn mount(&self, drive: &str) -> Task<Mounted> {
        Mounted::new(&self.binary, &self.options.dir, drive)
    }

    fn job(&self, engine: &'static str, pattern: Pattern, depth: u32) -> Job {
        Job {
            engine,
            pattern,
            depth,
            seconds: self.options.seconds,
        }
    }

    /// The first row that meets its goal, or the one closest to it.
    fn row(
        &self,
        mounted: &mut Mounted,
        job: &Job,
        row: impl Fn(&FioFigures, &Own) -> Row,
    ) -> Task<Row> {
        let mut closest: Option<Row> = None;
        for _ in 0..self.options.tries {
            let measured = mounted.measure(job)?;
            let tried = row(&measured.by_fio, &measured.by_emulator);
            if closest
                .as_ref()
                .is_none_or(|closest| tried.is_closer_than(closest))
            {
                closest = Some(tried);
            }
            if closest.as_ref().is_some_and(Row::is_met) {
                break;
            }
        }
        Ok(closest.expect("there is at least one try"))
    }

    /// Mean latency against the model's own, for a drive without caps.
    fn latency(&mut self, name: &str, drive: &str, goal: f64, depths: &[u32]) -> Task {
        if !self.wants(name) {
            return Ok(());
        }
        let mut table = Table::new(&format!("{name}: mean latency, 4 KiB"));
        let mut mounted = self.mount(drive)?;
        table.note(mounted.greeting());
        for (engine, pattern) in [
            ("psync", Pattern::RandomRead),
            ("psync", Pattern::RandomWrite),
            ("libaio", Pattern::RandomRead),
            ("libaio", Pattern::RandomWrite),
        ] {
            for depth in depths.iter().copied() {
                let job = self.job(engine, pattern, depth);
                // A disk is judged at every depth: its queue is its own matter. Depths above 8 are for showing.
                let goal = (depth <= 8 || name.starts_with("disk")).then_some(goal);
                table.push(self.row(&mut mounted, &job, |seen, own| {
                    Row::latency(&job, seen, own, goal)
                })?);
            }
        }
        self.tables.push(table);
        mounted.stop()
    }

    /// The same drive with and without the loop device before it.
    fn loop_share(&mut self) -> Task {
        if !self.wants("loop") {
            return Ok(());
        }
        let mut table =
            Table::new("150 us: the loop device and the file below it, 4 KiB at depth 1");
        let mut mounted = self.mount(&volume(150, NO_CAP_IOPS, NO_CAP_MB_S))?;
        table.note(mounted.greeting());
        let job = self.job("psync", Pattern::RandomRead, 1);
        for (name, target) in [
            ("loop device", mounted.device().to_owned()),
            ("file over FUSE", mounted.image()?),
        ] {
            let measured = mounted.measure_on(&job, &target)?;
            let row = Row::latency(&job, &measured.by_fio, &measured.by_emulator, None);
            table.push(row.named(name));
        }
        self.tables.push(table);
        mounted.stop()
    }

    fn iops_caps(&mut self) -> Task {
        if !self.wants("iops") {
            return Ok(());
        }
        let mut table = Table::new("IOPS caps: 4 KiB at depth 32 on 100 us");
        for cap in [10_000, 30_000, 60_000, 100_000] {
            let mut mounted = self.mount(&volume(100, cap, NO_CAP_MB_S))?;
            for pattern in [Pattern::RandomRead, Pattern::RandomWrite] {
                let job = self.job("libaio", pattern, 32);
                let goal = (cap <= 60_000).then_some(5.0);
                table.push(self.row(&mut mounted, &job, |seen, own| {
                    Row::iops(&job, seen, own, cap as f64, goal)
                })?);
            }
            mounted.stop()?;
        }
        self.tables.push(table);
        Ok(())
    }

    fn bandwidth_caps(&mut self) -> Task {
        if !self.wants("bandwidth") {
            return Ok(());
        }
        let mut table = Table::new("Bandwidth caps: 1 MiB sequential at depth 8 on 100 us");
        for gb_s in [0.5, 1.0, 1.5, 2.5] {
            let mut mounted = self.mount(&volume(100, NO_CAP_IOPS, gb_s * 1000.0))?;
            // Memory that was never written has to be found first, which no drive has to.
            mounted.fill()?;
            for pattern in [Pattern::Read, Pattern::Write] {
                let job = self.job("libaio", pattern, 8);
                let cap = gb_s * 1000.0;
                let goal = (gb_s <= 1.5).then_some(5.0);
                table.push(self.row(&mut mounted, &job, |seen, own| {
                    Row::bandwidth(&job, seen, own, cap, goal)
                })?);
            }
            mounted.stop()?;
        }
        self.tables.push(table);
        Ok(())
    }

    /// Where it stops keeping up: a drive that is faster than the emulator.
    fn limits(&mut self) -> Task {
        if !self.wants("limits") {
            return Ok(());
        }
        let mut table = Table::new("Where it ends: a drive of 10 us without caps");
        let mut mounted = self.mount(&volume(10, NO_CAP_IOPS, NO_CAP_MB_S))?;
        mounted.fill()?;
        for (pattern, depth) in [
            (Pattern::RandomRead, 32),
            (Pattern::RandomWrite, 32),
            (Pattern::Read, 8),
            (Pattern::Write, 8),
        ] {
            let job = self.job("libaio", pattern, depth);
            let measured = mounted.measure(&job)?;
            table.push(Row::latency(
                &job,
                &measured.by_fio,
                &measured.by_emulator,
                None,
            ));
        }
        self.tables.push(table);
        mounted.stop()
    }
}

/// An empty directory for one drive, removed by [`Mounted::stop`].
fn new_dir(parent: &Path) -> Task<PathBuf> {
    let dir = parent.join(format!("plimsoll-bench-drive-{}", std::process::id()));
    std::fs::create_dir(&dir).map_err(because(dir.display()))?;
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_nonsense_is_refused() {
        let given = parse(&["--seconds", "2", "--tries", "4", "--only", "iops"]).expect("good");
        assert_eq!(
            given,
            Options {
                seconds: 2,
                dir: "/var/tmp".into(),
                tries: 4,
                only: "iops".into()
            }
        );
        for bad in [&["--seconds"][..], &["--seconds", "0"], &["--wat", "1"]] {
            assert_eq!(parse(bad).expect_err("nonsense").exit_code(), 2, "{bad:?}");
        }
    }

    #[test]
    fn a_drive_file_for_each_drive() {
        let text = volume(80, 10_000, 1000.0);
        assert!(
            text.contains("read_us = { value = 80, source")
                && text.contains("iops = { value = 10000, source")
        );
        assert!(text.contains("mib_s = { value = 953.67"), "{text}");
    }
}
