//! Systems: which of the four kinds it is, and that nothing is set which that kind does not have.

use std::collections::BTreeMap;

use super::values::{size, text, time, time_or, whole};
use super::{host, limits};
use crate::Options;
use crate::findings::Findings;
use crate::load::{MockScript, SlowShare, Stall};
use crate::raw::{RawMock, RawSlowShare, RawStall, RawSystem};
use crate::resolved::{EngineKind, ManagedKind, PlanHost, Secret, ServerKind, System, SystemKind};
use crate::units::Nanos;
use crate::value::At;

const MOST_INSTANCES: u32 = 64;
const DEFAULT_SCHEMA: &str = "plimsoll_tpcc";
const DEFAULT_MOCK_LATENCY: Nanos = Nanos::from_millis(1);

pub(super) fn resolve(
    name: &str,
    at: &At<RawSystem>,
    hosts: &[PlanHost],
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<System> {
    let engine = engine(name, at, findings)?;
    let raw = at.get();
    let existing_url = raw.url.as_ref().filter(|_| engine.server().is_some());
    refuse_misplaced(raw, engine, existing_url.is_some(), findings);
    let kind = match (engine.server(), existing_url) {
        (Some(server), Some(url)) => existing(server, url, raw, findings)?,
        (Some(server), None) => {
            let engine = managed(server, at, findings)?;
            let settings = settings(raw, Some(server), findings);
            SystemKind::Managed {
                engine,
                settings: with_scaled(settings, engine, raw, options, findings),
                binaries: raw
                    .binaries
                    .as_ref()
                    .map_or(Some(String::new()), |path| text(path, "the path", findings))?,
            }
        }
        (None, _) if engine == EngineKind::Mock => {
            SystemKind::Mock(script(raw.mock.as_ref(), findings)?)
        }
        (None, _) => SystemKind::Sqlite {
            settings: settings(raw, None, findings),
        },
    };
    let limits = limits::resolve(raw.limits.as_ref(), engine, options, findings)?;
    let count = raw.count.as_ref().map_or(Some(1), |n| {
        whole(n, "`count`", 1..=MOST_INSTANCES, findings)
    })?;
    Some(System {
        name: name.to_owned(),
        kind,
        limits,
        count,
        host: host::of_system(raw.host.as_ref(), hosts, findings)?,
        log_disk: raw.log_disk.as_ref().is_some_and(|own| *own.get()),
    })
}

/// The server that plimsoll starts itself where no URL names one.
fn managed(
    server: ServerKind,
    at: &At<RawSystem>,
    findings: &mut Findings<'_>,
) -> Option<ManagedKind> {
    let managed = server.managed();
    if managed.is_none() {
        findings.error(
            at.span(),
            format!("plimsoll does not start a {}", server.title()),
            format!("name one that exists: url = \"{}\"", server.example_url()),
        );
    }
    managed
}

/// As written, or implied by a `url` or `mock` table.
fn engine(name: &str, at: &At<RawSystem>, findings: &mut Findings<'_>) -> Option<EngineKind> {
    let raw = at.get();
    match (&raw.engine, &raw.url, &raw.mock) {
        (Some(engine), ..) => return Some(*engine.get()),
        (None, Some(url), _) => {
            let server = ServerKind::of_url(url.get());
            if server.is_none() {
                findings.error(
                    url.span(),
                    "this is not the URL of a server",
                    example_urls(" or "),
                );
            }
            return server.map(ServerKind::engine);
        }
        (None, None, Some(_)) => return Some(EngineKind::Mock),
        (None, None, None) => {}
    }
    if !["engine", "url", "mock"]
        .iter()
        .any(|key| findings.explains(&at.span(), key))
    {
        let help = "engine = \"postgres\", \"mariadb\", \"mysql\", \"sqlite\" or \"mock\", or url = \"postgres://…\" of an existing one";
        findings.error(
            at.span(),
            format!("the system `{name}` has no engine"),
            help,
        );
    }
    None
}

fn example_urls(or: &str) -> String {
    ServerKind::ALL
        .map(|server| format!("url = \"{}\"", server.example_url()))
        .join(or)
}

fn refuse_misplaced(
    raw: &RawSystem,
    engine: EngineKind,
    exists: bool,
    findings: &mut Findings<'_>,
) {
    let RawSystem {
        engine: _,
        settings,
        scaled_settings,
        binaries,
        url,
        schema,
        change_tables,
        mock,
        limits,
        count,
        log_disk,
        host,
    } = raw;
    let kind = if exists {
        "an existing server"
    } else {
        engine.name()
    };
    let managed = engine.server().is_some() && !exists;
    let settings_help = if exists {
        "plimsoll changes no server that it did not start: set them there, or leave `url` out"
    } else {
        "the mock has none: remove them"
    };
    for (key, span, allowed, help) in [
        (
            "url",
            url.as_ref().map(At::span),
            exists,
            "only an existing server has one: engine = \"postgres\", \"mariadb\", \"mysql\" or \"sqlserver\"",
        ),
        (
            "schema",
            schema.as_ref().map(At::span),
            exists,
            "only an existing server needs one, see `url`",
        ),
        (
            "change_tables",
            change_tables.as_ref().map(At::span),
            exists,
            "only an existing server has tables that plimsoll did not make",
        ),
        (
            "host",
            host.as_ref().map(At::span),
            exists || engine == EngineKind::Mock,
            "what plimsoll starts runs on this machine",
        ),
        (
            "binaries",
            binaries.as_ref().map(At::span),
            managed,
            "only a server that plimsoll starts needs them",
        ),
        (
            "settings",
            settings.as_ref().map(At::span),
            managed || engine == EngineKind::Sqlite,
            settings_help,
        ),
        (
            "scaled_settings",
            scaled_settings.as_ref().map(At::span),
            managed,
            settings_help,
        ),
        (
            "limits",
            limits.as_ref().map(At::span),
            managed || engine == EngineKind::Sqlite,
            "only SQLite on modeled drives, and a server that plimsoll starts, can be limited",
        ),
        (
            "count",
            count.as_ref().filter(|n| *n.get() != 1).map(At::span),
            !exists,
            "an existing server is one",
        ),
        (
            "log_disk",
            log_disk.as_ref().map(At::span),
            managed,
            "only the log of a server that plimsoll starts can be placed",
        ),
        (
            "mock",
            mock.as_ref().map(At::span),
            engine == EngineKind::Mock,
            "it belongs to engine = \"mock\"",
        ),
    ] {
        if let Some(span) = span
            && !allowed
        {
            findings.error(span, format!("`{key}` has no meaning for {kind}"), help);
        }
    }
}

fn existing(
    server: ServerKind,
    url: &At<String>,
    raw: &RawSystem,
    findings: &mut Findings<'_>,
) -> Option<SystemKind> {
    let schema = raw.schema.as_ref();
    let secret = Secret::new(url.get().as_str());
    // The URL itself is never part of a message.
    let rest = server.rest_of(url.get());
    let clean = !url
        .get()
        .chars()
        .any(|c| c.is_control() || c.is_whitespace());
    let fine = clean && rest.is_some_and(|rest| !rest.is_empty());
    if !fine {
        let help = format!("url = \"{}\"", server.example_url());
        findings.error(
            url.span(),
            format!("this is not the URL of a {}", server.title()),
            help,
        );
    } else if secret.redacted() == url.get().as_str() && url.get().contains("***") {
        let variable = server.password_variable();
        let help = format!(
            "the password was left out when this plan was stored: put {variable} into the environment instead"
        );
        findings.warn(url.span(), "the password in the URL is only `***`", help);
    }
    let name = schema.map_or(DEFAULT_SCHEMA, |schema| schema.get().as_str());
    let letters = name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let start = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let named = letters && start && name.len() <= 63 && !server.is_reserved_schema(name);
    if let Some(schema) = schema
        && !named
    {
        findings.error(
            schema.span(),
            "this cannot be the name of plimsoll's schema",
            server.info().schema_help,
        );
    }
    if let Some(permission) = raw.change_tables.as_ref()
        && permission.get() != name
    {
        findings.error(
            permission.span(),
            "`change_tables` names another schema than `schema`",
            format!("permit changes by the schema's name: change_tables = \"{name}\""),
        );
    }
    (fine && named).then(|| SystemKind::Existing {
        engine: server,
        url: secret,
        schema: name.to_owned(),
        change_tables: raw.change_tables.is_some(),
    })
}

/// Settings of a server, or PRAGMAs.
fn settings(
    raw: &RawSystem,
    server: Option<ServerKind>,
    findings: &mut Findings<'_>,
) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let Some(written) = &raw.settings else {
        return settings;
    };
    for (name, value) in written.get() {
        check_setting(name, server, findings);
        let text = &value.get().0;
        if text.chars().any(char::is_control) {
            findings.error(
                value.span(),
                "the value holds line breaks or control characters",
                "write it in one line",
            );
        }
        if let Some(fault) = server.and_then(|server| server.setting_fault(name.get(), text)) {
            findings.error(value.span(), fault.why(), fault.help());
        }
        settings.insert(name.get().clone(), text.clone());
    }
    settings
}

