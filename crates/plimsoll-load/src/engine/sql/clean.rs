//! Removing from a schema what plimsoll's loads made there, which their markers prove, and nothing else.

use plimsoll_plan::units::Bytes;

use super::guard::{self, Use};
use super::ownership::{Catalog, ProvenLoad, remove};
use super::{ServerClient, TextRow, sysbench, tpcc};
use crate::engine::server::target::{CreatedTables, LeftSchema, Target};
use crate::error::LoadError;

const DOING: &str = "removing plimsoll's tables";

/// The tables of plimsoll's in the schema; none where there is no such schema.
pub(crate) fn list(target: &Target) -> Result<CreatedTables, LoadError> {
    let mut client = target.connect()?;
    if !target.exists(client.as_mut())? {
        return Ok(CreatedTables::default());
    }
    let mut client = target.open("plimsoll's")?;
    let loads = proven(target, client.as_mut())?;
    created(target, client.as_mut(), &loads)
}

/// Removes them, with their procedures: all or nothing where the server can. The schema goes only where it is empty and
/// plimsoll's mark on it proves that a load made it. Refused while any plimsoll uses it.
pub(crate) fn clean(target: &Target) -> Result<CreatedTables, LoadError> {
    let mut created = list(target)?;
    if !created.names.is_empty() {
        created = clean_by(target, target.open("plimsoll's")?.as_mut())?;
    }
    created.schema = leave_schema(target)?;
    Ok(created)
}

fn leave_schema(target: &Target) -> Result<LeftSchema, LoadError> {
    let dialect = target.dialect();
    let mut client = target.connect()?;
    let client = client.as_mut();
    if !target.exists(client)? || !target.relations(client)?.is_empty() {
        return Ok(LeftSchema::Used);
    }
    let drop = dialect.of_schema(dialect.drop_schema, &target.schema);
    let Some(made) = dialect.made_schema else {
        return Ok(LeftSchema::Empty { drop });
    };
    if client
        .rows(DOING, &dialect.of_schema(made, &target.schema))?
        .is_empty()
    {
        return Ok(LeftSchema::Empty { drop });
    }
    guard::take(client, dialect, &target.schema, Use::Load)?;
    match client.execute(DOING, &drop) {
        Ok(()) => Ok(LeftSchema::Removed),
        // It holds what is no table, or belongs to somebody else.
        Err(
            LoadError::Other { .. } | LoadError::Unsupported { .. } | LoadError::Refused { .. },
        ) => Ok(LeftSchema::Used),
        Err(error) => Err(error),
    }
}

/// Of the client's schema, by its connection.
pub(crate) fn clean_by(
    target: &Target,
    client: &mut dyn ServerClient,
) -> Result<CreatedTables, LoadError> {
    let dialect = target.dialect();
    guard::take(client, dialect, &target.schema, Use::Load)?;
    let loads = proven(target, client)?;
    let created = created(target, client, &loads)?;
    if dialect.transactional_tables {
        client.execute(DOING, "BEGIN TRANSACTION")?;
    }
    remove(target, client, &loads)?;
    if dialect.transactional_tables {
        client.execute(DOING, "COMMIT")?;
    }
    guard::release(client, dialect, &target.schema)?;
    Ok(created)
}

fn created(
    target: &Target,
    client: &mut dyn ServerClient,
    loads: &[ProvenLoad],
) -> Result<CreatedTables, LoadError> {
    let names = loads.iter().flat_map(ProvenLoad::all_tables);
    let names: Vec<String> = names.map(str::to_owned).collect();
    let dialect = target.dialect();
    let sizes = dialect.of_schema(dialect.table_sizes, &target.schema);
    let size = match client.rows("measuring plimsoll's tables", &sizes) {
        Ok(rows) => Some(size_of(&names, rows)?),
        Err(LoadError::Refused { .. } | LoadError::Other { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(CreatedTables {
        names,
        size,
        schema: LeftSchema::Used,
    })
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

fn proven(target: &Target, client: &mut dyn ServerClient) -> Result<Vec<ProvenLoad>, LoadError> {
    let catalog = Catalog::read(target, client)?;
    let mut loads = Vec::new();
    for marker in [&tpcc::MARKER_TABLE, &sysbench::MARKER_TABLE] {
        loads.extend(catalog.prove(client, marker)?);
    }
    Ok(loads)
}
