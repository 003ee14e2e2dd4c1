//! `plimsoll check`: the consistency conditions on a database that exists.

use std::path::Path;
use std::process::ExitCode;

use plimsoll_load::engine::CheckedData;
use plimsoll_load::engine::ConditionResult;
use plimsoll_load::system::Instance;
use plimsoll_plan::resolved::{Secret, ServerKind, SystemKind};

use super::io::print;
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
        Format::Table => verdicts
            .iter()
            .map(|verdict| {
                format!(
                    "{:<9} {:<6} {}",
                    verdict.clause,
                    if verdict.holds { "holds" } else { "FAILS" },
                    verdict.statement()
                )
            })
            .collect::<Vec<_>>()
            .join("\n"),
        Format::Json => serde_json::Value::from_iter(verdicts.iter().map(|verdict| {
            serde_json::json!({
                "clause": verdict.clause,
                "holds": verdict.holds,
                "detail": verdict.detail,
            })
        }))
        .to_string(),
        Format::Csv => {
            let rows = verdicts.iter().map(|verdict| {
                format!(
                    "{},{},\"{}\"",
                    verdict.clause,
                    verdict.holds,
                    verdict.detail.replace('"', "\"\"")
                )
            });
            std::iter::once("clause,holds,detail".to_owned())
                .chain(rows)
                .collect::<Vec<_>>()
                .join("\n")
        }
    }
}
