//! The peers that are measured where they are installed.

use std::path::Path;

use super::super::server::{Kind, Server};
use super::benchbase::BenchBase;
use super::gotpc;
use super::hammerdb::HammerDb;
use crate::exec::Task;

pub struct InstalledPeers {
    pub go_tpc: bool,
    pub hammerdb: Option<HammerDb>,
    pub benchbase: Option<BenchBase>,
}

impl InstalledPeers {
    /// Prints which are not. Their scripts and results go to `work`.
    pub fn find(kind: Kind, work: &Path) -> Task<Self> {
        let found = Self {
            go_tpc: gotpc::is_installed(),
            hammerdb: HammerDb::find(work)?,
            benchbase: BenchBase::find(kind, work)?,
        };
        let name = kind.name();
        if !found.go_tpc {
            println!("go-tpc: not measured; it is not installed");
        }
        if found.hammerdb.is_none() {
            println!("HammerDB: not measured; it is not installed (HAMMERDB=FOLDER)");
        }
        if found.benchbase.is_none() {
            println!(
                "BenchBase: not measured; it is not installed (BENCHBASE=FOLDER), or has no driver for {name}"
            );
        }
        Ok(found)
    }

    pub fn has_one_over_tcp(&self) -> bool {
        self.go_tpc || self.benchbase.is_some()
    }

    pub fn prepare(&self, server: &Server, warehouses: u32) -> Task {
        if self.has_one_over_tcp() && server.kind() != Kind::Postgres {
            server.sql("CREATE USER tcp@'127.0.0.1'; GRANT ALL ON *.* TO tcp@'127.0.0.1'")?;
        }
        if self.go_tpc {
            gotpc::prepare(server, warehouses)?;
        }
        if let Some(hammerdb) = &self.hammerdb {
            hammerdb.prepare(server, warehouses)?;
        }
        if let Some(benchbase) = &self.benchbase {
            benchbase.prepare(server, warehouses)?;
        }
        Ok(())
    }
}
