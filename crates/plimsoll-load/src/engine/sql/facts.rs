//! What a server is, and how many rows its tables have.

use std::collections::BTreeMap;

use plimsoll_plan::resolved::redact;
use plimsoll_plan::units::Bytes;

use super::SqlClient;
use crate::engine::server::target::{ServerFacts, Target};
use crate::error::LoadError;

/// Passwords in settings are replaced by `***`.
pub(crate) fn facts(target: &Target) -> Result<ServerFacts, LoadError> {
    const DOING: &str = "asking the server about itself";
    let dialect = target.dialect();
    let mut client = target.connect()?;
    let about = client.row(DOING, dialect.about)?;
    let mut settings = Vec::new();
    for (i, sql) in dialect.settings.iter().enumerate() {
        let rows = match client.rows(DOING, &dialect.of_schema(sql, &target.schema)) {
            Err(LoadError::Refused { .. } | LoadError::Other { .. }) if i > 0 => continue,
            answer => answer?,
        };
        for row in rows {
            let value = row.text(1).unwrap_or_default();
            let name: String = row.get(0)?;
            let value = without_secret(&name, value);
            settings.push((name, value));
        }
    }
    settings.sort();
    Ok(ServerFacts {
        version: about.get(0)?,
        settings,
        database_size: Bytes(about.get(1)?),
    })
}

/// The value of a setting; `***` where its name is one of a secret.
fn without_secret(name: &str, value: &str) -> String {
    let assignment = format!("{name}=");
    let is_secret =
        !value.is_empty() && redact(&format!("{assignment}x")) != format!("{assignment}x");
    if is_secret {
        "***".to_owned()
    } else {
        redact(value)
    }
}

/// How many rows each table has, in one snapshot.
pub(crate) fn row_counts(target: &Target) -> Result<BTreeMap<String, u64>, LoadError> {
    let dialect = target.dialect();
    let mut client = target.open("The workload's")?;
    let tables = dialect.of_schema(dialect.tables, &target.schema);
    count_rows(client.as_mut(), dialect.snapshot, &tables, dialect.quote)
}

/// `snapshot` begins the transaction, `tables` lists names.
pub(crate) fn count_rows(
    client: &mut (impl SqlClient + ?Sized),
    snapshot: &str,
    tables: &str,
    quote: char,
) -> Result<BTreeMap<String, u64>, LoadError> {
    const DOING: &str = "counting rows";
    client.execute(DOING, snapshot)?;
    let mut counts = BTreeMap::new();
    for name in client
        .rows(DOING, tables)?
        .into_iter()
        .flat_map(|row| row.into_texts())
    {
        let quoted = name.replace(quote, &format!("{quote}{quote}"));
        let count = format!("SELECT count(*) FROM {quote}{quoted}{quote}");
        counts.insert(name, client.row(DOING, &count)?.get(0)?);
    }
    Ok(counts)
}
