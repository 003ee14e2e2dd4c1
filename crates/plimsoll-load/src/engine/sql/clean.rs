//! Removing from a schema what plimsoll's loads made there, which their markers prove, and nothing else.

use plimsoll_plan::units::Bytes;

use super::data_set::MarkerTable;
use super::guard::{self, Use};
use super::{Dialect, ServerClient, TextRow, sysbench, tpcc};
use crate::engine::server::target::{CreatedTables, Target};
use crate::error::LoadError;

/// What a load of plimsoll's made.
struct Made {
    marker: &'static MarkerTable,
    /// Beside the marker.
    tables: Vec<String>,
    procedures: bool,
}

/// The tables of plimsoll's in the schema; none where there is no such schema.
pub(crate) fn list(target: &Target) -> Result<CreatedTables, LoadError> {
    let mut client = target.connect()?;
    if !target.exists(client.as_mut())? {
        return Ok(CreatedTables::default());
    }
    let mut client = target.open("plimsoll's")?;
    let made = made(target, client.as_mut())?;
    created(target, client.as_mut(), &made)
}

/// Removes them, with their procedures. The schema stays: it may be somebody else's. Refused while any plimsoll uses it.
pub(crate) fn clean(target: &Target) -> Result<CreatedTables, LoadError> {
    if list(target)?.names.is_empty() {
        return Ok(CreatedTables::default());
    }
    let dialect = target.dialect();
    let mut client = target.open("plimsoll's")?;
    guard::take(client.as_mut(), dialect, &target.schema, Use::Load)?;
    let made = made(target, client.as_mut())?;
    let created = created(target, client.as_mut(), &made)?;
    for load in &made {
        for sql in load.removal(dialect) {
            client.execute("removing plimsoll's tables", &sql)?;
        }
    }
    guard::release(client.as_mut(), dialect, &target.schema)?;
    Ok(created)
}

fn created(
    target: &Target,
    client: &mut dyn ServerClient,
    made: &[Made],
) -> Result<CreatedTables, LoadError> {
    let all = made.iter().flat_map(|load| {
        let marker = load.marker.name.to_owned();
        load.tables.iter().cloned().chain([marker])
    });
    let names: Vec<String> = all.collect();
    let dialect = target.dialect();
    let sizes = dialect.of_schema(dialect.table_sizes, &target.schema);
    let size = match client.rows("measuring plimsoll's tables", &sizes) {
        Ok(rows) => Some(size_of(&names, rows)?),
        Err(LoadError::Refused { .. } | LoadError::Other { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(CreatedTables { names, size })
}

/// Of those of the tables that have these names.
fn size_of(names: &[String], rows: Vec<TextRow>) -> Result<Bytes, LoadError> {
    let mut size = 0;
    for row in rows {
        let is_own = |name: &str| names.iter().any(|own| own == name);
        if row.text(0).is_some_and(is_own) {
            size += row.get::<u64>(1)?;
        }
    }
    Ok(Bytes(size))
}

fn made(target: &Target, client: &mut dyn ServerClient) -> Result<Vec<Made>, LoadError> {
    let there = target.relations(client)?;
    let has = |name: &str| there.iter().any(|other| other == name);
    let mut made = Vec::new();
    if has(tpcc::MARKER) {
        made.push(Made {
            marker: &tpcc::MARKER_TABLE,
            tables: tpcc::tables()
                .filter(|name| has(name))
                .map(str::to_owned)
                .collect(),
            procedures: true,
        });
    }
    if has(sysbench::MARKER) {
        let sql = sysbench::MARKER_TABLE.select(target.dialect());
        let marker = client.rows("inspecting the loaded data", &sql)?;
        let mut tables = sysbench::made(marker.first())?;
        tables.retain(|name| has(name));
        made.push(Made {
            marker: &sysbench::MARKER_TABLE,
            tables,
            procedures: false,
        });
    }
    Ok(made)
}

impl Made {
    /// The marker goes last: what is cut off half-way is still known as plimsoll's.
    fn removal(&self, dialect: &Dialect) -> Vec<String> {
        let mut statements = vec![self.marker.unfinished()];
        if self.procedures {
            statements.extend(dialect.scripts.drop_procedures());
        }
        if !self.tables.is_empty() {
            statements.push(format!("DROP TABLE {}", self.tables.join(", ")));
        }
        statements.push(format!("DROP TABLE {}", self.marker.name));
        statements
    }
}
