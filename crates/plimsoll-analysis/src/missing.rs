//! Reasons for which a figure or another input is missing. A closed set, so that each has its sentence in every language:
//! `missing-` and its name in the export.

use serde::Serialize;

/// A figure, or why there is none.
pub type Known<T> = Result<T, Missing>;

/// The input without which a rule, or a part of it, is not evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Nothing was measured.
    NothingMeasured,
    /// The plan of the run cannot be read.
    PlanUnreadable,
    /// The figure does not exist for such a load: an open loop has no number in flight, block I/O no transactions.
    NotForThisLoad,
    /// Fewer values than this rule needs.
    TooFew,
    /// The window is below five seconds, or has no seconds.
    TooShort,
    /// The window has less than five parts with figures of their own.
    FewIntervals,
    /// The length of the window is not known.
    NoWindow,
    /// One transaction across an edge of the window can change its figures by more than the limit.
    TooShortForLongest,
    /// Rate, mean latency and number in flight are not all known.
    NoInFlight,
    /// The mean latency was computed from rate and clients.
    ComputedMean,
    /// The mean latency is printed with too few digits.
    TooFewDigits,
    /// No counts of outcomes.
    NoCounts,
    /// No figures over time.
    NoSeries,
    /// No response times second by second.
    NoResponses,
    /// No intervals, and nothing to compute them from.
    NoInterval,
    /// No counter of checkpoints.
    NoCheckpoints,
    /// The size of the drive's own memory is not known.
    NoDriveCache,
    /// Size of the data set, or of the memory, is not known.
    NoSizes,
    /// No counters of the device below the medium.
    NoDeviceCounters,
    /// The load generator was not monitored.
    NoGenerator,
    /// The system runs inside the generator.
    Embedded,
    /// A late start cannot be distinguished from the wait for a free connection.
    NoLag,
    /// The kernel does not count waits of threads for a CPU, or not for this system.
    NoRunDelay,
    /// Where the load generator ran is not known.
    NoPlace,
    /// How latencies were computed is not known.
    NoMethod,
    /// Settings that decide about durability are not known.
    NoSettings,
    /// No counters of flushes and of what they took.
    NoFlushes,
    /// What the medium can do at best is not known.
    NoMedium,
    /// No counters or events of maintenance.
    NoMaintenance,
    /// No blocks were sampled, and how the space was filled is not known.
    NoSampling,
    /// The machine was not monitored.
    NoHost,
    /// CPU time of the system, without which that of other programs is not known.
    NoSystemCpu,
    /// Governor of the processors: not readable.
    NoGovernor,
    /// No calibration before and after.
    NoCalibration,
    /// There is only one side.
    OneSide,
    /// The configuration of a side is not known.
    NoConfiguration,
    /// What ran beside the victims is not part of this comparison.
    NoNoise,
    /// No TPM and NOPM of a TPC-C mix.
    NoTpm,
    /// No backup or restore.
    NoBackup,
    /// Bandwidth, time and bytes are not all known.
    NoBytes,
    /// The claim has no sentences.
    NoSentence,
    /// The figures that a sentence refers to are not stated.
    NoFigures,
    /// No condition was verified.
    NotVerified,
    /// No drive is emulated.
    NoEmulation,
    /// Nothing is simulated.
    NoSimulation,
    /// What sessions spent their time on was not recorded.
    NoWaits,
    /// The emulator did not report on the whole window.
    EmulationUnreported,
    /// The number of runs is not known.
    NoRepeats,
    /// One of the three figures is computed from the other two, as of restores.
    ByConstruction,
    /// Whether requests went past the page cache is not known.
    NoCacheMode,
    /// Requests went past the page cache.
    PastTheCache,
    /// No acknowledged transaction could be checked after the power cut.
    NothingToLose,
    /// No two figures that depend on each other.
    OneFigure,
    /// No time is stated together with its parts.
    NoDuration,
    /// The figures are in no run file.
    NoRunFile,
    /// The run file was never closed.
    FileOpen,
}
