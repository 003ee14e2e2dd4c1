//! Rows that are broken or missing do not pass.

use plimsoll_record::message::CheckDetail;

use super::*;
use crate::workload::tpcc::rows::TpccTable;

pub fn broken_row_is_named(engine: Engine) {
    let shared = Shared::get(engine);
    let _turn = shared.turn();
    let place = shared.place();
    let mut client = place.client();
    let cent = engine.amount(1);
    let touch = |sign: char| {
        format!("UPDATE district SET d_ytd = d_ytd {sign} {cent} WHERE d_w_id = 2 AND d_id = 4")
    };
    client.execute(&touch('+'));
    let results = place.check(CheckedData::Tpcc).unwrap();
    assert_eq!(failing(&results), ["3.3.2.1", "3.3.2.9"]);
    let district = results.iter().rfind(|result| !result.holds).unwrap();
    assert!(
        matches!(&district.detail, CheckDetail::Fails { key, .. } if key == "w_id=2, d_id=4"),
        "{district:?}"
    );
    client.execute(&touch('-'));
    place.assert_consistent();
}

pub fn emptied_tables(kind: ServerKind) {
    let shared = Shared::get(Engine::Server(kind));
    let _turn = shared.turn();
    let place = shared.other("part");
    let mut client = shared.place().client();
    let marker = shared.qualified("part", "plimsoll_load");
    let copy_table = server_sql(kind).copy_table;
    if copy_table.is_some() {
        shared.create_schema(&mut client, "part");
        client.execute(&format!(
            "CREATE TABLE {marker} AS SELECT * FROM plimsoll_load"
        ));
    } else {
        let workload = Workload::Tpcc(TPCC);
        let loaded = place.load(&workload, IfOther::Replace, &LoadControl::default());
        loaded.unwrap();
    }
    for name in TpccTable::ALL.iter().map(|table| table.name()) {
        let empty = shared.qualified("part", name);
        client.execute(&match copy_table {
            Some(copy) => copy.replace("{copy}", &empty).replace("{name}", name),
            None => format!("DELETE FROM {empty}"),
        });
    }
    let results = place.check(CheckedData::Tpcc).unwrap();
    assert_eq!(failing(&results).len(), 12);
    for result in results {
        let CheckDetail::RowsMissing { tables, .. } = &result.detail else {
            panic!("{result:?}");
        };
        let stock = tables.iter().find(|table| table.table == "stock").unwrap();
        assert_eq!((stock.rows, stock.expected), (0, 200_000));
    }
    for (change, searched) in [
        (
            format!("UPDATE {marker} SET state = 'started'"),
            "only started",
        ),
        (format!("DELETE FROM {marker}"), "is empty"),
    ] {
        client.execute(&change);
        let error = place.check(CheckedData::Tpcc).unwrap_err();
        assert!(
            matches!(&error, LoadError::Missing { .. }) && error.to_string().contains(searched),
            "{error}"
        );
    }
    if let Some(drop) = server_sql(kind).drop_part {
        client.execute(drop);
    }
}
