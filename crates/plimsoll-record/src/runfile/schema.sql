-- A run is one SQLite file. Times are nanoseconds from the run's start. See docs/run-file.md.
-- What comes every second stands in the order in which it came (tick, sample, wait): pages of tables that are kept in
-- the order of a key stay partly empty.
CREATE TABLE run (
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    plimsoll_version TEXT NOT NULL,
    plimsoll_commit TEXT NOT NULL,
    command TEXT NOT NULL,              -- without secrets
    seed TEXT NOT NULL,                 -- an unsigned 64-bit number, which an INTEGER cannot hold
    started_at TEXT NOT NULL,           -- RFC 3339, UTC
    lasted_ns INTEGER,                  -- NULL until the run is closed
    status TEXT NOT NULL,               -- unfinished | complete | interrupted | failed
    failure TEXT
);
CREATE TABLE plan (form TEXT PRIMARY KEY, text TEXT NOT NULL);  -- written: TOML | resolved: JSON
CREATE TABLE subject (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (kind, name));
CREATE TABLE fact (
    subject INTEGER NOT NULL REFERENCES subject, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (subject, key)
) WITHOUT ROWID;
CREATE TABLE point (
    id INTEGER PRIMARY KEY,
    step TEXT NOT NULL,
    step_index INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    system INTEGER NOT NULL REFERENCES subject,
    medium INTEGER REFERENCES subject,
    workload TEXT NOT NULL,
    mode TEXT NOT NULL,
    users INTEGER NOT NULL,
    offered_per_second REAL,            -- NULL in a closed loop
    txns TEXT NOT NULL,                 -- JSON array of names; outcome.txn and window.txn index it
    connections INTEGER NOT NULL,       -- that the users share
    offered_to_per_second REAL,         -- at the end of the window, where the rate is not the same throughout
    repeat INTEGER NOT NULL,            -- which time this load is measured, from 0
    purpose TEXT NOT NULL,              -- ladder | search | precondition | noise
    scene TEXT NOT NULL,                -- alone | quiet | noisy: what the systems share their medium with
    parameters TEXT NOT NULL            -- JSON object: what else defines the load (script, rw, bs, …)
);
CREATE TABLE phase (
    id INTEGER PRIMARY KEY,
    point INTEGER REFERENCES point,
    step TEXT NOT NULL,
    kind TEXT NOT NULL,                 -- prepare | reset | warm | measure | cool | check | backup
    start_ns INTEGER NOT NULL,
    end_ns INTEGER,                     -- NULL until the phase is closed
    complete INTEGER NOT NULL
);
-- One second of one system under load, with what became of the transactions that ended in it.
CREATE TABLE tick (
    id INTEGER PRIMARY KEY,
    phase INTEGER NOT NULL REFERENCES phase,
    subject INTEGER NOT NULL REFERENCES subject,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    in_flight INTEGER NOT NULL,
    counts TEXT NOT NULL,               -- JSON: of each type that has any counts an array, without zeros at its
                                        -- end: txn and what the view outcome has, in its order
    times BLOB NOT NULL                 -- of the same types: end - due, and end - start where it differs; coarse
                                        -- histograms, the length of each before it as a LEB128 number, of those that
                                        -- were due in this second; behind them, of those due before it, that second's
                                        -- phase (0: warm, 1: measure, 2: cool), its number in it, the type, and the
                                        -- same two
);
-- The counts, a row for each type.
CREATE VIEW outcome AS
SELECT tick.id AS tick, json_extract(entry.value, '$[0]') AS txn,
       coalesce(json_extract(entry.value, '$[1]'), 0) AS offered,
       coalesce(json_extract(entry.value, '$[2]'), 0) AS committed,
       coalesce(json_extract(entry.value, '$[3]'), 0) AS round_trips,
       coalesce(json_extract(entry.value, '$[4]'), 0) AS rolled_back,
       coalesce(json_extract(entry.value, '$[5]'), 0) AS retries,
       coalesce(json_extract(entry.value, '$[6]'), 0) AS failed,
       coalesce(json_extract(entry.value, '$[7]'), 0) AS dropped,
       coalesce(json_extract(entry.value, '$[8]'), 0) AS bytes
