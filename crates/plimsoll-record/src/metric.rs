//! The catalog of metrics: each is declared once, with name, unit, kind, direction and source.
//!
//! A probe can only emit a [`Metric`]; one that no probe emits fails a test in `plimsoll-load`.

use serde::{Deserialize, Serialize};

/// How values of a metric combine over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// Holds at the time of the sample: averaged over time.
    Gauge,
    /// Per second over the interval that ends with the sample: averaged weighted by interval.
    Rate,
}

/// Which way is better, for comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Higher,
    Lower,
    /// Neither is better.
    Neither,
}

/// Name, unit, kind and source of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricInfo {
    pub name: &'static str,
    pub unit: &'static str,
    pub kind: MetricKind,
    pub better: Better,
    /// File, field and computation.
    pub source: &'static str,
}

macro_rules! metrics {
    ($($variant:ident, $name:literal, $unit:literal, $kind:ident, $better:ident, $source:literal;)*) => {
        /// Every metric there is. The order is only that of display; stored files use the name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Metric { $($variant),* }

        impl Metric {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The one of this name.
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            pub fn info(self) -> MetricInfo {
                match self {
                    $(Self::$variant => MetricInfo {
                        name: $name, unit: $unit, kind: MetricKind::$kind, better: Better::$better, source: $source,
                    }),*
                }
            }
        }
    };
}

