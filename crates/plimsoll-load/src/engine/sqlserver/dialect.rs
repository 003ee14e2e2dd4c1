//! SQL Server's SQL (T-SQL).

use super::client::SqlserverClient;
use super::connect::check_url;
use crate::engine::sql::guard::{self, Use};
use crate::engine::sql::{Boolean, CatalogTypes, Dialect, OldestServer, Scripts, SqlClient};
use crate::error::LoadError;
use crate::workload::statement::TableSyntax;

pub(crate) static TABLE_SYNTAX: TableSyntax = TableSyntax {
    id: "INTEGER NOT NULL IDENTITY(1, 1)",
    table_options: "",
    integer: "bigint",
    length: "len",
    next_id: None,
};

pub static DIALECT: Dialect = Dialect {
    table_syntax: &TABLE_SYNTAX,
    connect: |conninfo| Ok(Box::new(SqlserverClient::connect(conninfo)?)),
    check_url,
    try_lock: |client, schema, purpose| lock(client, schema, purpose),
    unlock: UNLOCK,
    quote: '"',
    escapes: false,
    schema_exists: "SELECT 1 FROM sys.databases WHERE name = {schema}",
    create_schema: "CREATE DATABASE {name}",
    drop_schema: "DROP DATABASE {name}",
    made_schema: None,
    use_schema: "USE {name}",
    // A plain table is that which its name alone means to this user. Nothing of a schema has an owner of its own.
    relations: "SELECT name, CASE WHEN type = 'U' AND object_id = OBJECT_ID(QUOTENAME(name)) THEN 1 ELSE 0 END, '', 1
        FROM {name}.sys.objects WHERE type IN ('U', 'V', 'SN') ORDER BY 1",
    columns: "SELECT o.name, c.name, t.name FROM {name}.sys.columns c
        JOIN {name}.sys.objects o ON o.object_id = c.object_id JOIN {name}.sys.types t ON t.user_type_id = c.user_type_id
        WHERE o.type = 'U' ORDER BY o.name, c.column_id",
    routines: "SELECT name, 1, '', 1 FROM {name}.sys.objects
        WHERE type IN ('P', 'PC', 'X', 'FN', 'IF', 'TF') AND name LIKE 'plimsoll%' ORDER BY 1",
    // Babelfish has no such view of the catalog, and itself refuses to drop what a view needs.
    dependents: &[
        "SELECT OBJECT_NAME(referenced_object_id), CONCAT('foreign key ', name, ' of ', OBJECT_NAME(parent_object_id))
        FROM sys.foreign_keys ORDER BY 1, 2",
        "IF @@VERSION NOT LIKE '%Babelfish%' EXEC('SELECT DISTINCT OBJECT_NAME(d.referenced_id), CONCAT(''view '', v.name)
        FROM sys.sql_expression_dependencies d JOIN sys.views v ON v.object_id = d.referencing_id
        WHERE OBJECT_NAME(d.referenced_id) IS NOT NULL ORDER BY 1, 2')",
    ],
    catalog_types: CatalogTypes {
        integer: "int",
        text: "varchar",
        boolean: "bit",
        timestamp: "datetime2",
    },
    lock_tables: |tables| {
        let locks = tables
            .iter()
            .map(|table| format!("SELECT TOP 1 1 FROM {table} WITH (TABLOCKX, HOLDLOCK)"));
        locks.collect::<Vec<_>>().join("; ")
    },
    tables: "SELECT name FROM {name}.sys.objects WHERE type = 'U'",
    table_sizes: "SELECT o.name, CAST(COALESCE(SUM(p.reserved_page_count), 0) * 8192 AS bigint)
        FROM {name}.sys.objects o LEFT JOIN {name}.sys.dm_db_partition_stats p ON p.object_id = o.object_id
        WHERE o.type = 'U' GROUP BY o.name",
    shares_schemas: false,
    transactional_tables: true,
    boolean: Boolean {
        kind: "bit",
        no: "0",
        yes: "1",
    },
    timestamp: "datetime2(6)",
    now: "SYSUTCDATETIME()",
    now_micros: "SELECT DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME())",
    // There is no way to end only what a session is doing.
    cancel: "KILL {id}",
    connection_id: None,
    connection_limits: &[],
    pooler_name: |_, _| None,
    // Babelfish has no such command.
    analyze: "IF @@VERSION NOT LIKE '%Babelfish%' EXEC('UPDATE STATISTICS {table}')",
    // Behind the largest id that there is. Babelfish has no such command, and counts from 1.
    continue_ids: Some(
        "IF @@VERSION NOT LIKE '%Babelfish%' EXEC('DBCC CHECKIDENT (''{table}'', RESEED) WITH NO_INFOMSGS')",
    ),
    check_setup: "SET NOCOUNT OFF",
    // count is an integer, which order lines of 7,000 warehouses overflow.
    words: &[(" AS TEXT)", " AS varchar(40))"), ("count(*)", "count_big(*)")],
    snapshot: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN TRANSACTION",
    version: "SELECT CASE WHEN @@VERSION LIKE '%Babelfish%' THEN 'Babelfish'
        ELSE CONCAT('SQL Server ', CAST(SERVERPROPERTY('ProductVersion') AS varchar(40))) END",
    // 2016: DROP … IF EXISTS, DATEDIFF_BIG.
    oldest: OldestServer {
        product: "SQL Server",
        major: 13,
        minor: 0,
        stand_in: Some("Babelfish"),
    },
    about: "SELECT CASE WHEN @@VERSION LIKE '%Babelfish%' THEN 'Babelfish, not a SQL Server' ELSE
        CONCAT('SQL Server ', CAST(SERVERPROPERTY('ProductVersion') AS varchar(40)), ', ',
            CAST(SERVERPROPERTY('Edition') AS varchar(80))) END,
        (SELECT CAST(COALESCE(SUM(CAST(size AS bigint)), 0) * 8192 AS bigint) FROM sys.master_files)",
    settings: &[
        "SELECT name, CAST(value_in_use AS varchar(100)) FROM sys.configurations WHERE name IN (
            'cost threshold for parallelism', 'lightweight pooling', 'max degree of parallelism',
            'max server memory (MB)', 'max worker threads', 'min server memory (MB)', 'optimize for ad hoc workloads',
            'priority boost', 'recovery interval (min)', 'user connections') ORDER BY name",
        // A database that is to be made will be as `model` is.
        "SELECT v.name, v.value FROM sys.databases d CROSS APPLY (VALUES
            ('compatibility_level', CAST(d.compatibility_level AS varchar(100))),
            ('collation_name', CAST(d.collation_name AS varchar(100))),
            ('delayed_durability', CAST(d.delayed_durability_desc AS varchar(100))),
            ('is_encrypted', CAST(d.is_encrypted AS varchar(100))),
            ('is_read_committed_snapshot_on', CAST(d.is_read_committed_snapshot_on AS varchar(100))),
            ('page_verify_option', CAST(d.page_verify_option_desc AS varchar(100))),
            ('recovery_model', CAST(d.recovery_model_desc AS varchar(100))),
            ('snapshot_isolation', CAST(d.snapshot_isolation_state_desc AS varchar(100))),
            ('target_recovery_time_in_seconds', CAST(d.target_recovery_time_in_seconds AS varchar(100)))
          ) AS v (name, value)
          WHERE v.value IS NOT NULL AND d.name = CASE WHEN DB_ID({schema}) IS NULL THEN 'model' ELSE {schema} END",
        "SELECT 'instant_file_initialization', CAST(instant_file_initialization_enabled AS varchar(1))
          FROM sys.dm_server_services WHERE servicename LIKE 'SQL Server (%'",
    ],
    scripts: Scripts {
        clustered: true,
        table_options: "",
        indexes: include_str!("sql/indexes.sql"),
        procedures: include_str!("sql/procedures.sql"),
        separator: "\n$$\n",
        // The server's default collation, as whoever makes a database by hand has it.
        schema_options: "",
    },
};

/// Locks are those of the database in which they are taken: `master` is there before the schema is.
const UNLOCK: &str = "EXEC master.sys.sp_releaseapplock @Resource = {schema}, @LockOwner = 'Session', @DbPrincipal = 'public'";

/// One row with 1 if the lock was free.
pub(super) fn try_lock(schema: &str, purpose: Use) -> String {
    let mode = match purpose {
        Use::Load => "Exclusive",
        Use::Keep => "Shared",
    };
    let schema = DIALECT.literal(schema);
    format!(
        "DECLARE @got int; \
         EXEC @got = master.sys.sp_getapplock @Resource = {schema}, @LockMode = '{mode}', @LockOwner = 'Session', \
         @LockTimeout = 0, @DbPrincipal = 'public'; \
         SELECT CASE WHEN @got >= 0 THEN 1 ELSE 0 END"
    )
}

fn lock(client: &mut dyn SqlClient, schema: &str, purpose: Use) -> Result<bool, LoadError> {
    let row = client.row(&guard::what(schema), &try_lock(schema, purpose))?;
    Ok(row.flag(0))
}
