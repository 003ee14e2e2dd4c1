//! Which objects of a schema are plimsoll's, and their removal.
//!
//! A name proves nothing. A load is plimsoll's if its marker is a plain table of the schema, owned by the connected role or
//! a role that it is a member of, with exactly the marker's columns and one row; its tables and procedures are those that
//! the marker stands for, of the same owner and with the columns that plimsoll makes. Everything else is another's.

use std::collections::BTreeMap;

use super::client::{ServerClient, TextRow};
use super::dialect::Dialect;
use super::marker::{FINISHED, MarkerTable, STARTED};
use crate::engine::server::target::Target;
use crate::error::LoadError;

const INSPECTING: &str = "inspecting the schema";
const REMOVING: &str = "removing plimsoll's tables";

/// A table, view or procedure, as the server's catalog shows it.
struct CatalogObject {
    name: String,
    /// A table that holds its own rows: no view, foreign table, partition or synonym, and no marker with rules or triggers.
    is_plain: bool,
    owner: String,
    /// Whether its owner is the connected role, or a role that it is a member of.
    is_member: bool,
}

#[derive(PartialEq, Eq)]
struct CatalogColumn {
    name: String,
    kind: String,
}

/// What is in a schema.
pub(super) struct Catalog<'a> {
    target: &'a Target,
    relations: Vec<CatalogObject>,
    columns: BTreeMap<String, Vec<CatalogColumn>>,
    procedures: Vec<CatalogObject>,
}

/// What a load of plimsoll's made and is still there, proved by its marker.
#[derive(Debug, Clone)]
pub(super) struct ProvenLoad {
    pub marker: &'static MarkerTable,
    /// `None` where the marker is empty, which proves only itself.
    pub row: Option<TextRow>,
    /// Beside the marker.
    pub tables: Vec<String>,
    pub procedures: Vec<String>,
}

impl ProvenLoad {
    /// All of its tables, the marker last: what is cut off half-way is still known as plimsoll's.
    pub fn all_tables(&self) -> impl Iterator<Item = &str> {
        let tables = self.tables.iter().map(String::as_str);
        tables.chain([self.marker.name])
    }
}

impl<'a> Catalog<'a> {
    pub fn read(target: &'a Target, client: &mut dyn ServerClient) -> Result<Self, LoadError> {
        let dialect = target.dialect();
        let mut rows = |text: &str| {
            let sql = dialect.of_schema(text, &target.schema);
            client.rows(INSPECTING, &sql)
        };
        let mut columns: BTreeMap<String, Vec<CatalogColumn>> = BTreeMap::new();
        for row in rows(dialect.columns)? {
            let column = CatalogColumn {
                name: row.get(1)?,
                kind: row.get(2)?,
            };
            columns.entry(row.get(0)?).or_default().push(column);
        }
        Ok(Self {
            target,
            relations: objects(&rows(dialect.relations)?)?,
            columns,
            procedures: objects(&rows(dialect.routines)?)?,
        })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.relations.iter().map(|relation| relation.name.as_str())
    }

    fn relation(&self, name: &str) -> Option<&CatalogObject> {
        self.relations.iter().find(|object| object.name == name)
    }

    /// What the load with this marker made. `None` where nothing has the marker's name; an error where anything has a name
    /// of the load's and is not plimsoll's.
    pub fn prove(
        &self,
        client: &mut dyn ServerClient,
        marker: &'static MarkerTable,
    ) -> Result<Option<ProvenLoad>, LoadError> {
        let Some(object) = self.relation(marker.name) else {
            return Ok(None);
        };
        self.prove_object("Table", object, &object.owner)?;
        let expected = marker.catalog_columns(self.target.dialect());
        let found = self.columns.get(marker.name);
        let found = found.into_iter().flatten().map(CatalogColumn::as_pair);
        if !found.eq(expected.iter().map(|(name, kind)| (*name, *kind))) {
            return Err(self.foreign("Table", marker.name, "its columns are others"));
        }
        let row = self.marker_row(client, marker)?;
        let mut load = ProvenLoad {
            marker,
            tables: Vec::new(),
            procedures: Vec::new(),
            row,
        };
        if let Some(row) = &load.row {
            load.tables = (marker.tables)(row)?;
            load.tables.retain(|name| self.relation(name).is_some());
            for name in &load.tables {
                self.prove_table(name, (marker.columns_of)(name), &object.owner)?;
            }
            for procedure in self.named_procedures(marker) {
                self.prove_object("Procedure", procedure, &object.owner)?;
                load.procedures.push(procedure.name.clone());
            }
        }
        Ok(Some(load))
    }

    /// An error where a procedure has a name of plimsoll's and no marker proves it.
    pub fn refuse_procedures(&self, marker: &MarkerTable) -> Result<(), LoadError> {
        let Some(procedure) = self.named_procedures(marker).next() else {
            return Ok(());
        };
        let why = format!("the schema has no table {} that lists it", marker.name);
        Err(self.foreign("Procedure", &procedure.name, &why))
    }

    fn named_procedures(&self, marker: &MarkerTable) -> impl Iterator<Item = &CatalogObject> {
        let names = marker.procedures;
        self.procedures
            .iter()
            .filter(move |procedure| names.contains(&procedure.name.as_str()))
    }