fn check_setting(name: &At<String>, server: Option<ServerKind>, findings: &mut Findings<'_>) {
    let word = name.get();
    if !server.unwrap_or(ServerKind::Postgres).is_setting_name(word) {
        findings.error(
            name.span(),
            "this cannot be the name of a setting",
            "letters, digits, `_` and `.`",
        );
    } else if server.is_some_and(|server| server.is_own_setting(word)) {
        let help =
            "remove it: plimsoll starts the server apart from all others and chooses this itself";
        findings.error(name.span(), format!("`{word}` cannot be set"), help);
    }
}

/// Smallest size that a scaled setting becomes: PostgreSQL refuses a smaller max_wal_size.
const LEAST_SCALED_MIB: u64 = 32;

fn with_scaled(
    mut settings: BTreeMap<String, String>,
    engine: ManagedKind,
    raw: &RawSystem,
    options: &Options,
    findings: &mut Findings<'_>,
) -> BTreeMap<String, String> {
    for (name, written) in raw.scaled_settings.iter().flat_map(|scaled| scaled.get()) {
        check_setting(name, Some(engine.server()), findings);
        if settings.contains_key(name.get()) {
            findings.error(
                name.span(),
                format!("`{}` is in `settings` too", name.get()),
                "remove one of the two",
            );
        }
        if let Some(size) = size(written, findings) {
            let mebibytes =
                (size.0 as f64 * options.data_scale / f64::from(1 << 20)).round() as u64;
            settings.insert(
                name.get().clone(),
                engine.size_setting(mebibytes.max(LEAST_SCALED_MIB)),
            );
        }
    }
    settings
}

