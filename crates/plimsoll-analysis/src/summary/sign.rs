//! What may limit a system, and the figure that shows it.

use serde::Serialize;

/// Something that stood out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sign {
    pub what: Bottleneck,
    /// The figure at the line, where there is a line and it has the figure.
    pub at_line: Option<f64>,
    /// The figure at the lowest load above the line.
    pub beyond: f64,
    /// From which on it stands out; of figures that grow, what they were to grow by as a factor.
    pub limit: f64,
}

/// A possible bottleneck, and the figure that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// CPU of plimsoll in percent of what its workers can use: the line is not the system's.
    Generator,
    /// The emulated drive answered late: by so many percent of the modeled time.
    Emulator,
    /// CPU of a full machine that other programs used, in percent of all: more than the system.
    OtherPrograms,
    /// CPU of a full machine that went to other virtual machines, in percent of all: more than the system got.
    Steal,
    /// CPU of a full machine that the system used, in percent of all.
    Cpu,
    /// Busy CPU of a full machine in percent of all; whose it is is unknown.
    Processors,
    /// CPU of the system in percent of what its limits give it.
    CpuLimit,
    /// Sessions at work that wait for nothing, in percent of those at work; the machine had CPU to spare.
    SessionCpu,
    /// Time in which the device was busy, in percent.
    DeviceBusy,
    /// Time of a write on the device, in ms; grew.
    DeviceWriteTime,
    /// Time of a read on the device, in ms; grew.
    DeviceReadTime,
    /// Requests in the emulated drive at a time; grew.
    DriveQueue,
    /// Sessions that wait for data to be read, in percent of those at work.
    Reads,
    /// Sessions that wait for locks, in percent of those at work.
    Locks,
    /// Sessions that wait for the log, in percent of those at work.
    Log,
    /// Part of a transaction's time in which the server waited for the client's next statement, in percent: the network
    /// or the client.
    Client,
    /// Part of response time before the transaction started, in percent: all connections were taken.
    Connections,
}

impl Bottleneck {
    pub const ALL: [Self; 17] = [
        Self::Generator,
        Self::Emulator,
        Self::OtherPrograms,
        Self::Steal,
        Self::Cpu,
        Self::Processors,
        Self::CpuLimit,
        Self::SessionCpu,
        Self::DeviceBusy,
        Self::DeviceWriteTime,
        Self::DeviceReadTime,
        Self::DriveQueue,
        Self::Reads,
        Self::Locks,
        Self::Log,
        Self::Client,
        Self::Connections,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Emulator => "emulator",
            Self::OtherPrograms => "other_programs",
            Self::Steal => "steal",
            Self::Cpu => "cpu",
            Self::Processors => "processors",
            Self::CpuLimit => "cpu_limit",
            Self::SessionCpu => "session_cpu",
            Self::DeviceBusy => "device_busy",
            Self::DeviceWriteTime => "device_write_time",
            Self::DeviceReadTime => "device_read_time",
            Self::DriveQueue => "drive_queue",
            Self::Reads => "reads",
            Self::Locks => "locks",
            Self::Log => "log",
            Self::Client => "client",
            Self::Connections => "connections",
        }
    }
}
