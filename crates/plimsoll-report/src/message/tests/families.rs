//! Ids that are put together.

/// A prefix and the names of a closed set.
pub(super) const FAMILIES: &[(&str, &[&str])] = &[
    (
        "answer-sign-",
        &[
            "client",
            "connections",
            "cpu",
            "cpu-limit",
            "device-busy",
            "device-read-time",
            "device-write-time",
            "drive-queue",
            "emulator",
            "generator",
            "locks",
            "log",
            "other-programs",
            "processors",
            "reads",
            "session-cpu",
            "steal",
        ],
    ),
    ("answer-limiter-", &["cpu", "reads", "log"]),
    ("backup-kind-", &["backup", "restore"]),
    (
        "chart-title-",
        &[
            "bandwidth",
            "cpu",
            "cpu-one",
            "in-flight",
            "io-time",
            "iops",
            "latency-time",
            "lateness",
            "memory",
            "nopm",
            "queue",
            "rate",
            "throughput",
            "tpm",
            "tpm-per-user",
        ],
    ),
    (
        "phase-",
        &[
            "backup", "check", "cool", "measure", "prepare", "reset", "warm",
        ],
    ),
    (
        "backup-outcome-",
        &["complete", "cancelled", "failed", "differs"],
    ),
    (
        "chart-title-",
        &[
            "shared-rate",
            "shared-iops",
            "shared-mb",
            "shared-ms",
            "block-iops-time",
            "block-mb-time",
        ],
    ),
    ("axis-", &["users", "offered"]),
    (
        "steady-",
        &["too-short", "not-meant", "too-few", "yes", "no"],
    ),
    ("outcome-", &["met", "mixed", "failed", "short", "too-few"]),
    ("wait-", &WAIT_STATES),
    ("wait-does-", &WAIT_STATES),
    ("severity-", &["note", "warning", "error"]),
    ("verdict-", &["valid", "doubtful", "invalid"]),
    ("trust-", &["valid", "doubtful", "invalid"]),
    (
        "status-",
        &["unfinished", "complete", "interrupted", "failed"],
    ),
    ("level-", &["ok", "unknown", "warning", "error"]),
    ("op-", &["read", "write", "flush", "trim"]),
    (
        "predicted-refused-",
        &[
            "many-systems",
            "not-emulated",
            "simulated",
            "offered-rate",
            "invalid-source",
            "unsteady",
            "nothing-measured",
            "no-plan",
            "not-calibrated",
            "not-modelled",
            "processors",
            "processors-not-calibrated",
            "memory",
        ],
    ),
    (
        "subject-",
        &[
            "host",
            "device",
            "medium",
            "emulator",
            "system",
            "generator",
            "worker",
            "backup",
        ],
    ),
    ("drive-kept-up-", &["yes", "no", "unknown"]),
    ("block-", &["direct", "cached"]),
    ("data-", &["fresh", "reused"]),
    ("state-", &["intact", "changed", "no-digest", "open"]),
    ("list-unit-", &["nopm", "completed-per-second", "iops"]),
    ("versus-unit-", &["nopm", "completed-per-second", "iops"]),
    ("versus-scene-", &["alone", "quiet", "noisy"]),
    (
        "versus-effect-",
        &["more", "less", "not-shown", "too-small", "not-judged"],
    ),
    ("versus-group-", &VERSUS_GROUPS),
    ("versus-gate-", &VERSUS_GATE),
    ("fault-", &["plan-unreadable"]),
    ("answer-array-", &ARRAY_STATES),
    ("array-state-", &ARRAY_STATES),
    ("condition-", &CONDITIONS),
];

const WAIT_STATES: [&str; 9] = [
    "cpu",
    "data-read",
    "data-write",
    "log",
    "lock",
    "latch",
    "client",
    "idle",
    "other",
];

const VERSUS_GROUPS: [&str; 12] = [
    "hosts",
    "cpus",
    "kernel",
    "drives",
    "software",
    "settings",
    "workload",
    "sizes",
    "load",
    "generator-place",
    "loaded-systems",
    "incidental",
];

const VERSUS_GATE: [&str; 4] = ["passed", "inconclusive", "regression", "failed"];

const ARRAY_STATES: [&str; 8] = [
    "whole",
    "degraded",
    "rebuilding",
    "rebuilt",
    "data-lost",
    "slow",
    "network",
    "recovered",
];

/// Clauses of consistency conditions.
const CONDITIONS: [&str; 15] = [
    "3-3-2-1", "3-3-2-2", "3-3-2-3", "3-3-2-4", "3-3-2-5", "3-3-2-6", "3-3-2-7", "3-3-2-8",
    "3-3-2-9", "3-3-2-10", "3-3-2-11", "3-3-2-12", "rows", "ids", "values",
];
