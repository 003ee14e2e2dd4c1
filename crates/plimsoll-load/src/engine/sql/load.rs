//! Loading a data set into a server's schema: tables, bulk copy over several connections, then indexes, then statistics.
//!
//! A marker table records what was loaded. It is there before all other tables, or with them in one transaction, so a
//! load that was cut off is known as plimsoll's own and begins again; other tables are the user's and are left alone.

use plimsoll_plan::resolved::Workload;

use super::bulk::{self, BulkJob};
use super::data_set::{Contents, DataSet, DataSetState};
use super::guard::{self, Use};
use super::marker::FINISHED;
use super::ownership::{Catalog, ProvenLoad, remove};
use super::sysbench::SysbenchData;
use super::tpcc::TpccData;
use super::{Dialect, ServerClient, sysbench, tpcc, version};
use crate::engine::server::target::{IfOther, Target};
use crate::engine::{LoadControl, Loaded};
use crate::error::LoadError;

/// Loads the workload's data set into the target's schema, which is created when it is missing. What an unfinished load
/// of plimsoll left there is replaced, and a finished one unless it is of this very data set or `if_other` forbids it.
/// Refused while any plimsoll uses the schema.
pub(crate) fn load(
    target: &Target,
    workload: &Workload,
    seed: u64,
    if_other: IfOther,
    control: &LoadControl,
) -> Result<Loaded, LoadError> {
    load_by(target, workload, seed, if_other, control, target.connect()?)
}

/// As [`load`]; everything but rows, indexes and statistics is done by the connection `main`.
pub(crate) fn load_by(
    target: &Target,
    workload: &Workload,
    seed: u64,
    if_other: IfOther,
    control: &LoadControl,
    main: Box<dyn ServerClient>,
) -> Result<Loaded, LoadError> {
    let data = data_set(workload, seed);
    let load = Load {
        target,
        data: data.as_ref(),
        control,
        main,
    };
    load.run(if_other)
}

/// Refuses a server or schema that [`load`] would refuse, and writes nothing.
pub(crate) fn check_usable(
    target: &Target,
    workload: &Workload,
    seed: u64,
) -> Result<(), LoadError> {
    let data = data_set(workload, seed);
    let load = Load {
        target,
        data: data.as_ref(),
        control: &LoadControl::default(),
        main: target.connect()?,
    };
    load.check_usable()
}

fn data_set<'a>(workload: &'a Workload, seed: u64) -> Box<dyn DataSet + 'a> {
    match workload {
        Workload::Tpcc(tpcc) => Box::new(TpccData::new(tpcc, seed)),
        Workload::Sysbench(sysbench) => Box::new(SysbenchData::new(sysbench, seed)),
    }
}

/// Makes the next [`load`] begin anew although its data are there.
pub(crate) fn forget(target: &Target) -> Result<(), LoadError> {
    let doing = guard::what(&target.schema);
    let mut client = target.open("The workload's")?;
    guard::take(client.as_mut(), target.dialect(), &target.schema, Use::Load)?;
    let catalog = Catalog::read(target, client.as_mut())?;
    for marker in [&tpcc::MARKER_TABLE, &sysbench::MARKER_TABLE] {
        if catalog.prove(client.as_mut(), marker)?.is_some() {
            client.execute(&doing, &marker.unfinished())?;
        }
    }
    Ok(())
}

struct Load<'a> {
    target: &'a Target,
    data: &'a dyn DataSet,
    control: &'a LoadControl,
    /// Held for the lock, the marker, and cancelling.
    main: Box<dyn ServerClient>,
}

impl<'a> Load<'a> {
    fn run(mut self, if_other: IfOther) -> Result<Loaded, LoadError> {
        let dialect = self.dialect();
        let schema = &self.target.schema;
        self.take_schema()?;
        let contents = self.contents()?;
        let loaded = match self.data.classify(&contents, dialect)? {
            DataSetState::Foreign => {
                self.verify_foreign(&contents)?;
                Loaded::Reused
            }
            DataSetState::Same => {
                self.execute_all("using the loaded data again", &self.data.reuse(dialect))?;
                Loaded::Reused
            }
            DataSetState::Other(holds) if if_other == IfOther::Refuse => {
                return Err(self.occupied(holds));
            }
            DataSetState::Nothing | DataSetState::Stale | DataSetState::Other(_) => {
                self.fresh(contents.load)?
            }
        };
        guard::release(self.main.as_mut(), dialect, schema)?;
        Ok(loaded)
    }

    fn check_usable(mut self) -> Result<(), LoadError> {
        let dialect = self.dialect();
        let client = self.main.as_mut();
        let row = client.row("asking the server for its version", dialect.version)?;
        let version: String = row.get(0)?;
        version::check(&version, dialect.oldest, self.target.engine)?;
        if !self.target.exists(client)? {
            return Ok(());
        }
        let schema = &self.target.schema;
        let sql = dialect.of_schema(dialect.use_schema, schema);
        client.execute(&guard::what(schema), &sql)?;
        let contents = self.contents()?;
        match self.data.classify(&contents, dialect)? {
            DataSetState::Other(holds) => Err(self.occupied(holds)),
            DataSetState::Foreign => self.verify_foreign(&contents),
            DataSetState::Nothing | DataSetState::Same | DataSetState::Stale => Ok(()),
        }
    }

