//! `plimsoll check`: the consistency conditions on a database that exists.

use std::path::Path;
use std::process::ExitCode;

use plimsoll_load::engine::CheckedData;
use plimsoll_load::engine::ConditionResult;
use plimsoll_load::system::Instance;
use plimsoll_plan::resolved::{Secret, ServerKind, SystemKind};
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::Words;

use super::io::print;
use super::table::render;
use crate::cli::CheckArgs;
use crate::execute::{check_route, expect_answer};
use crate::failure::Failure;

pub fn check(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let instance = if args.database.contains("://") {
        existing(&args.database, &args.schema)?
    } else {
        Instance::existing_sqlite(Path::new(&args.database))?
    };
    let verdicts = instance.check(CheckedData::Tpcc)?;
    print(&render(&table(), verdicts.iter().collect(), args.format))?;
    let failed = verdicts.iter().filter(|verdict| !verdict.holds).count();
    if failed == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::run(format!(
        "{failed} of {} consistency conditions do not hold\nDo not quote figures measured on this database.",
        verdicts.len()
    )))
}

/// The server of a URL.
pub(super) fn existing(url: &str, schema: &str) -> Result<Instance, Failure> {
    let Some(engine) = ServerKind::of_url(url) else {
        let known: Vec<&str> = ServerKind::ALL
            .iter()
            .map(|server| server.example_url())
            .collect();
        return Err(Failure::usage(format!(
            "this is not the URL of a server that plimsoll knows\nWrite it as {}",
            known.join(" or ")
        )));
    };
    let kind = SystemKind::Existing {
        engine,
        url: Secret::new(url),
        schema: schema.to_owned(),
        change_tables: false,
    };
    let url = Instance::start(&kind, None, None)?.check_url();
    url.map_err(|error| Failure::usage(error.to_string()))?;
    expect_answer(&kind)?;
    check_route(&kind, 0)?;
    Ok(Instance::start(&kind, None, None)?)
}

pub fn table<'a>() -> Table<'a, &'a ConditionResult> {
    Table::<&ConditionResult>::new("conditions")
        .prefix("conditions-")
        .column("clause", Words, |own| own.clause)
        .key("clause")
        .field("holds", |own| own.holds)
        .message("result", Words, |own, m| {
            m.text(if own.holds {
                "conditions-holds"
            } else {
                "conditions-fails"
            })
        })
        .message("condition", Words, |own, m| {
            m.check(own.clause, &own.detail)
        })
        .message_field("detail", |own, m| {
            format!("{}: {}", own.clause, m.check(own.clause, &own.detail))
        })
}

#[cfg(test)]
mod tests {
    use plimsoll_load::workload::tpcc::consistency::CONDITIONS;
    use plimsoll_record::message::CheckDetail;
    use plimsoll_report::message::Messages;

    #[test]
    fn every_condition_is_in_the_catalog() {
        for condition in CONDITIONS {
            let text = Messages::english().check(condition.clause, &CheckDetail::Holds);
            assert!(
                text.len() > "$condition holds".len() && !text.contains('$'),
                "{text}"
            );
        }
    }
}