    fn prove_object(
        &self,
        kind: &str,
        object: &CatalogObject,
        owner: &str,
    ) -> Result<(), LoadError> {
        if !object.is_plain {
            let why = "it is a view, foreign table, partition or synonym, or has rules or triggers, or tables inherit from it";
            return Err(self.foreign(kind, &object.name, why));
        }
        if object.owner != owner || !object.is_member {
            let owner = &object.owner;
            let why = format!("it belongs to the role {owner}");
            return Err(LoadError::Unproven {
                what: format!("{kind} {} in schema {}", object.name, self.target.schema),
                why,
                next: format!(
                    "Connect as {owner} or a member of it, or name another schema (in the plan, or bench --schema NAME)."
                ),
            });
        }
        Ok(())
    }

    fn prove_table(&self, name: &str, columns: &[&str], owner: &str) -> Result<(), LoadError> {
        if let Some(object) = self.relation(name) {
            self.prove_object("Table", object, owner)?;
        }
        let found = self.columns.get(name);
        let found = found.into_iter().flatten().map(|column| &column.name);
        if !found.eq(columns) {
            return Err(self.foreign("Table", name, "its columns are others"));
        }
        Ok(())
    }

    fn marker_row(
        &self,
        client: &mut dyn ServerClient,
        marker: &MarkerTable,
    ) -> Result<Option<TextRow>, LoadError> {
        let sql = marker.select(self.target.dialect());
        let mut rows = client.rows("inspecting the loaded data", &sql)?;
        if rows.len() > 1 {
            let why = format!("it has {} rows, and plimsoll writes one", rows.len());
            return Err(self.foreign("Table", marker.name, &why));
        }
        let row = rows.pop();
        let is_ours = |row: &TextRow| matches!(row.text(1), Some(STARTED | FINISHED));
        if row.as_ref().is_some_and(|row| !is_ours(row)) {
            let why = "its row is not one that plimsoll writes";
            return Err(self.foreign("Table", marker.name, why));
        }
        Ok(row)
    }

    fn foreign(&self, kind: &str, name: &str, why: &str) -> LoadError {
        LoadError::Unproven {
            what: format!("{kind} {name} in schema {}", self.target.schema),
            why: why.into(),
            next: "Name another schema, connect as its owner, or rename it.".into(),
        }
    }
}

impl CatalogColumn {
    fn as_pair(&self) -> (&str, &str) {
        (&self.name, &self.kind)
    }
}

fn objects(rows: &[TextRow]) -> Result<Vec<CatalogObject>, LoadError> {
    rows.iter()
        .map(|row| {
            Ok(CatalogObject {
                name: row.get(0)?,
                is_plain: row.flag(1),
                owner: row.text(2).unwrap_or_default().into(),
                is_member: row.flag(3),
            })
        })
        .collect()
}

/// Drops what these loads made and nothing else. The tables are locked, then proved once more, so that nobody can exchange
/// them in between. Within the caller's transaction where tables are transactional; elsewhere the marker goes last.
pub(super) fn remove(
    target: &Target,
    client: &mut dyn ServerClient,
    loads: &[ProvenLoad],
) -> Result<(), LoadError> {
    let dialect = target.dialect();
    let has_procedures = loads.iter().any(|load| !load.procedures.is_empty());
    // A server without such transactions drops no procedure while tables are locked.
    if has_procedures {
        execute_all(client, &dialect.scripts.drop_procedures())?;
    }
    let tables: Vec<&str> = loads.iter().flat_map(ProvenLoad::all_tables).collect();
    client.execute(REMOVING, &(dialect.lock_tables)(&tables))?;
    let catalog = Catalog::read(target, client)?;
    for load in loads {
        let again = catalog.prove(client, load.marker)?;
        if again.is_none_or(|again| {
            (again.row, again.tables) != (load.row.clone(), load.tables.clone())
        }) {
            let why = "somebody else changes it now\nTry again.";
            return Err(LoadError::other(format!("schema {}", target.schema), why));
        }
    }
    refuse_dependents(target, client, &tables)?;
    for load in loads {
        execute_all(client, &removal(load))?;
    }
    if !dialect.transactional_tables {
        client.execute(REMOVING, "UNLOCK TABLES")?;
    }
    Ok(())
}

fn execute_all(client: &mut dyn ServerClient, statements: &[String]) -> Result<(), LoadError> {
    statements
        .iter()
        .try_for_each(|sql| client.execute(REMOVING, sql))
}

fn removal(load: &ProvenLoad) -> Vec<String> {
    let mut statements = vec![load.marker.unfinished()];
    if !load.tables.is_empty() {
        statements.push(format!("DROP TABLE {}", load.tables.join(", ")));
    }
    statements.push(format!("DROP TABLE {}", load.marker.name));
    statements
}

/// Views and foreign keys that need these tables are another's, and would be lost or in the way.
fn refuse_dependents(
    target: &Target,
    client: &mut dyn ServerClient,
    tables: &[&str],
) -> Result<(), LoadError> {
    let dialect: &Dialect = target.dialect();
    let mut dependents = Vec::new();
    for text in dialect.dependents {
        let rows = client.rows(INSPECTING, &dialect.of_schema(text, &target.schema))?;
        for row in rows {
            let table: String = row.get(0)?;
            if tables.contains(&table.as_str()) {
                dependents.push(format!("{} needs table {table}", row.get::<String>(1)?));
            }
        }
    }
    dependents.dedup();
    let Some(first) = dependents.first() else {
        return Ok(());
    };
    let more = match dependents.len() - 1 {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    Err(LoadError::Unsupported {
        what: format!("remove plimsoll's tables from schema {}", target.schema),
        why: format!("{first}{more}"),
        next: "Drop what needs them first, or name another schema.".into(),
    })
}
