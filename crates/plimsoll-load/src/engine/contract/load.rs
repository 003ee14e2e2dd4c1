//! Loading: complete, used again, begun again, never over the user's tables.

use super::*;
use crate::engine::sql::guard::{self, Use};
use crate::scratch::wait_until;

const OTHER: Workload = Workload::Tpcc(Tpcc {
    warehouses: 1,
    ..TPCC
});

pub fn complete_and_used_again(engine: Engine) {
    let shared = Shared::get(engine);
    let _turn = shared.turn();
    let place = shared.place();
    let again = place.load(
        &Workload::Tpcc(TPCC),
        IfOther::Refuse,
        &LoadControl::default(),
    );
    assert_eq!(again.unwrap(), Loaded::Reused);
    place.assert_consistent();
    let mut client = place.client();
    for (table, expected) in [
        ("item", 100_000),
        ("stock", 200_000),
        ("customer", 60_000),
        ("warehouse", 2),
    ] {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(client.number(&count), expected, "{table}");
    }
    let least = engine.amount(100);
    let most = engine.amount(10_000);
    let item = format!(
        "SELECT count(*) FROM item WHERE i_price BETWEEN {least} AND {most} AND {}(i_name) BETWEEN 14 AND 24",
        engine.length()
    );
    assert_eq!(client.number(&item), 100_000);
    let age = engine.age("c_since");
    let since = format!("SELECT count(*) FROM customer WHERE {age} BETWEEN 0 AND 3600");
    assert_eq!(client.number(&since), 60_000);
    let indexes = match engine {
        Engine::Sqlite => {
            "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        }
        Engine::Server(kind) => server_sql(kind).count_indexes,
    };
    let expected = if engine == Engine::Sqlite { 4 } else { 10 };
    assert_eq!(client.number(indexes), expected);
}

pub fn schema_in_use(kind: ServerKind) {
    let shared = Shared::get(Engine::Server(kind));
    let _turn = shared.turn();
    let place = shared.place();
    let target = shared.target();
    let dialect = target.dialect();
    let replace = |how| {
        place
            .load(&OTHER, how, &LoadControl::default())
            .unwrap_err()
    };
    let error = replace(IfOther::Refuse);
    assert!(matches!(&error, LoadError::Occupied { .. }), "{error}");
    let removal = format!("plimsoll clean URL --schema {MANAGED_SCHEMA}");
    let message = error.to_string();
    assert!(
        message.contains("2 warehouses, seed 42") && message.ends_with(&removal),
        "{message}"
    );
    // Known before a run begins, and only of data that are in the way.
    let checked = target.check_usable(&OTHER, SEED).unwrap_err();
    assert_eq!(checked.to_string(), message);
    target.check_usable(&Workload::Tpcc(TPCC), SEED).unwrap();
    let session = shared.user(TxnMode::Statements);
    let error = replace(IfOther::Replace).to_string();
    assert!(
        error.contains("another plimsoll is loading, measuring"),
        "{error}"
    );
    drop(session);
    let mut loader = place.client();
    guard::take(loader.0.as_mut(), dialect, MANAGED_SCHEMA, Use::Load).unwrap();
    for &mode in shared.engine.modes() {
        let refused = User::open(&place.opener(&tpcc(mode)), 0).err().unwrap();
        let refused = refused.to_string();
        assert!(
            refused.contains("another plimsoll is loading it"),
            "{refused}"
        );
    }
    assert!(place.check(CheckedData::Tpcc).is_err());
    drop(loader);
    place.assert_consistent();
}

/// Cancels a load when some rows are in.
pub fn cancel(place: &Place, workload: &Workload) {
    let control = LoadControl::default();
    std::thread::scope(|scope| {
        let loading = scope.spawn(|| place.load(workload, IfOther::Refuse, &control));
        assert!(wait_until(60, || control.done() > 10_000));
        control.cancel();
        let end = loading.join().unwrap();
        assert!(matches!(end, Err(LoadError::Cancelled)), "{end:?}");
    });
    assert!(control.done() < control.total());
}

pub fn cut_off(kind: ServerKind) {
    let shared = Shared::get(Engine::Server(kind));
    let place = shared.other(server_sql(kind).odd_schema);
    cancel(&place, &OTHER);
    let again = place.load(&OTHER, IfOther::Refuse, &LoadControl::default());
    assert_eq!(again.unwrap(), Loaded::Fresh);
    place.assert_consistent();
    foreign_tables_are_left_alone(&shared);
}

/// An existing server whose tables are not plimsoll's.
fn foreign_tables_are_left_alone(shared: &Shared) {
    let theirs = shared.other("theirs");
    let nowhere = shared.other("nowhere");
    let mut client = shared.place().client();
    shared.create_schema(&mut client, "theirs");
    let mut client = theirs.client();
    client.execute("CREATE TABLE stock (x integer)");
    client.execute("INSERT INTO stock VALUES (1)");
    let error = theirs
        .load(&OTHER, IfOther::Replace, &LoadControl::default())
        .unwrap_err();
    assert!(
        matches!(&error, LoadError::Foreign { what, .. } if what.contains("stock")),
        "{error}"
    );
    assert_eq!(client.number("SELECT count(*) FROM stock"), 1);
    for place in [theirs, nowhere] {
        let error = place.check(CheckedData::Tpcc).unwrap_err();
        assert!(matches!(error, LoadError::Missing { .. }), "{error}");
        for &mode in shared.engine.modes() {
            let error = User::open(&place.opener(&tpcc(mode)), 0).err().unwrap();
            assert!(matches!(error, LoadError::Missing { .. }), "{error}");
        }
    }
}
