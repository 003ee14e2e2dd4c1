//! PostgreSQL's SQL.

use super::client::PostgresClient;
use crate::engine::sql::guard::{self, Use};
use crate::engine::sql::{Dialect, OldestServer, STANDARD_BOOLEAN, Scripts, SqlClient};
use crate::error::LoadError;
use crate::workload::sysbench::sql::SysbenchDialect;

pub static DIALECT: Dialect = Dialect {
    sysbench: SysbenchDialect::Postgres,
    connect: |conninfo| Ok(Box::new(PostgresClient::connect(conninfo)?)),
    try_lock: |client, schema, purpose| lock(client, schema, purpose),
    unlock: "SELECT pg_advisory_unlock(hashtext('plimsoll'), hashtext({schema}))",
    quote: '"',
    escapes: false,
    schema_exists: "SELECT FROM pg_namespace WHERE nspname = {schema}",
    create_schema: "CREATE SCHEMA {name}",
    use_schema: "SET search_path TO {name}",
    prefix: "{name}.",
    relations: "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
        WHERE nspname = {schema} ORDER BY 1",
    tables: "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
        WHERE nspname = {schema} AND relkind = 'r'",
    table_sizes: "SELECT relname, pg_total_relation_size(c.oid) FROM pg_class c
        JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = {schema} AND relkind = 'r'",
    shares_schemas: true,
    transactional_tables: true,
    boolean: STANDARD_BOOLEAN,
    timestamp: "timestamptz",
    now: "now()",
    now_micros: "SELECT (extract(epoch FROM now()) * 1000000)::bigint",
    cancel: "SELECT pg_cancel_backend({id})",
    // Sets hint bits and the visibility map now, which would otherwise be work during the measurement.
    analyze: "VACUUM ANALYZE {table}",
    continue_ids: Some("SELECT setval(pg_get_serial_sequence('{table}', 'id'), {rows})"),
    // Every condition reads its tables as a whole. The planner takes a GROUP BY over three correlated columns for one
    // row, and would then run the other side of the join once for each row: hours instead of seconds. Compiling the
    // queries takes longer than they run on a few warehouses.
    check_setup: "SET enable_nestloop = off; SET jit = off",
    words: &[],
    snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    version: "SELECT 'PostgreSQL ' || current_setting('server_version')",
    // Wait events.
    oldest: OldestServer {
        product: "PostgreSQL",
        major: 10,
        minor: 0,
        stand_in: None,
    },
    about: "SELECT version(), pg_database_size(current_database())",
    // The session's own settings (`client`, `session`) are not the server's.
    settings: &["SELECT name, current_setting(name) FROM pg_settings
        WHERE source NOT IN ('default', 'override', 'client', 'session')
           OR name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method', 'data_checksums')
        ORDER BY name"],
    scripts: Scripts {
        clustered: false,
        table_options: "",
        indexes: include_str!("sql/indexes.sql"),
        procedures: include_str!("sql/procedures.sql"),
        // All of them are one request.
        separator: "\0",
        schema_options: "",
    },
};

/// Makes unqualified names mean this schema's, and no other's.
pub(super) fn search_path(schema: &str) -> String {
    DIALECT.of_schema(DIALECT.use_schema, schema)
}

/// An advisory lock.
pub(super) fn try_lock(schema: &str, purpose: Use) -> String {
    let suffix = match purpose {
        Use::Load => "",
        Use::Keep => "_shared",
    };
    let schema = DIALECT.literal(schema);
    format!("SELECT pg_try_advisory_lock{suffix}(hashtext('plimsoll'), hashtext({schema}))")
}

fn lock(client: &mut dyn SqlClient, schema: &str, purpose: Use) -> Result<bool, LoadError> {
    let row = client.row(&guard::what(schema), &try_lock(schema, purpose))?;
    Ok(row.flag(0))
}
