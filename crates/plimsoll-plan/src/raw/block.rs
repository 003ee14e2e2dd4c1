//! Block workloads as a person writes them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::choice::{RawCurve, RawShare, RawSizes, RawWord, Words};
use crate::load::Arrivals;
use crate::value::{At, RawSize};

/// Requests to the medium itself, carried out by fio: the jobs of a profile, jobs of your own, or a job file.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { profile = \"four-corners\" }"
)]
#[schemars(
    rename = "Block",
    extend("anyOf" = [{ "required": ["profile"] }, { "required": ["job"] }, { "required": ["fio_job"] }])
)]
pub struct RawBlock {
    /// A name that `plimsoll profile list` shows: its jobs are run.
    pub profile: Option<At<String>>,
    /// Where jobs of your own come from: a paper, a tool, a clause. The report shows it.
    pub source: Option<At<String>>,
    /// Processes of fio side by side on each medium, each with a file of its own, or its part of a device, 1 to 256.
    /// Default: as the profile has it, else 1.
    #[schemars(range(min = 1, max = 256))]
    pub workers: Option<At<i64>>,
    /// Size of each worker's file or part, at least `"64MiB"`; whole MiB are used. `--data-scale` multiplies it, down to
    /// 64 MiB. Default: as the profile has it, else `"1GiB"`. With a `fio_job`: the space that its files need.
    pub size: Option<At<RawSize>>,
    /// How often each file is written from its beginning to its end before the first job, 0 to 100; 2 is SNIA's
    /// preconditioning. Default: as the profile has it, else 1, so that reads find what was written.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub fill: Option<At<f64>>,
    /// A job file of fio's, run as it is in the medium's directory.
    pub fio_job: Option<At<String>>,
    /// Jobs of your own, gone through one after the other.
    pub job: Option<At<Vec<At<RawBlockJob>>>>,
}

