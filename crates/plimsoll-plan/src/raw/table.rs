//! Tables of a plan, each declared once: a key with its type, default and help, and the tables that lack it.

use std::ops::Range;

use crate::findings::Findings;

/// Kinds of tables that lack some of the keys of their type. The texts end "`key` is not supported …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum TableKind {
    #[strum(to_string = "for a load on a system")]
    LoadStep,
    #[strum(to_string = "for a block workload")]
    BlockStep,
    #[strum(to_string = "for a backup workload")]
    BackupStep,
    #[strum(to_string = "without a `rate`")]
    ClosedLoop,
    #[strum(to_string = "beside a `rate`")]
    OpenLoop,
    #[strum(to_string = "for load")]
    LoadNoise,
    #[strum(to_string = "for a backup")]
    BackupNoise,
    #[strum(to_string = "without a `drive`")]
    WithoutDrive,
    #[strum(to_string = "beside a `device`")]
    Device,
    #[strum(to_string = "for sqlite")]
    Sqlite,
    #[strum(to_string = "for mock")]
    Mock,
    #[strum(to_string = "for a server that plimsoll starts")]
    Managed,
    #[strum(to_string = "for an existing server")]
    Existing,
    #[strum(to_string = "for SQLite")]
    SimulatedMachine,
    #[strum(to_string = "beside a `fio_job`")]
    FioJob,
    #[strum(to_string = "beside streams")]
    Streams,
}

/// A key of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableKey {
    pub name: &'static str,
    /// What to do about it in a table that lacks it; `None`: the table has it.
    pub refusal: Option<&'static str>,
}

/// A table that [`plan_table`] declares.
pub trait PlanTable {
    /// "expected …", for what is no such table.
    const EXPECTED: &'static str;

    /// All keys of the type, as a table of this kind has them.
    fn keys(kind: TableKind) -> Vec<TableKey>;

    /// Where they are written, in the same order.
    fn spans(&self) -> Vec<Option<Range<usize>>>;

    /// Reports the keys that are written although tables of this kind lack them.
    fn refuse(&self, kind: TableKind, findings: &mut Findings<'_>) {
        self.refuse_unless(|_| false, kind, findings);
    }

    /// The same, but for keys whose value is what such tables have anyway.
    fn refuse_unless(
        &self,
        is_harmless: impl Fn(&str) -> bool,
        kind: TableKind,
        findings: &mut Findings<'_>,
    ) {
        for (key, span) in Self::keys(kind).into_iter().zip(self.spans()) {
            if let (Some(help), Some(span)) = (key.refusal, span)
                && !is_harmless(key.name)
            {
                let message = format!("`{}` is not supported {kind}", key.name);
                findings.error(span, message, help);
            }
        }
    }
}

/// Declares a table. Each key becomes a field, with the default also a method that gives the value; bounds are part of
/// its type. `#[refused(KIND => HELP)]` names tables that lack the key.
macro_rules! plan_table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident($expecting:literal) {
            $(
                $(#[doc = $doc:literal])*
                $(#[refused($($kind:pat => $help:expr),+)])?
                $key:ident: $type:ty $(= $default:expr)?,
            )*
        }
    ) => {
        #[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields, expecting = $expecting)]
        $(#[$meta])*
        pub struct $name {
            $(
                $(#[doc = $doc])*
                $(#[schemars(extend("default" = <$type as $crate::value::PlanValue>::written($default)))])?
                pub $key: Option<$crate::value::At<$type>>,
            )*
        }

        impl $name {
            $($(
                #[allow(dead_code, reason = "the stream of a job gives the values of keys that the job has")]
                #[doc = concat!("Value of `", stringify!($key), "`, or its default.")]
                pub fn $key(&self) -> <$type as $crate::value::PlanValue>::Resolved {
                    $crate::value::OptionalKey::value(&self.$key).unwrap_or($default)
                }
            )?)*
        }

        impl $crate::raw::PlanTable for $name {
            const EXPECTED: &'static str = $expecting;

            fn keys(kind: $crate::raw::TableKind) -> Vec<$crate::raw::TableKey> {
                vec![$($crate::raw::TableKey {
                    name: stringify!($key),
                    refusal: match kind {
                        $($($kind => Some($help),)+)?
                        _ => None,
                    },
                }),*]
            }

            fn spans(&self) -> Vec<Option<std::ops::Range<usize>>> {
                vec![$(self.$key.as_ref().map($crate::value::At::span)),*]
            }
        }
    };
}
pub(crate) use plan_table;
