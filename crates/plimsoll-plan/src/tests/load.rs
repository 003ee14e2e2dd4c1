//! Loads of steps beyond a plain ladder: shared connections, rising rates, repeats, searches, preconditions, resets.

use super::*;
use crate::objective::{Objective, Quantile};
use crate::resolved::{LoadStep, Precondition, ResetMethod, ResetPolicy, Search};

fn with(step: &str) -> String {
    format!(
        "title = \"t\"\n[system.m]\nengine = \"mock\"\n[workload.w.tpcc]\nwarehouses = 1\n\
         [[step]]\nrun = \"w\"\nsystem = \"m\"\n{step}\n"
    )
}

fn step(text: &str) -> LoadStep {
    let plan = good(&with(text)).plan;
    survives(&plan);
    plan.load_steps().next().unwrap().clone()
}

#[test]
fn users_share_connections() {
    let points = step("users = [8, 15000]\nconnections = 64").points;
    let shared = LoadShape::Closed {
        users: 15_000,
        connections: 64,
    };
    assert_eq!(
        points,
        [LoadShape::closed(8), shared],
        "never more than users"
    );
}

#[test]
fn a_rate_rises() {
    let to = step("rate = 10\nrate_to = 250.5").points;
    assert!(
        matches!(
            to[..],
            [LoadShape::Open {
                per_second: 10.0,
                to_per_second: 250.5,
                ..
            }]
        ),
        "{to:?}"
    );
}

#[test]
fn a_search_has_one_objective() {
    let found =
        step("rate = 100\nrepeat = 3\nfind = { p99_ms = 2.5, of = \"new_order\", most = 9000 }");
    let limit = Nanos::from_secs_f64(0.0025);
    let objective = Objective {
        quantile: Quantile::P99,
        limit,
        of: Some("new_order".into()),
    };
    assert_eq!(
        (found.search, found.repeat),
        (
            Some(Search {
                objective,
                most: 9000.0,
                precision: 0.05,
                longest: Nanos::from_secs(300),
            }),
            3
        )
    );
    let by_users = step("users = 4\nfind = { mean_ms = 10, precision = 0.2 }")
        .search
        .unwrap();
    assert_eq!(
        (by_users.most, by_users.precision, by_users.objective.of),
        (10_000.0, 0.2, None)
    );
}

#[test]
fn preconditions_and_resets() {
    let wanted = step(
        "users = [4, 2]\nprecondition = { lasts = \"2h\" }\nreset = \"each_point\"\nreset_by = \"files\"",
    );
    let load = LoadShape::closed(4);
    assert_eq!(
        wanted.precondition,
        Some(Precondition {
            load,
            lasts: Nanos::from_secs(7200)
        })
    );
    assert_eq!(
        (wanted.reset, wanted.reset_by),
        (ResetPolicy::EachPoint, ResetMethod::Files)
    );
    let users = step("users = [4, 2]\nprecondition = { users = 32, lasts = \"2h\" }")
        .precondition
        .unwrap();
    assert_eq!(users.load, LoadShape::closed(32));
    assert_eq!(
        step("rate = [10, 30, 20]\nprecondition = { lasts = \"1s\" }")
            .precondition
            .unwrap()
            .load
            .users(),
        64
    );
}

#[test]
fn what_does_not_go_together() {
    for (text, fault) in cases(
        r#"
users = [1, 2] ; find = { p99_ms = 1 } => `find` cannot be combined with a ladder
users = 1 ; find = { of = "payment" } => `find` needs exactly one limit
users = 1 ; find = { p99_ms = 1, mean_ms = 1 } => `find` needs exactly one limit
users = 1 ; find = { p99_ms = 1, of = "payments" } => there is no transaction type `payments`
users = 5 ; find = { p99_ms = 1, most = 4 } => `most` cannot be 4
users = 5 ; find = { p99_ms = 1, longest = "5s" } => `longest` is shorter than `measure`, which is 1m
users = 5 ; find = { p99_ms = -1 } => `p99_ms` cannot be -1
users = 5 ; find = { p99_ms = 1, precision = 0 } => `precision` cannot be 0
rate = 5 ; connections = 3 => `connections` is not supported beside a `rate`
users = 5 ; rate_to = 3 => `rate_to` is not supported without a `rate`
rate = [1, 2] ; rate_to = 3 => `rate_to` needs a `rate` of one number
users = 5 ; repeat = 0 => `repeat` cannot be 0
users = 5 ; precondition = { users = 3 } => lasts
rate = 5 ; precondition = { users = 3, lasts = "1s" } => `users` of a precondition is not supported beside a `rate`
"#,
    ) {
        let message = bad(&with(&text.replace(" ; ", "\n")));
        assert!(message.contains(fault), "{text}: {message}");
    }
}