metrics! {
    // Subject: host
    CpuUser, "cpu_user", "%", Rate, Neither, "/proc/stat user + nice, share of all CPUs' time";
    CpuSystem, "cpu_system", "%", Rate, Neither, "/proc/stat system + irq + softirq, share of all CPUs' time";
    CpuIowait, "cpu_iowait", "%", Rate, Lower, "/proc/stat iowait, share of all CPUs' time";
    CpuSteal, "cpu_steal", "%", Rate, Lower, "/proc/stat steal, share of all CPUs' time";
    CpuIdle, "cpu_idle", "%", Rate, Neither, "/proc/stat idle, share of all CPUs' time";
    CpuBusiest, "cpu_busiest", "%", Rate, Lower, "/proc/stat, busy share of the busiest single CPU";
    MemoryTotal, "memory_total", "bytes", Gauge, Neither, "/proc/meminfo MemTotal";
    MemoryAvailable, "memory_available", "bytes", Gauge, Higher, "/proc/meminfo MemAvailable";
    MemoryCached, "memory_cached", "bytes", Gauge, Neither, "/proc/meminfo Cached + Buffers";
    MemoryDirty, "memory_dirty", "bytes", Gauge, Neither, "/proc/meminfo Dirty + Writeback";
    PsiCpuSome, "psi_cpu_some", "%", Rate, Lower, "/proc/pressure/cpu some total, share of the interval";
    PsiIoSome, "psi_io_some", "%", Rate, Lower, "/proc/pressure/io some total, share of the interval";
    PsiIoFull, "psi_io_full", "%", Rate, Lower, "/proc/pressure/io full total, share of the interval";
    PsiMemorySome, "psi_memory_some", "%", Rate, Lower, "/proc/pressure/memory some total, share of the interval";
    NetReceived, "net_received", "bytes/s", Rate, Neither, "/proc/net/dev, all interfaces but lo";
    NetSent, "net_sent", "bytes/s", Rate, Neither, "/proc/net/dev, all interfaces but lo";
    // Subject: device
    DeviceReads, "device_reads", "1/s", Rate, Neither, "/proc/diskstats reads completed";
    DeviceWrites, "device_writes", "1/s", Rate, Neither, "/proc/diskstats writes completed";
    DeviceFlushes, "device_flushes", "1/s", Rate, Neither, "/proc/diskstats flush requests completed (kernel 5.5)";
    DeviceReadBytes, "device_read_bytes", "bytes/s", Rate, Neither, "/proc/diskstats sectors read x 512";
    DeviceWriteBytes, "device_write_bytes", "bytes/s", Rate, Neither, "/proc/diskstats sectors written x 512";
    DeviceReadLatency, "device_read_latency", "ms", Rate, Lower, "/proc/diskstats ms reading / reads completed";
    DeviceWriteLatency, "device_write_latency", "ms", Rate, Lower, "/proc/diskstats ms writing / writes completed";
    DeviceQueue, "device_queue", "requests", Rate, Neither, "/proc/diskstats weighted ms in I/O / ms elapsed: mean number in flight";
    DeviceBusy, "device_busy", "%", Rate, Neither, "/proc/diskstats ms in I/O / ms elapsed";
    // Subject: medium
    MediumUsed, "medium_used", "bytes", Gauge, Neither, "statvfs blocks - free";
    MediumFree, "medium_free", "bytes", Gauge, Higher, "statvfs available to the user";
    // Subject: system (process tree of the server)
    SystemCpu, "system_cpu", "%", Rate, Lower, "/proc/PID/stat utime + stime + cutime + cstime over the server's process tree; 100 = one CPU";
    SystemMemory, "system_memory", "bytes", Gauge, Lower, "/proc/PID/smaps_rollup Pss where readable, else rss - shared + largest shared, over the tree";
    SystemReadBytes, "system_read_bytes", "bytes/s", Rate, Neither, "/proc/PID/io read_bytes over the tree";
    SystemWriteBytes, "system_write_bytes", "bytes/s", Rate, Neither, "/proc/PID/io write_bytes over the tree: page cache made dirty, in whole folios; where the filesystem uses large ones (xfs, ext4 since kernel 6.16) up to 128 times what was written";
    SystemData, "system_data", "bytes", Gauge, Neither, "size of the system's data directory or file";
    BackupWritten, "backup_written", "bytes/s", Rate, Neither, "growth of the files of the system's backup or, while it is restored, of its new data directory";
    // Subject: system (a database's own counters: a server is asked with SQL, SQLite's sessions count)
    DbCommits, "db_commits", "1/s", Rate, Higher, "pg_stat_database.xact_commit of this database less the probe's own; MariaDB: Com_commit, COMMIT statements of the whole server; what autocommit ends is not in it; SQL Server: Write Transactions/sec of this database";
    DbRollbacks, "db_rollbacks", "1/s", Rate, Lower, "pg_stat_database.xact_rollback; MariaDB: Com_rollback";
    DbBufferHits, "db_buffer_hits", "1/s", Rate, Neither, "pg_stat_database.blks_hit; MariaDB: Innodb_buffer_pool_read_requests - Innodb_buffer_pool_reads";
    DbBufferReads, "db_buffer_reads", "1/s", Rate, Lower, "pg_stat_database.blks_read: pages that were not in the buffer pool; MariaDB: Innodb_buffer_pool_reads";
    DbTempBytes, "db_temp_bytes", "bytes/s", Rate, Lower, "pg_stat_database.temp_bytes";
    DbDeadlocks, "db_deadlocks", "1/s", Rate, Lower, "pg_stat_database.deadlocks; MariaDB: Innodb_deadlocks";
    DbLogBytes, "db_log_bytes", "bytes/s", Rate, Lower, "pg_current_wal_insert_lsn(); MariaDB: Innodb_os_log_written; SQLite: frames that sessions of this run added to the WAL x (page size + 24)";
    DbLogWrites, "db_log_writes", "1/s", Rate, Lower, "pg_stat_wal.wal_write (14 to 17), pg_stat_io writes of object wal (18); MariaDB: Innodb_log_writes";
    DbLogSyncs, "db_log_syncs", "1/s", Rate, Lower, "pg_stat_wal.wal_sync (14 to 17), pg_stat_io fsyncs of object wal (18); MariaDB: Innodb_os_log_fsyncs (to 10.7)";
    DbCheckpoints, "db_checkpoints", "1/s", Rate, Lower, "pg_stat_bgwriter checkpoints_timed + checkpoints_req (to 16), pg_stat_checkpointer num_timed + num_requested (17); SQLite: checkpoints by sessions of this run that moved a frame";
    DbCheckpointTime, "db_checkpoint_time", "%", Rate, Lower, "checkpoint_write_time + checkpoint_sync_time of the same views, share of the interval; reported when a checkpoint is complete, so above 100 in that second; SQLite: time of sessions of this run in checkpoints";
    DbVacuums, "db_vacuums", "workers", Gauge, Neither, "pg_stat_progress_vacuum of this database, rows";
    DbLockWaiters, "db_lock_waiters", "sessions", Gauge, Lower, "pg_stat_activity of this database with wait_event_type Lock; MariaDB: Innodb_row_lock_current_waits; SQLite: sessions of this run that wait for their turn to write";
    DbConnections, "db_connections", "sessions", Gauge, Neither, "pg_stat_activity client backends, of all databases; MariaDB: Threads_connected";
    DbSize, "db_size", "bytes", Gauge, Neither, "pg_database_size(current_database()); MariaDB: INNODB_SYS_TABLESPACES.FILE_SIZE of this database; SQLite: length of the database file, without its WAL";
    DbProbeCost, "db_probe_cost", "%", Rate, Lower, "CLOCK_THREAD_CPUTIME_ID of the thread that asks this server; 100 = one CPU";
    DbProbeBusy, "db_probe_busy", "%", Rate, Lower, "time in which a query of the probe's was under way, share of the interval: at most so much of one CPU of the server's";
    DbSyncs, "db_syncs", "1/s", Rate, Lower, "MariaDB: Innodb_data_fsyncs, of log and data files together";
    DbTempTables, "db_temp_tables", "1/s", Rate, Lower, "MariaDB: Created_tmp_disk_tables";
    DbLockWaits, "db_lock_waits", "1/s", Rate, Lower, "MariaDB: Innodb_row_lock_waits: waits for row locks that began";
    DbPurgeLag, "db_purge_lag", "transactions", Gauge, Lower, "MariaDB: Innodb_history_list_length, whose old row versions are not purged";
    DbCheckpointPages, "db_checkpoint_pages", "1/s", Rate, Neither, "Pages that checkpoints wrote. SQL Server: Checkpoint pages/sec; MariaDB: Innodb_buffer_pool_pages_flushed without those of db_lazy_writes";
    DbLazyWrites, "db_lazy_writes", "1/s", Rate, Lower, "Pages written to make room in memory. SQL Server: Lazy writes/sec; MariaDB: Innodb_buffer_pool_pages_LRU_flushed";
    DbLatchWaits, "db_latch_waits", "1/s", Rate, Lower, "SQL Server: Latch Waits/sec";
    DbMemory, "db_memory", "bytes", Gauge, Neither, "SQL Server: Total Server Memory (KB)";
    DbFileReads, "db_file_reads", "1/s", Rate, Neither, "SQL Server: sys.dm_io_virtual_file_stats num_of_reads, data files of this database; MySQL, and MariaDB with performance_schema: file_summary_by_event_name, innodb_data_file; else MariaDB: Innodb_data_reads";
    DbFileReadTime, "db_file_read_time", "%", Rate, Lower, "SQL Server: sys.dm_io_virtual_file_stats io_stall_read_ms, data files: waits of all requests, share of the interval; over db_file_reads it is the latency as the server sees it; MySQL and MariaDB as there";
    DbFileWrites, "db_file_writes", "1/s", Rate, Neither, "SQL Server: sys.dm_io_virtual_file_stats num_of_writes, data files of this database; MySQL, and MariaDB with performance_schema: file_summary_by_event_name, innodb_data_file";
    DbFileWriteTime, "db_file_write_time", "%", Rate, Lower, "SQL Server: sys.dm_io_virtual_file_stats io_stall_write_ms, data files, as db_file_read_time";
    DbLogWriteTime, "db_log_write_time", "%", Rate, Lower, "SQL Server: sys.dm_io_virtual_file_stats io_stall_write_ms of the log, as db_file_read_time; MySQL and MariaDB: innodb_log_file";
    DbCheckpointAge, "db_checkpoint_age", "bytes", Gauge, Lower, "MariaDB: Innodb_checkpoint_age, the log since the last checkpoint; SQLite: frames of the WAL that are not in the database file yet x (page size + 24)";
    DbCheckpointFrames, "db_checkpoint_frames", "1/s", Rate, Neither, "SQLite: frames of the WAL that checkpoints moved; several of one page are one write";
    DbLogSize, "db_log_size", "bytes", Gauge, Lower, "SQLite: length of the WAL file, which starts over after a checkpoint without getting shorter";
    // Subject: generator (plimsoll itself)
    GeneratorCpu, "generator_cpu", "%", Rate, Lower, "/proc/self/stat utime + stime; 100 = one CPU";
    GeneratorMemory, "generator_memory", "bytes", Gauge, Lower, "/proc/self/statm resident";
    ProbeCost, "probe_cost", "%", Rate, Lower, "CLOCK_THREAD_CPUTIME_ID of the sampling thread; 100 = one CPU";
    ProbeJitter, "probe_jitter", "ms", Gauge, Lower, "how late this sample was taken";
    GeneratorStopped, "generator_stopped", "%", Rate, Lower, "how late a thread of plimsoll's woke that sleeps 10 ms at a time, where it was more than 20 ms, share of the interval";
    GeneratorThrottled, "generator_throttled", "%", Rate, Lower, "cpu.stat of plimsoll's control group or one above it, the one most throttled: throttled_usec (version 1: throttled_time), added up over the CPUs, share of the interval";
    GeneratorRunDelay, "generator_run_delay", "%", Rate, Lower, "/proc/self/task/*/schedstat of the threads that generate load: time for which they waited for a CPU; 100 = one thread, all the time";
    // Subject: member (a drive of an emulated array or cluster, by its model)
    MemberReads, "member_reads", "1/s", Rate, Neither, "model of the drive: reads";
    MemberWrites, "member_writes", "1/s", Rate, Neither, "model of the drive: writes";
    MemberReadBytes, "member_read_bytes", "bytes/s", Rate, Neither, "model of the drive: bytes read";
    MemberWriteBytes, "member_write_bytes", "bytes/s", Rate, Neither, "model of the drive: bytes written";
    MemberFlashBytes, "member_flash_bytes", "bytes/s", Rate, Lower, "model of the drive: bytes written times write amplification; 0 without flash";
    MemberQueue, "member_queue", "requests", Rate, Neither, "model of the drive: response times of requests / time: mean number in flight";
    MemberWatts, "member_watts", "W", Gauge, Lower, "model of the drive: idle power, and what reading and writing add while they last";
    MemberBusy, "member_busy", "%", Rate, Neither, "model of the drive: time that reads and writes keep the medium busy";
}

impl Metric {
    /// Whether an emulator reports it, from its model.
    pub fn is_of_member(self) -> bool {
        self.info().name.starts_with("member_")
    }

    /// Whether a database reports it about itself.
    pub fn is_of_database(self) -> bool {
        self.info().name.starts_with("db_")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for metric in Metric::ALL {
            assert_eq!(Metric::parse(metric.info().name), Some(*metric));
        }
    }
}
