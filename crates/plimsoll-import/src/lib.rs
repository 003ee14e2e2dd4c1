//! Outputs of other tools, read into the same record.
//!
//! Parsers are pure functions from text to an [`ImportedLoad`] (one load as a tool reports it) or to [`HostSamples`]
//! (iostat, vmstat, mpstat). [`import`] builds a record from them. Two rules hold everywhere:
//!
//! - A histogram is made only where the source has a distribution. Percentiles that a tool prints are kept as
//!   [`Reported`](plimsoll_record::Reported) figures, with the tool's own name and digits.
//! - Information that the source lacks is a fact `import.unknown.WHAT` of the system, so that missing information is
//!   not taken for a pass.

mod assemble;
mod attach;
mod block;
mod decode;
mod diskspd;
mod fault;
mod fio;
mod fio_log;
pub mod fio_output;
mod format;
mod formats;
mod go_tpc;
mod hammerdb;
mod host;
mod iostat;
mod lines;
mod load;
mod mpstat;
mod pgbench;
mod pgbench_log;
mod rate;
mod runs;
mod samples;
mod source;
mod sysbench;
mod sysstat;
mod sysstat_json;
#[cfg(test)]
mod tests;
mod ticks;
mod tool;
mod unknown;
mod vdbench;
mod vmstat;
mod when;
mod xml;

pub use assemble::{Imported, import};
pub use decode::decode;
pub use fault::ImportError;
pub use formats::{detect, tool_named, tools};
pub use host::{join_run, samples};
pub use load::ImportedLoad;
pub use samples::HostSamples;
pub use source::{ImportOptions, SourceFile};
pub use tool::Tool;
