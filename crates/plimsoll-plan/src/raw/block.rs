//! Block workloads as a person writes them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::choice::{Composite, Either, RawShare, Switch};
use super::table::{TableKind as Kind, plan_table};
use crate::load::Arrivals;
use crate::units::Bytes;
use crate::value::{
    ABOVE_ZERO, At, Decimal, FromScalar, RawSize, RawText, Scalar, ValueFault, Whole, bounds,
};

const AS_IT_IS: &str = "a job file is run as it is: remove one of the two";
const OF_STREAMS: &str = "it belongs to each of them";
/// Less is in some drives' own memory as a whole.
pub const LEAST_FILE: u64 = Bytes::mib(64).0;

bounds! {
    /// How often a file is written before the first job.
    FileFill: 0.0, 100.0, "how often each file is written before the first job: 0 to 100";
    /// Requests per second of each worker.
    RequestRate: ABOVE_ZERO, 1e7, "requests per second of each worker: above 0, at most 10000000";
}

/// Size of a file or of a worker's part of a device.
pub type RawFileSize = RawSize<LEAST_FILE>;
/// Size of a request.
pub type RequestSize = RawSize<1, { Bytes::mib(64).0 }>;
/// Size of requests: `"4KiB"`, or sizes with their shares.
pub type RawSizes = Either<RequestSize, Vec<At<RawShare<RequestSize>>>>;
/// `true`, or shares in percent of what a job reaches.
pub type RawCurve = Either<Switch, Vec<At<f64>>>;
type Percent = Whole<0, 100>;

impl Composite for Vec<At<RawShare<RequestSize>>> {
    const EXPECTED: &'static str =
        "a size such as \"4KiB\", or a list such as [[\"4KiB\", 40], [\"8KiB\", 60]]";
}

impl Composite for Vec<At<f64>> {
    const EXPECTED: &'static str = "true, or a list of shares in percent such as [10, 50, 100]";
}

plan_table! {
    /// Requests to the medium itself, made by fio: the jobs of a profile, jobs of your own, or a job file.
    #[schemars(
        rename = "Block",
        extend("anyOf" = [{ "required": ["profile"] }, { "required": ["job"] }, { "required": ["fio_job"] }])
    )]
    pub struct RawBlock("a table such as { profile = \"four-corners\" }") {
        /// A name that `plimsoll profile list` shows: its jobs are run.
        #[refused(Kind::FioJob => AS_IT_IS)]
        profile: String,
        /// Where jobs of your own come from: a paper, a tool, a clause. The report shows it.
        source: RawText,
        /// Processes of fio side by side on each medium, each with a file of its own, or its part of a device. Default: as
        /// the profile has it, else 1.
        #[refused(Kind::FioJob => AS_IT_IS)]
        workers: Whole<1, 256>,
        /// Size of each worker's file or part, at least `"64MiB"`; whole MiB are used. `--data-scale` multiplies it, down to
        /// 64 MiB. Default: as the profile has it, else `"1GiB"`. With a `fio_job`: the space that its files need.
        size: RawSize,
        /// How often each file is written from its beginning to its end before the first job; 2 is SNIA's preconditioning.
        /// Default: as the profile has it, else 1, so that reads find what was written.
        #[refused(Kind::FioJob => AS_IT_IS)]
        fill: Decimal<FileFill>,
        /// A job file of fio's, run as it is in the medium's directory.
        fio_job: RawText,
        /// Jobs of your own, gone through one after the other.
        #[refused(Kind::FioJob => AS_IT_IS)]
        job: Vec<At<RawBlockJob>>,
    }
}