#[test]
fn sizes_of_memory_follow_the_data() {
    let plan = |engine: &str, more: &str| {
        format!(
            "title = \"t\"\n[medium.m]\npath = \".\"\n[system.s]\nengine = \"{engine}\"\n{more}\n\
             [workload.w.tpcc]\nwarehouses = 100\n[[step]]\nrun = \"w\"\nsystem = \"s\"\nusers = 1\n"
        )
    };
    let settings = |engine: &str, more: &str| {
        let text = plan(engine, more);
        let parsed = parse(&text, &scaled(1.0, 0.01)).unwrap_or_else(|errors| panic!("{errors:?}"));
        let SystemKind::Managed { settings, .. } = &parsed.plan.systems[0].kind else {
            panic!()
        };
        settings.clone()
    };
    let postgres = settings(
        "postgres",
        "scaled_settings = { shared_buffers = \"10GiB\", max_wal_size = \"1GiB\" }",
    );
    assert_eq!(
        (&*postgres["shared_buffers"], &*postgres["max_wal_size"]),
        ("102MB", "32MB")
    );
    let mariadb = settings(
        "mariadb",
        "scaled_settings = { innodb_buffer_pool_size = \"24GiB\" }",
    );
    assert_eq!(mariadb["innodb_buffer_pool_size"], "246M");
    for (more, fault) in cases(
        r#"
settings = { a = 1 } ; scaled_settings = { a = "1GiB" } => `a` is in `settings` too
scaled_settings = { a = 5 } => 5 has no unit
scaled_settings = { port = "1GiB" } => `port` cannot be set
settings = { archive_command = "cp %p x" } => the value starts a program
settings = { stats_temp_directory = "../notes" } => the value leads out of the server's directory
"#,
    ) {
        let message = bad(&plan("postgres", &more.replace(" ; ", "\n")));
        assert!(message.contains(fault), "{more}: {message}");
    }
    assert!(
        bad(&plan("sqlite", "scaled_settings = { a = \"1GiB\" }"))
            .contains("`scaled_settings` is not supported for sqlite")
    );
}

#[test]
fn estimates_count_repeats_preconditions_and_searches() {
    let of = |text: &str| {
        estimate(&good(&with(&format!("{text}\nramp = \"1s\"\nmeasure = \"9s\""))).plan)
    };
    let ladder = of("users = [1, 2]\nrepeat = 3\nprecondition = { lasts = \"1h\" }");
    assert_eq!((ladder.per_step[0].points, ladder.ladder_points()), (6, 6));
    assert_eq!(ladder.duration, Nanos::from_secs(3_600 + 60));
    let search = of("users = 4\nrepeat = 2\nfind = { mean_ms = 10 }");
    assert_eq!(
        (search.per_step[0].points, search.ladder_points()),
        (28, 0),
        "about fourteen loads"
    );
    assert_eq!(search.duration, Nanos::from_secs(280));
    let longest = search.per_step[0].longest_search;
    assert_eq!(longest, Some(Nanos::from_secs(31 * 2 * 301)));
    // 2,000 New-Orders at 45 a second, and 64 sessions that warm up; six times twice the rate.
    let open = of("rate = 100\nfind = { p99_ms = 20, of = \"new_order\" }");
    let loads = [7 + 49, 4 + 25, 2 + 13];
    let rest = 11 * 10;
    assert_eq!(
        open.duration,
        Nanos::from_secs(loads.iter().sum::<u64>() + rest)
    );
}

#[test]
fn several_systems_are_one_by_name_and_many_by_instance() {
    let plan = |count: &str, step: &str| {
        with(step).replace("engine = \"mock\"", &format!("engine = \"mock\"\n{count}"))
    };
    let several = good(&plan("count = 3", "users = 1")).plan;
    assert_eq!(several.systems[0].instances(), ["m-1", "m-2", "m-3"]);
    survives(&several);
    assert_eq!(good(&with("users = 1")).plan.systems[0].instances(), ["m"]);
    let message = |text: &str| parse(text, &Options::default()).unwrap_err().to_string();
    assert!(
        message(&plan("count = 2", "users = 1\nfind = { p99_ms = 1 }"))
            .contains("`find` takes a single system, and there are 2")
    );
    assert!(message(&plan("count = 65", "users = 1")).contains("`count` cannot be 65"));
    let twin = format!(
        "{}[system.m-2]\nengine = \"mock\"\n",
        plan("count = 2", "users = 1")
    );
    assert!(
        message(&twin).contains("`m-2` is an instance of `m`"),
        "{}",
        message(&twin)
    );
}

#[test]
fn limits_are_scaled_with_the_data_and_read_back() {
    let text = with("users = 1").replace(
        "engine = \"mock\"",
        "engine = \"postgres\"\nlimits = { cpus = 1.5, cpu_set = \"0-1,3\", memory = \"8GiB\", read_bytes = \"100MB\", \
         writes = 500, without = \"warn\" }",
    ) + "[medium.here]\npath = \".\"\n";
    let plan = good(&text).plan;
    let limits = &plan.systems[0].limits;
    assert_eq!(
        (limits.cpus, limits.cpu_set.as_str(), limits.memory),
        (Some(1.5), "0-1,3", Some(Bytes(8 << 30)))
    );
    assert_eq!(
        (limits.io.read_bytes, limits.io.writes, limits.io.reads),
        (Some(Bytes(100_000_000)), Some(500), None)
    );
    survives(&plan);
    let small = parse(&text, &scaled(1.0, 0.001)).unwrap().plan;
    assert_eq!(
        small.systems[0].limits.memory,
        Some(Bytes::mib(512)),
        "a server needs some"
    );
    let message = |limits: &str| {
        let text = with("users = 1").replace(
            "engine = \"mock\"",
            &format!("engine = \"mock\"\nlimits = {{ {limits} }}"),
        );
        parse(&text, &Options::default()).unwrap_err().to_string()
    };
    assert!(message("cpus = 1").contains("`limits` is not supported for mock"));
    assert!(message("cpu_set = \"3-1\"").contains("no list of CPUs"));
    assert!(message("memory = \"1MiB\"").contains("too little for mock"));
}
