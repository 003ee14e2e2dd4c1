//! PostgreSQL's SQL.

use super::address::parse;
use super::client::PostgresClient;
use super::pooler::pooler_name;
use crate::engine::sql::guard::{self, Use};
use crate::engine::sql::{
    CatalogTypes, Dialect, OldestServer, STANDARD_BOOLEAN, Scripts, SqlClient,
};
use crate::error::LoadError;
use crate::workload::statement::TableSyntax;

pub(crate) static TABLE_SYNTAX: TableSyntax = TableSyntax {
    id: "SERIAL",
    table_options: "",
    integer: "bigint",
    length: "length",
    next_id: None,
};

pub static DIALECT: Dialect = Dialect {
    table_syntax: &TABLE_SYNTAX,
    connect: |conninfo| Ok(Box::new(PostgresClient::connect(conninfo)?)),
    check_url: |conninfo| parse(conninfo).map(drop),
    try_lock: |client, schema, purpose| lock(client, schema, purpose),
    unlock: "SELECT pg_advisory_unlock(hashtext('plimsoll'), hashtext({schema}))",
    quote: '"',
    escapes: false,
    schema_exists: "SELECT FROM pg_namespace WHERE nspname = {schema}",
    create_schema: "CREATE SCHEMA {name}; COMMENT ON SCHEMA {name} IS 'made by plimsoll'",
    drop_schema: "DROP SCHEMA {name}",
    made_schema: Some("SELECT 1 FROM pg_namespace n WHERE n.nspname = {schema}
        AND obj_description(n.oid, 'pg_namespace') = 'made by plimsoll'"),
    // Temporary tables come last, which would otherwise hide others.
    use_schema: "SET search_path TO {name}, pg_temp",
    // A change of a table is one of the tables that inherit from it, too.
    relations: "WITH RECURSIVE roles AS (SELECT oid FROM pg_roles WHERE rolname = current_user
            UNION SELECT m.roleid FROM pg_auth_members m JOIN roles r ON r.oid = m.member)
        SELECT c.relname,
            CASE WHEN c.relkind = 'r' AND NOT c.relispartition
                AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid) AND NOT (c.relname LIKE 'plimsoll%'
                AND (c.relhastriggers OR c.relhasrules OR c.relrowsecurity)) THEN 1 ELSE 0 END,
            pg_get_userbyid(c.relowner), CASE WHEN c.relowner IN (SELECT oid FROM roles) THEN 1 ELSE 0 END
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = {schema} ORDER BY 1",
    columns: "SELECT c.relname, a.attname, format_type(a.atttypid, NULL)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = {schema} AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY 1, a.attnum",
    routines: "WITH RECURSIVE roles AS (SELECT oid FROM pg_roles WHERE rolname = current_user
            UNION SELECT m.roleid FROM pg_auth_members m JOIN roles r ON r.oid = m.member)
        SELECT p.proname, 1, pg_get_userbyid(p.proowner),
            CASE WHEN p.proowner IN (SELECT oid FROM roles) THEN 1 ELSE 0 END
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = {schema} AND p.proname LIKE 'plimsoll%' ORDER BY 1",
    // Views and rules, foreign keys. Triggers, policies, publications, and sequences that no column takes its values from
    // would go with the table without a word.
    dependents: &["SELECT DISTINCT t.relname, CASE WHEN w.oid IS NULL
            THEN pg_describe_object(d.classid, d.objid, d.objsubid)
            ELSE pg_describe_object('pg_class'::regclass, w.ev_class, 0) END
        FROM pg_depend d JOIN pg_class t ON t.oid = d.refobjid JOIN pg_namespace n ON n.oid = t.relnamespace
        LEFT JOIN pg_rewrite w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
        LEFT JOIN pg_class s ON d.classid = 'pg_class'::regclass AND s.oid = d.objid AND s.relkind = 'S'
        WHERE d.refclassid = 'pg_class'::regclass AND n.nspname = {schema} AND t.relkind = 'r'
            AND (d.deptype = 'n' AND (d.classid IN ('pg_constraint'::regclass, 'pg_class'::regclass)
                    OR d.classid = 'pg_rewrite'::regclass AND w.ev_class <> t.oid)
                OR d.deptype = 'a' AND (d.classid IN ('pg_trigger'::regclass, 'pg_policy'::regclass,
                        'pg_publication_rel'::regclass)
                    OR s.oid IS NOT NULL AND NOT EXISTS (SELECT FROM pg_depend u JOIN pg_attrdef f ON f.oid = u.objid
                        WHERE u.classid = 'pg_attrdef'::regclass AND u.refobjid = s.oid AND f.adrelid = t.oid)))
        ORDER BY 1, 2"],
    catalog_types: CatalogTypes {
        integer: "integer",
        text: "character varying",
        boolean: "boolean",
        timestamp: "timestamp with time zone",
    },
    lock_tables: |tables| format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", tables.join(", ")),
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
    connection_id: Some("SELECT pg_catalog.pg_backend_pid()"),
    // Superusers are under no limit but the first.
    connection_limits: &["SELECT 'max_connections', pg_catalog.current_setting('max_connections')::bigint
            - CASE WHEN r.rolsuper THEN 0 ELSE pg_catalog.current_setting('superuser_reserved_connections')::bigint
                + coalesce(pg_catalog.current_setting('reserved_connections', true), '0')::bigint END,
            (SELECT pg_catalog.sum(numbackends) FROM pg_catalog.pg_stat_database)
        FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
        UNION ALL SELECT 'the connection limit of role ' || r.rolname, r.rolconnlimit,
            (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity a WHERE a.usesysid = r.oid)
        FROM pg_catalog.pg_roles r WHERE r.rolname = session_user AND r.rolconnlimit >= 0 AND NOT r.rolsuper
        UNION ALL SELECT 'the connection limit of database ' || d.datname, d.datconnlimit,
            (SELECT s.numbackends FROM pg_catalog.pg_stat_database s WHERE s.datid = d.oid)
        FROM pg_catalog.pg_database d, pg_catalog.pg_roles r
        WHERE d.datname = pg_catalog.current_database() AND d.datconnlimit >= 0 AND r.rolname = current_user
            AND NOT r.rolsuper"],
    pooler_name: |conninfo, _| pooler_name(conninfo),
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
