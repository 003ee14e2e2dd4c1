//! `plimsoll check`: the consistency conditions on a database that exists.

use std::path::Path;
use std::process::ExitCode;

use plimsoll_load::engine::CheckedData;
use plimsoll_load::engine::ConditionResult;
use plimsoll_load::system::Instance;
use plimsoll_plan::resolved::{Secret, ServerKind, SystemKind};

use super::print;
use crate::cli::{CheckArgs, Format};
use crate::failure::Failure;

pub fn check(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let instance = if args.database.contains("://") {
        let Some(engine) = ServerKind::of_url(&args.database) else {
            let known: Vec<&str> = ServerKind::ALL
                .iter()
                .map(|server| server.example_url())
                .collect();
            let why = format!(
                "this is not the URL of a server that plimsoll knows\nWrite it as {}",
                known.join(" or ")
            );
            return Err(Failure::usage(why));
        };
        let url = Secret::new(&args.database);
        let schema = args.schema.clone();
        Instance::start(
            &SystemKind::Existing {
                engine,
                url,
                schema,
            },
            None,
            None,
        )?
    } else {
        Instance::existing_sqlite(Path::new(&args.database))?
    };
    let verdicts = instance.check(CheckedData::Tpcc)?;
    print(&render(&verdicts, args.format))?;
    let failed = verdicts.iter().filter(|verdict| !verdict.holds).count();
    if failed == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::run(format!(
        "{failed} of {} consistency conditions do not hold\nDo not quote figures measured on this database.",
        verdicts.len()
    )))
}

fn render(verdicts: &[ConditionResult], format: Format) -> String {
    match format {
        Format::Table => {
            let line = |v: &ConditionResult| {
                format!(
                    "{:<9} {:<6} {}",
                    v.clause,
                    if v.holds { "holds" } else { "FAILS" },
                    v.statement()
                )
            };
            verdicts.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        Format::Json => {
            let row = |v: &ConditionResult| serde_json::json!({ "clause": v.clause, "holds": v.holds, "detail": v.detail });
            serde_json::json!(verdicts.iter().map(row).collect::<Vec<_>>()).to_string()
        }
        Format::Csv => {
            let row = |v: &ConditionResult| {
                format!(
                    "{},{},\"{}\"",
                    v.clause,
                    v.holds,
                    v.detail.replace('"', "\"\"")
                )
            };
            let rows = verdicts.iter().map(row);
            std::iter::once("clause,holds,detail".to_owned())
                .chain(rows)
                .collect::<Vec<_>>()
                .join("\n")
        }
    }
}