fn script(raw: Option<&At<RawMock>>, findings: &mut Findings<'_>) -> Option<MockScript> {
    let defaults = RawMock::default();
    let RawMock {
        latency,
        jitter,
        exponential,
        slow,
        stalls,
        fail_every,
        retry_every,
        outages,
    } = raw.map_or(&defaults, At::get);
    let latency = time_or(latency, DEFAULT_MOCK_LATENCY, findings);
    let jitter = time_or(jitter, Nanos::ZERO, findings);
    let exponential = time_or(exponential, Nanos::ZERO, findings);
    let slow = match slow {
        None => Some(None),
        Some(slow) => slow_share(slow, findings).map(Some),
    };
    let stalls = stretches(stalls.as_deref(), findings);
    let outages = stretches(outages.as_deref(), findings);
    let fail_every = nth("`fail_every`", fail_every, findings);
    let retry_every = nth("`retry_every`", retry_every, findings);
    Some(MockScript {
        latency: latency?,
        jitter: jitter?,
        exponential: exponential?,
        slow: slow?,
        stalls,
        outages,
        fail_every,
        retry_every,
    })
}

fn slow_share(raw: &At<RawSlowShare>, findings: &mut Findings<'_>) -> Option<SlowShare> {
    let RawSlowShare { share, by } = raw.get();
    let help = "state how many of all transactions: share = 0.02";
    let share = findings.required(&raw.span(), "share", share, help);
    let help = "state how much longer they take: by = \"80ms\"";
    let by = findings.required(&raw.span(), "by", by, help);
    let (share, by) = (share?, by?);
    if !(0.0..=1.0).contains(share.get()) {
        findings.error(
            share.span(),
            format!("`share` cannot be {}", share.get()),
            "0 to 1 is possible",
        );
        return None;
    }
    Some(SlowShare {
        share: *share.get(),
        by: time(by, findings)?,
    })
}

/// Every how many transactions.
fn nth(key: &str, value: &Option<At<i64>>, findings: &mut Findings<'_>) -> Option<u64> {
    let number = whole(value.as_ref()?, key, 1..=u32::MAX, findings);
    number.map(u64::from)
}

fn stretches(raw: Option<&[At<RawStall>]>, findings: &mut Findings<'_>) -> Vec<Stall> {
    let mut stretches = Vec::new();
    for stall in raw.unwrap_or_default() {
        let at = findings.required(
            &stall.span(),
            "at",
            &stall.get().at,
            "state when it begins: at = \"3s\"",
        );
        let at = at.and_then(|at| time(at, findings));
        let lasts = findings.required(
            &stall.span(),
            "lasts",
            &stall.get().lasts,
            "state how long: lasts = \"2s\"",
        );
        let lasts = lasts.and_then(|lasts| time(lasts, findings));
        stretches.extend(at.zip(lasts).map(|(at, lasts)| Stall { at, lasts }));
    }
    stretches
}