    fn dialect(&self) -> &'static Dialect {
        self.target.dialect()
    }

    fn execute_all(&mut self, doing: &str, statements: &[String]) -> Result<(), LoadError> {
        statements
            .iter()
            .try_for_each(|sql| self.main.execute(doing, sql))
    }

    /// Makes the schema if need be, and keeps other plimsolls out of it until this connection ends.
    fn take_schema(&mut self) -> Result<(), LoadError> {
        let dialect = self.dialect();
        let schema = self.target.schema.as_str();
        let doing = guard::what(schema);
        guard::take(self.main.as_mut(), dialect, schema, Use::Load)?;
        if !self.target.exists(self.main.as_mut())? {
            let create = dialect.of_schema(dialect.create_schema, schema);
            let options = self.data.schema_options(dialect);
            self.main.execute(&doing, &format!("{create}{options}"))?;
        }
        let sql = dialect.of_schema(dialect.use_schema, schema);
        self.main.execute(&doing, &sql)
    }

    /// What is in the schema; an error where anything has a name of the data set's marker or procedures and is not
    /// plimsoll's.
    fn contents(&mut self) -> Result<Contents<'a>, LoadError> {
        let marker = self.data.marker();
        let client = self.main.as_mut();
        let catalog = Catalog::read(self.target, client)?;
        let load = catalog.prove(client, marker)?;
        if load.is_none() {
            catalog.refuse_procedures(marker)?;
        }
        Ok(Contents {
            schema: &self.target.schema,
            names: catalog.names().map(str::to_owned).collect(),
            load,
        })
    }

    fn verify_foreign(&mut self, contents: &Contents<'_>) -> Result<(), LoadError> {
        let client = self.main.as_mut();
        self.data.verify_foreign(contents, client, self.control)?;
        if self.data.writes() && !self.target.changes_tables {
            return Err(changes_foreign(contents.schema));
        }
        Ok(())
    }

    fn occupied(&self, holds: String) -> LoadError {
        let schema = &self.target.schema;
        LoadError::Occupied {
            what: format!("Schema {schema}"),
            holds,
            next: format!(
                "Name another schema (in the plan, or bench --schema NAME), or remove this data: plimsoll clean URL --schema {schema}"
            ),
        }
    }

    /// Drops the tables that an earlier load made, and makes and fills those of this one.
    fn fresh(&mut self, earlier: Option<ProvenLoad>) -> Result<Loaded, LoadError> {
        let dialect = self.dialect();
        let marker = self.data.marker();
        self.control.start(self.data.rows());
        self.create(earlier)?;
        let now = self
            .main
            .row("asking for the time", dialect.now_micros)?
            .get(0)?;
        self.share_out(
            self.data
                .parts(now)
                .into_iter()
                .map(BulkJob::Fill)
                .collect(),
        )?;
        for round in self.data.rounds(dialect) {
            self.share_out(round.into_iter().map(BulkJob::Run).collect())?;
        }
        self.execute_all("creating procedures", &self.data.finish(dialect))?;
        let name = marker.name;
        let now = dialect.now;
        let finished = format!("UPDATE {name} SET state = '{}', since = {now}", FINISHED);
        self.main.execute("finishing the load", &finished)?;
        Ok(Loaded::Fresh)
    }

    fn share_out(&mut self, jobs: Vec<BulkJob>) -> Result<(), LoadError> {
        bulk::share_out(self.target, &jobs, self.main.as_mut(), self.control)
    }

    /// The marker, then empty tables; before them what an earlier load left is dropped. Where each statement is a
    /// transaction of its own, a marker shows as long as there is a table of plimsoll's that it is, and unfinished.
    fn create(&mut self, earlier: Option<ProvenLoad>) -> Result<(), LoadError> {
        const CREATING: &str = "creating tables";
        let dialect = self.dialect();
        if dialect.transactional_tables {
            self.main.execute(CREATING, "BEGIN TRANSACTION")?;
        }
        if let Some(mut load) = earlier {
            // They are replaced at the end.
            load.procedures.clear();
            remove(self.target, self.main.as_mut(), &[load])?;
        }
        let marker = self.data.marker();
        let values = self.data.marker_values(dialect);
        let now = dialect.now;
        let mut statements = vec![
            marker.create(dialect),
            format!("INSERT INTO {} VALUES ({values}, {now})", marker.name),
        ];
        statements.extend(self.data.tables(dialect));
        if dialect.transactional_tables {
            statements.push("COMMIT".into());
        }
        self.execute_all(CREATING, &statements)
    }
}

/// Tables of others are changed only with permission that names their schema.
fn changes_foreign(schema: &str) -> LoadError {
    LoadError::Unproven {
        what: format!("The tables sbtest… in schema {schema}"),
        why: format!(
            "this script changes rows, and there is no table {} to show that plimsoll made them",
            sysbench::MARKER
        ),
        next: format!(
            "Use a script that only reads, name another schema, or permit it in the plan's system: change_tables = \"{schema}\""
        ),
    }
}
