//! Workloads as a person writes them.

use super::block::RawBlock;
use super::table::plan_table;
use crate::resolved::{BackupMethod, Distribution, Home, Script, TxnMode};
use crate::value::Whole;

plan_table! {
    /// What users do: one of the kinds below.
    #[schemars(rename = "Workload", extend("minProperties" = 1, "maxProperties" = 1))]
    pub struct RawWorkload("a table such as [workload.oltp.tpcc]") {
        /// TPC-C-derived: order entry, five kinds of transactions. Results are not comparable with published TPC results.
        tpcc: RawTpcc,
        /// The OLTP scripts of sysbench 1.0: the same tables, statements and random draws, by plimsoll's own client.
        sysbench: RawSysbench,
        /// Requests to the medium itself, made by fio. Its steps have no `system`.
        block: RawBlock,
        /// How the data set of another workload is saved and brought back.
        backup: RawBackup,
    }
}

plan_table! {
    /// Backup and restore of a system's data set.
    #[schemars(rename = "Backup", extend("required" = ["data"]))]
    pub struct RawBackup("a table such as { data = \"oltp\" }") {
        /// The workload whose data set is saved, such as `"oltp"`.
        data: String,
        /// Files as they are (`"physical"`: pg_basebackup, mariadb-backup, SQLite's backup API), or what is in them
        /// (`"logical"`: pg_dump, mariadb-dump).
        method: BackupMethod = BackupMethod::Physical,
        /// Threads or connections at the same time, where the program has them.
        jobs: Whole<1, 64> = 1,
        /// Whether each backup is restored beside the system, its conditions verified and its rows counted. A neighbour's
        /// never is.
        restore: bool = true,
    }
}

plan_table! {
    /// TPC-C-derived load.
    #[schemars(rename = "Tpcc", extend("required" = ["warehouses"]))]
    pub struct RawTpcc("a table such as { warehouses = 4 }") {
        /// Size of the data. One warehouse takes about 100 MB. `--data-scale` multiplies it.
        warehouses: Whole<1, 100_000>,
        /// Where transactions run: in the server with one round trip each (`"procedures"`), or in the client with one round
        /// trip per statement (`"statements"`). Default: procedures where every engine used has them, else statements.
        mode: TxnMode,
        /// Which warehouses a user works for: always the same one (`"fixed"`), or one drawn for every transaction
        /// (`"roaming"`), so that few users reach all data.
        home: Home = Home::Fixed,
    }
}

plan_table! {
    /// sysbench OLTP. What is not here is as sysbench has it by default (sysbench 1.0.20, `oltp_common.lua`).
    #[schemars(rename = "Sysbench", extend("required" = ["script", "rows"]))]
    pub struct RawSysbench("a table such as { script = \"read_write\", rows = 100000 }") {
        /// What a transaction does, as sysbench's oltp_*.lua: `"read_write"`, `"read_only"`, `"write_only"` (transactions of
        /// several statements), `"point_select"`, `"update_index"`, `"update_non_index"`, `"insert"`, `"delete"` (one statement).
        script: Script,
        /// Number of tables, `sbtest1` and so on.
        tables: Whole<1, 1000> = 1,
        /// Rows of each table (sysbench: table_size). A row takes about 250 bytes. `--data-scale` multiplies it.
        rows: Whole<1, 1_000_000_000>,
        /// How ids are drawn (sysbench: rand-type).
        distribution: Distribution = Distribution::Special,
        /// Point selects in a transaction of read_write and read_only.
        point_selects: Whole<0, 1000> = 10,
        /// Ids that a range select of read_write and read_only covers.
        range_size: Whole<1, 1_000_000> = 100,
    }
}