/// The keys of a stream stand in a job that has one stream as well, and serde's `flatten` would lose their places.
macro_rules! stream_keys {
    ($($(#[doc = $doc:literal])* $key:ident: $type:ty $(= $default:expr)?,)*) => {
        plan_table! {
            /// One load: requests of one kind, or `stream`s of different kinds at the same time.
            #[schemars(rename = "BlockJob", extend("required" = ["name"]))]
            pub struct RawBlockJob("a table such as { name = \"RND4K Q32T1 read\", read = 100 }") {
                /// What the report calls it, such as `"RND4K Q32T16 read"`.
                name: RawText,
                /// After the job at full speed: at offered rates in percent of what it reached, `[10, 50, 100]`; `true` is
                /// 10, 20 and so on to 100, and 120. Default: no curve.
                curve: RawCurve,
                /// Loads at the same time, such as data and log of a database. The keys below then stand in each of them.
                stream: Vec<At<RawBlockStream>>,
                $($(#[doc = $doc])* #[refused(Kind::Streams => OF_STREAMS)] $key: $type $(= $default)?,)*
            }
        }

        plan_table! {
            /// Requests of one kind, made by each worker.
            #[schemars(rename = "BlockStream", extend("required" = ["name"]))]
            pub struct RawBlockStream("a table such as { name = \"log\", read = 0 }") {
                /// What the report calls it, such as `"log"`.
                name: String,
                $($(#[doc = $doc])* $key: $type $(= $default)?,)*
            }
        }

        impl RawBlockJob {
            /// The stream that the job's own keys make.
            pub fn only_stream(&self) -> RawBlockStream {
                RawBlockStream { name: None, $($key: self.$key.clone(),)* }
            }
        }
    };
}

stream_keys! {
    /// Share of requests that are reads, in percent; the rest are writes.
    read: Percent,
    /// Share of requests at a random place, in percent; the rest follow the one before. 0 is sequential.
    random: Percent,
    /// Size of requests: `"4KiB"`, or sizes with their shares in percent: `[["4KiB", 40], ["8KiB", 60]]`.
    block: RawSizes,
    /// Size of reads, where it differs from that of writes.
    read_block: RawSizes,
    /// Size of writes, where it differs from that of reads.
    write_block: RawSizes,
    /// Requests in flight of each thread.
    depth: Whole<1, 4096> = 1,
    /// Threads of each worker.
    threads: Whole<1, 512> = 1,
    /// Requests per second of each worker, over its threads. Default: none, as many as it can.
    rate: Decimal<RequestRate>,
    /// With a `rate` or a `curve`: equal distances (`"constant"`), or exponentially distributed ones, as independent
    /// users have (`"poisson"`).
    arrivals: Arrivals = Arrivals::Constant,
    /// Which places random requests choose: all alike (`"uniform"`), by Zipf's law (`{ zipf = 1.1 }`), or shares of
    /// requests and of space in percent, from the file's beginning (`{ zones = [[95, 5], [4, 10], [1, 85]] }`: 95 %
    /// of the requests on 5 % of the space). Default: uniform.
    access: Either<AccessWord, RawAccess>,
    /// How far the written data can be compressed, in percent.
    compressible: Percent = 0,
    /// Past the page cache (`O_DIRECT`).
    direct: bool = true,
    /// How writes become durable: not asked for (`"none"`), each by itself (`"each_write"`: `O_DSYNC`), or by
    /// `fdatasync` after so many (`{ flush_every = 1 }`). Default: none.
    sync: Either<SyncWord, RawSync>,
}

plan_table! {
    /// Which places random requests choose: exactly one of them.
    #[schemars(rename = "Access", extend("minProperties" = 1, "maxProperties" = 1))]
    pub struct RawAccess("\"uniform\", { zipf = 1.1 } or { zones = [[95, 5], [5, 95]] }") {
        /// The exponent of Zipf's law, 0.01 to 10, but not exactly 1.
        zipf: f64,
        /// Shares of requests and of space in percent, from the beginning of the file.
        zones: Vec<At<RawShare<i64>>>,
    }
}

plan_table! {
    /// How writes become durable, if not by themselves.
    #[schemars(rename = "Sync", extend("required" = ["flush_every"]))]
    pub struct RawSync("\"none\", \"each_write\" or { flush_every = 1 }") {
        /// `fdatasync` after so many writes.
        flush_every: Whole<1, 1_000_000>,
    }
}

// Access without details; no documentation: the schema shows that of the key.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(inline, rename_all = "snake_case")]
pub enum AccessWord {
    Uniform,
}

impl FromScalar for AccessWord {
    const EXPECTED: &'static str = <RawAccess as Composite>::EXPECTED;

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        match scalar {
            Scalar::Text("uniform") => Some(Ok(Self::Uniform)),
            _ => None,
        }
    }
}

// Durability without details.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(inline, rename_all = "snake_case")]
pub enum SyncWord {
    None,
    EachWrite,
}

impl FromScalar for SyncWord {
    const EXPECTED: &'static str = <RawSync as Composite>::EXPECTED;

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        match scalar {
            Scalar::Text("none") => Some(Ok(Self::None)),
            Scalar::Text("each_write") => Some(Ok(Self::EachWrite)),
            _ => None,
        }
    }
}

/// A load that plimsoll has at hand: a file in `profiles/`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a profile")]
pub struct RawProfile {
    pub title: Option<At<RawText>>,
    /// What it is for, and what of it is invented.
    pub about: Option<At<RawText>>,
    /// Where it comes from: a paper, a tool, a clause.
    pub source: Option<At<RawText>>,
    pub workers: Option<At<Whole<1, 256>>>,
    pub size: Option<At<RawFileSize>>,
    pub fill: Option<At<Decimal<FileFill>>>,
    pub job: Vec<At<RawBlockJob>>,
}