FROM tick, json_each(tick.counts) AS entry;
-- A phase's full-precision histograms, written when the phase is closed, and again when what was due in it ends later.
CREATE TABLE window (
    phase INTEGER NOT NULL REFERENCES phase,
    subject INTEGER NOT NULL REFERENCES subject,
    txn INTEGER NOT NULL,
    response BLOB NOT NULL,
    service BLOB,
    PRIMARY KEY (phase, subject, txn)
) WITHOUT ROWID;
-- The catalog as it was when the file was written.
CREATE TABLE metric (
    name TEXT PRIMARY KEY, unit TEXT NOT NULL, kind TEXT NOT NULL, better TEXT NOT NULL, source TEXT NOT NULL
) WITHOUT ROWID;
-- The metrics that a sample's data holds, in order: JSON array of names.
CREATE TABLE layout (id INTEGER PRIMARY KEY, metrics TEXT NOT NULL UNIQUE);
CREATE TABLE sample (
    subject INTEGER NOT NULL REFERENCES subject,
    at_ns INTEGER NOT NULL,
    over_ns INTEGER NOT NULL,
    layout INTEGER NOT NULL REFERENCES layout,
    data BLOB NOT NULL                  -- a bit for each metric that is not 0, then those as 24-bit little-endian floats
);
CREATE TABLE event (
    at_ns INTEGER NOT NULL,
    subject INTEGER REFERENCES subject,
    severity TEXT NOT NULL,             -- note | warning | error
    code TEXT NOT NULL,
    args TEXT NOT NULL                  -- JSON: an object of the code's arguments, or null; a sentence as it stands
);
CREATE TABLE consistency (
    point INTEGER REFERENCES point,     -- NULL at the end of a step
    subject INTEGER NOT NULL REFERENCES subject,
    clause TEXT NOT NULL,
    holds INTEGER NOT NULL,
    detail TEXT NOT NULL                -- JSON object: `code` and `args`; `text`: a sentence as it stands
);
-- One second of an emulated drive, by kind of operation; a kind without operations has no row, a second without any
-- has one of 0 reads.
CREATE TABLE drive (
    subject INTEGER NOT NULL REFERENCES subject,  -- the medium
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    op TEXT NOT NULL,                   -- read | write | flush | trim
    ops INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    modelled BLOB NOT NULL,             -- coarse histograms: times of the model,
    real BLOB NOT NULL,                 -- how long it took,
    late BLOB NOT NULL,                 -- and by how much that was more
    beyond INTEGER NOT NULL,            -- later than the next percentile that the drive models
    PRIMARY KEY (subject, start_ns, op)
) WITHOUT ROWID;
-- The power cut that ended a point.
CREATE TABLE power_cut (
    point INTEGER PRIMARY KEY REFERENCES point,
    at_ns INTEGER NOT NULL,
    recovery_ns INTEGER,                -- from the return of the power until connections were taken; NULL: never
    lost_writes INTEGER NOT NULL,
    lost_bytes INTEGER NOT NULL,
    lost_flushed_writes INTEGER NOT NULL  -- of lost_writes, those that a flush had been acknowledged for
);
-- Transactions of one type, as clients saw them before a power cut and as the database has them after it.
CREATE TABLE receipt (
    point INTEGER NOT NULL REFERENCES power_cut,
    txn TEXT NOT NULL,
    acknowledged INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    in_doubt INTEGER NOT NULL,
    first_lost TEXT NOT NULL,           -- as consistency.detail, of the first place; empty if none was lost
    UNIQUE (point, txn)
);
-- Steps that looked for the highest load that meets an objective.
CREATE TABLE search (
    step TEXT NOT NULL,
    step_index INTEGER NOT NULL,
    system INTEGER NOT NULL REFERENCES subject,
    medium INTEGER REFERENCES subject,
    quantile TEXT NOT NULL,             -- mean | p50 | p90 | p95 | p99 | p999 | max, of response times
    limit_ns INTEGER NOT NULL,
    txn TEXT,                           -- the transaction type; NULL: all
    most REAL NOT NULL,                 -- users, or transactions per second
    precision REAL NOT NULL             -- share between the highest load that met it and the lowest that did not
);
-- A reset of the data set.
CREATE TABLE reset (
    phase INTEGER PRIMARY KEY REFERENCES phase,
    subject INTEGER NOT NULL REFERENCES subject,
    method TEXT NOT NULL,               -- files | template | reload
    from_bytes INTEGER NOT NULL,
    to_bytes INTEGER NOT NULL,
    verified TEXT NOT NULL              -- as consistency.detail: what was compared
);
-- What a session can do: state, and the server's own name for what it waits for.
CREATE TABLE wait_event (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL,                -- cpu | data_read | data_write | log | lock | latch | client | idle | other
    event TEXT NOT NULL,                -- '' where the server names nothing
    UNIQUE (state, event)
);
-- What a server's sessions did in one second, in the order of time.
CREATE TABLE wait (
    subject INTEGER NOT NULL REFERENCES subject,
    start_ns INTEGER NOT NULL,
    lasts_ns INTEGER,                   -- NULL: one second
    samples INTEGER NOT NULL,           -- of the sessions, in this second
    data BLOB NOT NULL                  -- pairs of LEB128 numbers: wait_event, and sessions found so, over all samples
);
-- What a point asks of a medium itself.
CREATE TABLE block_point (
    point INTEGER PRIMARY KEY REFERENCES point,
    profile TEXT NOT NULL,              -- '' for jobs that the plan has itself
    job TEXT NOT NULL,
    job_index INTEGER NOT NULL,
    workers INTEGER NOT NULL,
    worker_bytes INTEGER NOT NULL,
    fill REAL NOT NULL,                 -- how often that was written before the first job
    share_percent REAL,                 -- offered, of what the job reached at full speed; NULL: full speed
    streams TEXT NOT NULL               -- JSON array: what each worker is asked
);
-- What one worker did in the measure phase, by kind of request.
CREATE TABLE block_share (
    point INTEGER NOT NULL REFERENCES point,
    worker INTEGER NOT NULL,
    medium INTEGER NOT NULL REFERENCES subject,
    txn INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    response BLOB NOT NULL,             -- histogram
    PRIMARY KEY (point, worker, txn)
) WITHOUT ROWID;
-- Rounds of a step are gone through until they are steady.
CREATE TABLE steady (
    step TEXT NOT NULL,
    step_index INTEGER NOT NULL,
    medium INTEGER REFERENCES subject,  -- NULL: several at once
    window INTEGER NOT NULL,            -- the last so many rounds
    range REAL NOT NULL,                -- largest range, as a share of their mean
    slope REAL NOT NULL,                -- largest change along the least-squares line, as a share of their mean
    most_rounds INTEGER NOT NULL
);
-- What the doctor found before the first load.
CREATE TABLE diagnosis (
    subject INTEGER REFERENCES subject, -- the medium; NULL: the machine
    code TEXT NOT NULL,
    level TEXT NOT NULL,                -- ok | unknown | warning | error
    disk TEXT,                          -- of several below a medium
    finding TEXT NOT NULL               -- JSON object: `finding`, its code, and `args`; `found` and `next`: sentences as
                                        -- they stand
);
-- Backups and restores.
CREATE TABLE backup (
    step TEXT NOT NULL,
    step_index INTEGER NOT NULL,
    point INTEGER REFERENCES point,     -- beside which it ran; NULL where backups are what the step is about
    system INTEGER NOT NULL REFERENCES subject,
    medium INTEGER REFERENCES subject,  -- with the data
    target INTEGER NOT NULL REFERENCES subject,  -- the medium with the backup
    cycle INTEGER NOT NULL,             -- from 0
    kind TEXT NOT NULL,                 -- backup | restore
    method TEXT NOT NULL,               -- physical | logical
    program TEXT NOT NULL,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    outcome TEXT NOT NULL,              -- complete | cancelled | failed | differs
    detail TEXT NOT NULL                -- as consistency.detail: how it compared, or why it failed; may be empty
);
-- Time without a server in one second of one system; seconds without any have no row.
CREATE TABLE outage (
    phase INTEGER NOT NULL REFERENCES phase,
    subject INTEGER NOT NULL REFERENCES subject,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    server_ns INTEGER NOT NULL,         -- from the loss of the first connection until one was open again
    connections_ns INTEGER NOT NULL     -- for how long connections were lost, summed over them
);
-- Of imported runs: figures as the tool that measured them printed them.
CREATE TABLE reported (
    point INTEGER NOT NULL REFERENCES point,
    source TEXT NOT NULL,               -- the tool and its version
    txn TEXT NOT NULL,                  -- transaction type or part of the load; '' for all
    name TEXT NOT NULL,                 -- as the tool names it
    value REAL NOT NULL,
    printed TEXT NOT NULL,              -- its digits
    unit TEXT NOT NULL,
    start_ns INTEGER,                   -- part of the time that it is about; NULL: all of it
    end_ns INTEGER
);
-- SHA-256 of the content, in hexadecimal: one row, written when the run is closed. Over all pages of the file in order but
-- this table's own, without bytes 18 to 19, 24 to 27 and 92 to 99, which SQLite changes by itself.
CREATE TABLE digest (sha256 TEXT NOT NULL);
