use proptest::prelude::*;

use super::*;
use crate::catalog;
use plimsoll_plan::units::{Bytes, Nanos};

const GOOD: &str = r#"title = "Good"
kind = "nvme"
capacity_gb = { value = 960, source = "sheet" }
write_cache = { value = "protected", source = "sheet" }

[sources]
sheet = "a data sheet"

[datasheet]
sequential_read_mb_s = { value = 3100, source = "sheet" }
sequential_write_mb_s = { value = 1700, source = "unverified" }
random_read_iops = { value = 440000, depth = 64, source = "sheet" }
random_write_iops = { value = 150000, source = "sheet" }

[flash]
read_us = { value = 90, error_percent = 2.5, source = "sheet" }
write_us = { value = 20, source = "assumed" }
"#;

fn errors(text: &str) -> String {
    DriveSpec::parse("x", text).expect_err("faults").to_string()
}

/// The errors when `from` is replaced by `to` in a good file.
fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    errors(&GOOD.replacen(from, to, 1))
}

#[test]
fn a_good_file_is_resolved() {
    let spec = DriveSpec::parse("good", GOOD).unwrap();
    assert_eq!((spec.id.as_str(), spec.title.as_str()), ("good", "Good"));
    assert_eq!(
        (spec.capacity, spec.write_cache),
        (Bytes(960_000_000_000), WriteCache::Protected)
    );
    assert_eq!(spec.unverified(), ["sequential_write_mb_s", "write_us"]);
    let Mechanism::Flash(flash) = &spec.mechanism else {
        panic!("{:?}", spec.mechanism)
    };
    // 90 µs less 1/440,000 s for the command and 4096 B at 3100 MB/s.
    assert_eq!(flash.media.median, Nanos(86_405));
    assert_eq!(flash.read_command, Nanos(2273));
    let random = spec
        .stated
        .iter()
        .find(|stated| stated.point == SheetPoint::RandomRead)
        .unwrap();
    assert_eq!(
        (random.value, random.block, random.depth, random.fill),
        (440_000.0, 4096, 64, 1.0)
    );
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    let text = with("read_us", "raed_us");
    assert!(
        text.starts_with("16:1: unknown key `raed_us`\n  help: did you mean `read_us`?"),
        "{text}"
    );
    assert!(with("\"nvme\"", "\"nvm\"").contains("did you mean `nvme`?"));
    assert!(with("depth = 64", "dept = 64").contains("did you mean `depth`?"));
}

#[test]
fn figures_out_of_range_are_refused_where_they_stand() {
    let text = with("value = 3100", "value = -1");
    assert!(
        text.starts_with(
            "10:24: `sequential_read_mb_s` cannot be -1\n  help: it lies between 0.1 MB/s"
        ),
        "{text}"
    );
    assert!(with("value = 90", "value = nan").contains("`read_us` cannot be NaN"));
    assert!(with("depth = 64", "depth = 0").contains("no drive is measured like that"));
    assert!(with("error_percent = 2.5", "error_percent = -2.5").contains("no percentage"));
    assert!(with("value = 90,", "value = 90, depth = 1,").contains("belong to [datasheet]"));
}

#[test]
fn figures_without_a_source_are_refused() {
    assert!(
        with("{ value = 3100, source = \"sheet\" }", "3100")
            .contains("expected a figure such as { value = 3100")
    );
    assert!(
        with("{ value = 3100, source", "{ value = 3100, sorce").contains("did you mean `source`?")
    );
    let text = with(
        "value = 3100, source = \"sheet\"",
        "value = 3100, source = \"shet\"",
    );
    assert!(
        text.contains("source `shet` is not in [sources]\n  help: did you mean `sheet`?"),
        "{text}"
    );
}

