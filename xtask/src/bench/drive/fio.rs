//! One fio job and its output.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::exec::{Task, because, failed};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    RandomRead,
    RandomWrite,
    Read,
    Write,
}

impl Pattern {
    fn name(self) -> &'static str {
        match self {
            Self::RandomRead => "randread",
            Self::RandomWrite => "randwrite",
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    pub fn direction(self) -> &'static str {
        match self {
            Self::RandomRead | Self::Read => "read",
            Self::RandomWrite | Self::Write => "write",
        }
    }

    pub fn is_sequential(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

#[derive(Debug, Clone)]
pub struct Job {
    pub engine: &'static str,
    pub pattern: Pattern,
    pub depth: u32,
    pub seconds: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FioFigures {
    pub mean_us: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub iops: f64,
    pub mb_s: f64,
}

impl Job {
    pub fn title(&self) -> String {
        format!("{} {} QD{}", self.engine, self.pattern.name(), self.depth)
    }

    fn args(&self, target: &Path) -> Vec<String> {
        // A synchronous engine is as deep as it has threads.
        let is_synchronous = self.engine == "psync";
        let jobs = if is_synchronous { self.depth } else { 1 };
        let depth = if is_synchronous { 1 } else { self.depth };
        let block = if self.pattern.is_sequential() {
            "1m"
        } else {
            "4k"
        };
        let mut args: Vec<String> = [
            "--name=bench",
            "--direct=1",
            "--time_based",
            "--thread",
            "--group_reporting",
        ]
        .map(String::from)
        .to_vec();
        args.extend([
            "--lat_percentiles=1".into(),
            "--output-format=json".into(),
            "--ramp_time=500ms".into(),
            "--randrepeat=0".into(),
            "--norandommap".into(),
            // As much as fits the memory that the bench may take; the model places it all over the drive.
            "--size=2g".into(),
            format!("--filename={}", target.display()),
            format!("--ioengine={}", self.engine),
            format!("--rw={}", self.pattern.name()),
            format!("--bs={block}"),
            format!("--numjobs={jobs}"),
            format!("--iodepth={depth}"),
            format!("--runtime={}", self.seconds),
        ]);
        args
    }

    pub fn run(&self, target: &Path) -> Task<FioFigures> {
        let out = Command::new("fio")
            .args(self.args(target))
            .output()
            .map_err(because("fio"))?;
        let text = String::from_utf8_lossy(&out.stdout);
        if !out.status.success() {
            return failed(format!(
                "fio ended with {}: {}",
                out.status,
                String::from_utf8_lossy(&out.stderr)
            ));
        }
        // Notes may stand before the JSON.
        let json = text.find('{').map(|at| &text[at..]).unwrap_or_default();
        let json = serde_json::from_str(json).map_err(because("fio's output"))?;
        match parse(&json, self.pattern.direction()) {
            Some(seen) => Ok(seen),
            None => failed("fio's output lacks figures"),
        }
    }
}

fn parse(json: &Value, direction: &str) -> Option<FioFigures> {
    let figures = json["jobs"].get(0)?.get(direction)?;
    let latency = &figures["lat_ns"];
    Some(FioFigures {
        mean_us: microseconds(&latency["mean"])?,
        p50_us: microseconds(&latency["percentile"]["50.000000"])?,
        p99_us: microseconds(&latency["percentile"]["99.000000"])?,
        iops: figures["iops"].as_f64()?,
        mb_s: figures["bw_bytes"].as_f64()? / 1e6,
    })
}

fn microseconds(ns: &Value) -> Option<f64> {
    ns.as_f64().map(|ns| ns / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_fio() {
        let json = serde_json::json!({"jobs": [{"write": {
            "lat_ns": {"mean": 81000.5, "percentile": {"50.000000": 80000, "99.000000": 99000}},
            "iops": 12000.5, "bw_bytes": 49152000}}]});
        let seen = FioFigures {
            mean_us: 81.0005,
            p50_us: 80.0,
            p99_us: 99.0,
            iops: 12000.5,
            mb_s: 49.152,
        };
        assert_eq!(parse(&json, "write"), Some(seen));
        assert_eq!(parse(&json, "read"), None);
        assert_eq!(parse(&Value::Null, "read"), None);
    }

    #[test]
    fn a_synchronous_engine_is_as_deep_as_it_has_threads() {
        let job = Job {
            engine: "psync",
            pattern: Pattern::Read,
            depth: 8,
            seconds: 1,
        };
        let args = job.args(Path::new("/dev/x"));
        assert!(args.contains(&"--numjobs=8".into()) && args.contains(&"--iodepth=1".into()));
        let args = Job {
            engine: "libaio",
            ..job
        }
        .args(Path::new("/dev/x"));
        assert!(args.contains(&"--numjobs=1".into()) && args.contains(&"--iodepth=8".into()));
    }
}
