//! Systems: which of the four kinds it is, and that nothing is set which that kind does not have.

use std::collections::BTreeMap;

use super::{host, limits};
use crate::Options;
use crate::findings::Findings;
use crate::load::{MockScript, SlowShare, Stall};
use crate::raw::{PlanTable, RawMock, RawSlowShare, RawStall, RawSystem, TableKind};
use crate::resolved::{EngineKind, ManagedKind, PlanHost, Secret, ServerKind, System, SystemKind};
use crate::value::{At, OptionalKey};

const DEFAULT_SCHEMA: &str = "plimsoll_tpcc";

pub(super) fn resolve(
    name: &str,
    at: &At<RawSystem>,
    hosts: &[PlanHost],
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<System> {
    let engine = engine(name, at, findings)?;
    let raw = at.get();
    let url = raw.url.as_ref();
    let kind = match (engine.server(), url) {
        (Some(_), Some(_)) => TableKind::Existing,
        (Some(_), None) => TableKind::Managed,
        (None, _) if engine == EngineKind::Mock => TableKind::Mock,
        (None, _) => TableKind::Sqlite,
    };
    let is_one = |key: &str| key == "count" && raw.count() == 1;
    raw.refuse_unless(is_one, kind, findings);
    let kind = match (engine.server(), url) {
        (Some(server), Some(url)) => existing(server, url, raw, findings),
        (Some(server), None) => {
            let engine = managed(server, at, findings)?;
            let settings = settings(raw, Some(server), findings);
            SystemKind::Managed {
                engine,
                settings: with_scaled(settings, engine, raw, options, findings),
                binaries: raw.binaries.value().unwrap_or_default(),
            }
        }
        (None, _) if engine == EngineKind::Mock => {
            SystemKind::Mock(script(raw.mock.as_ref(), findings)?)
        }
        (None, _) => SystemKind::Sqlite {
            settings: settings(raw, None, findings),
        },
    };
    Some(System {
        name: name.to_owned(),
        kind,
        limits: limits::resolve(raw.limits.as_ref(), engine, options, findings),
        count: raw.count(),
        host: raw
            .host
            .as_ref()
            .and_then(|host| host::system_host(host, hosts, findings)),
        log_disk: raw.log_disk(),
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

fn existing(
    server: ServerKind,
    url: &At<String>,
    raw: &RawSystem,
    findings: &mut Findings<'_>,
) -> SystemKind {
    let secret = Secret::new(url.get().as_str());
    check_url(server, url, &secret, findings);
    let schema = match &raw.schema {
        Some(schema) => {
            if !is_schema_name(server, schema.get()) {
                let message = "this cannot be the name of plimsoll's schema";
                findings.error(schema.span(), message, server.info().schema_help);
            }
            schema.get().as_str()
        }
        None => DEFAULT_SCHEMA,
    };
    if let Some(permission) = &raw.change_tables
        && permission.get() != schema
    {
        findings.error(
            permission.span(),
            "`change_tables` names another schema than `schema`",
            format!("permit changes by the schema's name: change_tables = \"{schema}\""),
        );
    }
    SystemKind::Existing {
        engine: server,
        url: secret,
        schema: schema.to_owned(),
        change_tables: raw.change_tables.is_some(),
    }
}

/// The URL itself is never part of a message.
fn check_url(server: ServerKind, url: &At<String>, secret: &Secret, findings: &mut Findings<'_>) {
    let text = url.get().as_str();
    let is_clean = !text.chars().any(|c| c.is_control() || c.is_whitespace());
    if !is_clean || server.rest_of(text).is_none_or(str::is_empty) {
        findings.error(
            url.span(),
            format!("this is not the URL of a {}", server.title()),
            format!("url = \"{}\"", server.example_url()),
        );
    } else if secret.redacted() == text && text.contains("***") {
        let variable = server.password_variable();
        let help = format!(
            "the password was left out when this plan was stored: put {variable} into the environment instead"
        );
        findings.warn(url.span(), "the password in the URL is only `***`", help);
    }
}

fn is_schema_name(server: ServerKind, name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
    name.starts_with(is_letter)
        && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
        && name.len() <= 63
        && !server.is_reserved_schema(name)
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
        let bytes = written.value().0 as f64 * options.data_scale;
        let mebibytes = (bytes / f64::from(1 << 20)).round() as u64;
        settings.insert(
            name.get().clone(),
            engine.size_setting(mebibytes.max(LEAST_SCALED_MIB)),
        );
    }
    settings
}

fn script(at: Option<&At<RawMock>>, findings: &mut Findings<'_>) -> Option<MockScript> {
    let usual = RawMock::default();
    let raw = at.map_or(&usual, At::get);
    let slow = match &raw.slow {
        None => None,
        Some(slow) => Some(slow_share(slow, findings)?),
    };
    Some(MockScript {
        latency: raw.latency(),
        jitter: raw.jitter(),
        exponential: raw.exponential(),
        slow,
        stalls: stretches(raw.stalls.as_ref(), findings),
        outages: stretches(raw.outages.as_ref(), findings),
        fail_every: raw.fail_every.value().map(u64::from),
        retry_every: raw.retry_every.value().map(u64::from),
    })
}

fn slow_share(at: &At<RawSlowShare>, findings: &mut Findings<'_>) -> Option<SlowShare> {
    let RawSlowShare { share, by } = at.get();
    let help = "state how many of all transactions: share = 0.02";
    let share = findings.required(&at.span(), "share", share, help);
    let help = "state how much longer they take: by = \"80ms\"";
    let by = findings.required(&at.span(), "by", by, help);
    Some(SlowShare {
        share: share?.value(),
        by: by?.value(),
    })
}

fn stretches(raw: Option<&At<Vec<At<RawStall>>>>, findings: &mut Findings<'_>) -> Vec<Stall> {
    let mut stretches = Vec::new();
    for stall in raw.into_iter().flat_map(|stalls| stalls.get()) {
        let RawStall { at, lasts } = stall.get();
        let help = "state when it begins: at = \"3s\"";
        let at = findings.required(&stall.span(), "at", at, help);
        let help = "state how long: lasts = \"2s\"";
        let lasts = findings.required(&stall.span(), "lasts", lasts, help);
        if let (Some(at), Some(lasts)) = (at, lasts) {
            stretches.push(Stall {
                at: at.value(),
                lasts: lasts.value(),
            });
        }
    }
    stretches
}