/// The keys of a stream stand in a job that has one stream as well, and serde's `flatten` would lose their places.
macro_rules! stream_keys {
    ($($(#[$doc:meta])* $key:ident: $type:ty,)*) => {
        /// One load: requests of one kind, or `stream`s of different kinds at the same time.
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, expecting = "a table such as { name = \"RND4K Q32T1 read\", read = 100 }")]
        #[schemars(rename = "BlockJob", extend("required" = ["name"]))]
        pub struct RawBlockJob {
            /// What the report calls it, such as `"RND4K Q32T16 read"`.
            pub name: Option<At<String>>,
            /// After the job at full speed: at offered rates in percent of what it reached, `[10, 50, 100]`; `true` is
            /// 10, 20 and so on to 100, and 120. Default: no curve.
            pub curve: Option<At<RawCurve>>,
            /// Loads at the same time, such as data and log of a database. The keys below then stand in each of them.
            pub stream: Option<At<Vec<At<RawBlockStream>>>>,
            $($(#[$doc])* pub $key: Option<At<$type>>,)*
        }

        /// Requests of one kind, made by each worker.
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, expecting = "a table such as { name = \"log\", read = 0 }")]
        #[schemars(rename = "BlockStream", extend("required" = ["name"]))]
        pub struct RawBlockStream {
            /// What the report calls it, such as `"log"`.
            pub name: Option<At<String>>,
            $($(#[$doc])* pub $key: Option<At<$type>>,)*
        }

        impl RawBlockJob {
            /// The stream that the job's own keys make.
            pub fn own_stream(&self) -> RawBlockStream {
                RawBlockStream { name: None, $($key: self.$key.clone(),)* }
            }

            /// Keys of a stream that the job has itself, and where.
            pub fn stream_keys(&self) -> Vec<(&'static str, std::ops::Range<usize>)> {
                let places = [$((stringify!($key), self.$key.as_ref().map(At::span)),)*];
                places.into_iter().filter_map(|(key, span)| Some((key, span?))).collect()
            }
        }
    };
}

stream_keys! {
    /// Share of requests that are reads, in percent; the rest are writes.
    #[schemars(range(min = 0, max = 100))]
    read: i64,
    /// Share of requests at a random place, in percent; the rest follow the one before. 0 is sequential.
    #[schemars(range(min = 0, max = 100))]
    random: i64,
    /// Size of requests: `"4KiB"`, or sizes with their shares in percent: `[["4KiB", 40], ["8KiB", 60]]`.
    block: RawSizes,
    /// Size of reads, where it differs from that of writes.
    read_block: RawSizes,
    /// Size of writes, where it differs from that of reads.
    write_block: RawSizes,
    /// Requests in flight of each thread, 1 to 4096. Default: 1.
    #[schemars(range(min = 1, max = 4096))]
    depth: i64,
    /// Threads of each worker, 1 to 512. Default: 1.
    #[schemars(range(min = 1, max = 512))]
    threads: i64,
    /// Requests per second of each worker, over its threads. Default: none, as many as it can.
    rate: f64,
    /// With a `rate` or a `curve`: equal distances (`"constant"`), or exponentially distributed ones, as independent
    /// users have (`"poisson"`). Default: constant.
    arrivals: Arrivals,
    /// Which places random requests choose: all alike (`"uniform"`), by Zipf's law (`{ zipf = 1.1 }`), or shares of
    /// requests and of space in percent, from the file's beginning (`{ zones = [[95, 5], [4, 10], [1, 85]] }`: 95 %
    /// of the requests on 5 % of the space). Default: uniform.
    access: RawWord<RawAccess>,
    /// How far the written data can be compressed, in percent. Default: 0.
    #[schemars(range(min = 0, max = 100))]
    compressible: i64,
    /// Past the page cache (`O_DIRECT`). Default: true.
    direct: bool,
    /// How writes become durable: not asked for (`"none"`), each by itself (`"each_write"`: `O_DSYNC`), or by
    /// `fdatasync` after so many (`{ flush_every = 1 }`). Default: none.
    sync: RawWord<RawSync>,
}

/// Which places random requests choose: exactly one of them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "\"uniform\", { zipf = 1.1 } or { zones = [[95, 5], [5, 95]] }"
)]
#[schemars(rename = "Access", extend("minProperties" = 1, "maxProperties" = 1))]
pub struct RawAccess {
    /// The exponent of Zipf's law, 0.01 to 10, but not exactly 1.
    pub zipf: Option<At<f64>>,
    /// Shares of requests and of space in percent, from the beginning of the file.
    pub zones: Option<At<Vec<At<RawShare<i64>>>>>,
}

/// How writes become durable, if not by themselves.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "\"none\", \"each_write\" or { flush_every = 1 }"
)]
#[schemars(rename = "Sync", extend("required" = ["flush_every"]))]
pub struct RawSync {
    /// `fdatasync` after so many writes.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub flush_every: Option<At<i64>>,
}

impl Words for RawAccess {
    const WORDS: &'static [&'static str] = &["uniform"];
    const EXPECTED: &'static str = "\"uniform\", { zipf = 1.1 } or { zones = [[95, 5], [5, 95]] }";
}

impl Words for RawSync {
    const WORDS: &'static [&'static str] = &["none", "each_write"];
    const EXPECTED: &'static str = "\"none\", \"each_write\" or { flush_every = 1 }";
}

/// A load that plimsoll has at hand: a file in `profiles/`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a profile")]
pub struct RawProfile {
    pub title: Option<At<String>>,
    /// What it is for, and what of it is invented.
    pub about: Option<At<String>>,
    /// Where it comes from: a paper, a tool, a clause.
    pub source: Option<At<String>>,
    pub workers: Option<At<i64>>,
    pub size: Option<At<RawSize>>,
    pub fill: Option<At<f64>>,
    pub job: Vec<At<RawBlockJob>>,
}