#[test]
fn missing_and_contradicting_keys_are_errors_at_once() {
    let text = errors(&GOOD.replace("kind = \"nvme\"", "kind = \"disk\""));
    for part in [
        "[flash] does not describe a drive of kind `disk`",
        "`disk.rpm` is missing",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(with("value = 90", "value = 1").contains("`read_us` leaves no time for the flash"));
    assert!(
        with("write_us = { value = 20", "write_us = { value = 1")
            .contains("shorter than what it consists of")
    );
    let tail = GOOD.to_owned() + "read_p99_us = { value = 50, source = \"sheet\" }\n";
    assert!(errors(&tail).contains("the 99th percentile lies below the median"));
}

#[test]
fn a_file_is_written_as_it_is_read() {
    let spec = DriveSpec::parse("good", GOOD).unwrap();
    assert_eq!(spec.to_toml(), GOOD);
    let odd = GOOD
        .replace("sheet = \"a data sheet\"", "\"sheet\" = \"a data sheet\"")
        .replace(
            "\"a data sheet\"",
            r#""a \"quoted\" line,\nand \u007F another""#,
        );
    let spec = DriveSpec::parse("good", &odd).unwrap();
    assert_eq!(DriveSpec::parse("good", &spec.to_toml()), Ok(spec));
}

/// A value between the bounds, every order of magnitude alike.
fn magnitude(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

/// Any figures that a file may have.
fn any_drive() -> impl Strategy<Value = DriveSpec> {
    let kind = prop::sample::select(vec![
        "consumer-nvme-1t",
        "micron-5200-eco-1920g",
        "disk-7200rpm-4t",
        "aws-gp3",
    ]);
    (kind, prop::collection::vec(magnitude(0.01, 1e6), 40)).prop_filter_map(
        "contradicts itself",
        |(name, values)| {
            let spec = catalog::load(name, catalog::find(name).unwrap().text).unwrap();
            let mut text = String::new();
            for (line, factor) in spec.to_toml().lines().zip(values.iter().cycle()) {
                let changed = line.split_once("{ value = ").and_then(|(key, rest)| {
                    let (value, rest) = rest.split_once(',')?;
                    let value: f64 = value.parse().ok()?;
                    Some(format!(
                        "{key}{{ value = {},{rest}",
                        value * factor.powf(0.3)
                    ))
                });
                text += &(changed.unwrap_or_else(|| line.to_owned()) + "\n");
            }
            DriveSpec::parse("any", &text).ok()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, max_local_rejects: 100_000, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_model_answers_for_any_drive_file(
        spec in any_drive(),
        ops in prop::collection::vec((0u8..4, any::<u64>(), any::<u64>(), 0u64..1_000_000_000), 0..50),
    ) {
        use crate::model::{Drive, DriveOp, Op, Setup};
        let setup = Setup { capacity: Bytes(1 << 30), fill: 0.5, seed: 1, ignores_flush: false };
        let mut drive = Drive::new(&spec, &setup);
        let mut now = Nanos::ZERO;
        for (kind, offset, len, wait) in ops {
            // Half of them as they may be, half of them any.
            let (offset, len) = if len % 2 == 0 { (offset % (1 << 30), len % (1 << 20)) } else { (offset, len) };
            let done = drive.complete(now, Op { kind: DriveOp::ALL[usize::from(kind)], offset, len });
            prop_assert!(done >= now);
            now += Nanos(wait);
        }
    }
}

proptest! {
    #[test]
    fn rubbish_never_panics(text in ".*", at in any::<prop::sample::Index>(), piece in "[ -~\n]{0,12}") {
        let _ = DriveSpec::parse("x", &text);
        let at = at.index(GOOD.len());
        let _ = DriveSpec::parse("x", &format!("{}{piece}{}", &GOOD[..at], &GOOD[at..]));
        let _ = DriveSpec::parse("x", &GOOD[at..]);
    }
}

#[test]
fn a_slower_drive_is_marked_and_states_lower_rates() {
    let rated = DriveSpec::parse("good", GOOD).unwrap();
    let slower = rated.clone().slower(20.0);
    assert_eq!(slower.title, "Good, 20 times slower");
    assert_eq!((slower.slower, slower.stated[2].value), (20.0, 22_000.0));
    assert_eq!(slower.mechanism, rated.mechanism);
    assert_eq!(
        DriveSpec::parse("good", &slower.to_toml()).as_ref(),
        Ok(&slower)
    );
    assert_eq!(slower.clone().slower(0.05), rated, "the factors multiply");
    assert_eq!(rated.clone().slower(1.0), rated);
    assert!(
        slower
            .parameters()
            .iter()
            .any(|of| of.name.contains("multiplied") && of.value == 20.0)
    );
    let text = errors(&GOOD.replace("kind =", "slower = 0.5\nkind ="));
    assert!(
        text.contains("`slower` cannot be 0.5\n  help: it lies between 1 and 1000"),
        "{text}"
    );
}
