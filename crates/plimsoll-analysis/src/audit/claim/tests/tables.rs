//! Published tables as typed in: two with known faults, and one without.

use super::*;

/// Rules that fired, with the place, in the order in which they are listed.
fn fired_codes(text: &str) -> Vec<String> {
    let audit = PublishedClaim::parse(text)
        .unwrap_or_else(|errors| panic!("{errors}"))
        .audit();
    let row = |(rule, severity, place): (Rule, Severity, String)| {
        format!("{} {} {place}", rule.code(), severity.name())
    };
    fired(&audit).into_iter().map(row).collect()
}

#[test]
fn figures_that_cannot_be_fire() {
    assert_eq!(
        fired_codes(include_str!("impossible.toml")),
        [
            "RATIO warning orders, A",
            "PLAUSIBLE error 2 threads, A",
            "PLAUSIBLE error 4 threads, A",
            "PLAUSIBLE error 8 threads, A",
            "PLAUSIBLE error 16 threads, A",
            "PLAUSIBLE error orders, A",
            "PLAUSIBLE error random read, B",
            "PLAUSIBLE error four systems, B",
        ]
    );
}

/// 4 nodes and 40 Gb/s against 3 and 10. 50,000 / 600 = 83.3 MB for each warehouse, 90,000 / 1,000 = 90.0: 8 % more.
/// 25,600 / 10,000 = 2.56 times, which is 156 % more. 40 min + 8 × 5 min + 8 × 20 min = 4 h.
#[test]
fn what_is_made_of_figures_fires() {
    assert_eq!(
        fired_codes(include_str!("misleading.toml")),
        [
            "ONEFACTOR error disks / flash",
            "VICTIMS error flash, quiet / flash, backups",
            "SIZE warning disks / flash",
            "WORDING error Flash processes 256 % more orders",
            "DURATION error the ladder",
        ]
    );
}

#[test]
fn a_correct_table_stays_silent() {
    assert_eq!(fired_codes(include_str!("correct.toml")), [""; 0]);
}

/// One row with two of the keys that a report may have.
fn row(keys: &str) -> Vec<String> {
    fired_codes(&format!(
        "title = \"t\"\nsource = \"s\"\n[[figure]]\nname = \"x\"\n{keys}\n"
    ))
}

#[test]
fn every_percentile_is_taken_and_its_order_holds() {
    let keys = [
        "min_ms",
        "p5_ms",
        "p10_ms",
        "p25_ms",
        "p50_ms",
        "p75_ms",
        "p80_ms",
        "p90_ms",
        "p95_ms",
        "p98_ms",
        "p99_ms",
        "p995_ms",
        "p999_ms",
        "p9999_ms",
        "p99999_ms",
        "max_ms",
    ];
    for pair in keys.windows(2) {
        assert_eq!(
            row(&format!("{} = 2\n{} = 2", pair[0], pair[1])),
            [""; 0],
            "{pair:?}: equal"
        );
        assert_eq!(
            row(&format!("{} = 2\n{} = 1.9", pair[0], pair[1])),
            ["PLAUSIBLE error x"],
            "{pair:?}"
        );
    }
}

#[test]
fn a_mean_lies_where_the_percentiles_leave_room_for_it() {
    for (keys, fires) in [
        // Half of all are at least 2 ms, so that the mean is at least 1 ms.
        ("p50_ms = 2\nmean_ms = 1.01", false),
        ("p50_ms = 2\nmean_ms = 0.9", true),
        // Half are at most 1 ms and the others at most 3 ms: at most 2 ms.
        ("p50_ms = 1\nmax_ms = 3\nmean_ms = 1.99", false),
        ("p50_ms = 1\nmax_ms = 3\nmean_ms = 2.2", true),
        ("p50_ms = 1\nmean_ms = 900", false),
        ("max_ms = 3\nmean_ms = 3.2", true),
        ("min_ms = 3\nmean_ms = 2.8", true),
    ] {
        assert_eq!(!row(keys).is_empty(), fires, "{keys}");
    }
}

#[test]
fn a_rate_a_hundred_times_its_neighbours_is_found_within_a_side_only() {
    let table = |rates: &[(&str, &str, f64)]| {
        let rows = rates.iter().map(|(name, side, rate)| {
            format!("[[figure]]\nname = \"{name}\"\nside = \"{side}\"\nper_second = {rate}\n")
        });
        let sides = "[[side]]\nname = \"A\"\n[[side]]\nname = \"B\"\n";
        fired_codes(&format!(
            "title = \"t\"\nsource = \"s\"\n{sides}{}",
            rows.collect::<String>()
        ))
    };
    let ladder = |third: f64| {
        table(&[
            ("1 user", "A", 100.0),
            ("2 users", "A", 190.0),
            ("4 users", "A", third),
        ])
    };
    assert_eq!(ladder(380.0), [""; 0]);
    assert_eq!(ladder(38_000.0), ["PLAUSIBLE error 4 users, A"]);
    assert_eq!(ladder(1.0), ["PLAUSIBLE error 4 users, A"]);
    // A disk against a drive, and unlike loads of one side, may differ as much.
    assert_eq!(
        table(&[("4K", "A", 150.0), ("4K", "B", 600_000.0)]),
        [""; 0]
    );
    assert_eq!(
        table(&[
            ("4K read", "A", 600_000.0),
            ("sysbench", "A", 1_800.0),
            ("scan", "A", 3.0)
        ]),
        [""; 0]
    );
    // Each a tenth of the one before: a sweep of sizes.
    assert_eq!(
        table(&[
            ("4K", "A", 600_000.0),
            ("64K", "A", 45_000.0),
            ("1024K", "A", 2_900.0)
        ]),
        [""; 0]
    );
}

#[test]
fn a_side_that_is_like_another_takes_what_it_does_not_state() {
    let text = |last: &str| {
        format!(
            "title = \"t\"\nsource = \"s\"\n[[side]]\nname = \"A\"\nconfiguration = {{ nodes = 4, drives = \"x\" }}\n\
             method = {{ generator = \"same\" }}\n[[side]]\nname = \"B\"\n{last}\n[[comparison]]\nfirst = \"A\"\n\
             second = \"B\"\nfactor = \"drives\"\n"
        )
    };
    let b = "like = \"A\"\nconfiguration = { drives = \"y\" }";
    assert_eq!(fired_codes(&text(b)), ["SAMEBOX note A", "SAMEBOX note B"]);
    let more = "like = \"A\"\nconfiguration = { drives = \"y\", nodes = 3 }";
    assert_eq!(
        fired_codes(&text(more)),
        ["SAMEBOX note A", "SAMEBOX note B", "ONEFACTOR error A / B"]
    );
    // What only one side states may be the same on both.
    let unknown = "configuration = { drives = \"y\" }";
    assert_eq!(fired_codes(&text(unknown)), ["SAMEBOX note A"]);
    let refused = |last: &str| PublishedClaim::parse(&text(last)).unwrap_err().to_string();
    assert!(
        refused("like = \"C\"").contains("no side is called `C`"),
        "{}",
        refused("like = \"C\"")
    );
    assert!(
        refused("like = \"B\"").contains("`like` of `B`"),
        "{}",
        refused("like = \"B\"")
    );
}

#[test]
fn durations_are_added_up() {
    let of = |stated: &str| {
        let head = "title = \"t\"\nsource = \"s\"\n[[duration]]\nname = \"x\"\nparts = [";
        let parts =
            "{ name = \"a\", lasts = \"6h\" }, { name = \"b\", lasts = \"1h\", times = 5 }]";
        fired_codes(&format!("{head}{parts}\n{stated}"))
    };
    assert_eq!(of("stated = \"11h\""), [""; 0]);
    assert_eq!(of("stated = \"12h\""), ["DURATION error x"]);
    assert_eq!(of("stated = \"10h\""), ["DURATION error x"]);
    assert_eq!(of(""), [""; 0], "nothing is stated");
    let odd = "title = \"t\"\nsource = \"s\"\n[[duration]]\nname = \"x\"\nstated = \"soon\"\nparts = []\n";
    assert!(
        PublishedClaim::parse(odd)
            .unwrap_err()
            .to_string()
            .contains("`stated` of `x`")
    );
}
