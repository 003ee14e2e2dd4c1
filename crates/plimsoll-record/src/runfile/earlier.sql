-- Tables as earlier schemas had them; schema.sql has those that are as they were.
CREATE TABLE point (
    id INTEGER PRIMARY KEY, step TEXT NOT NULL, step_index INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    system INTEGER NOT NULL REFERENCES subject, medium INTEGER REFERENCES subject, workload TEXT NOT NULL,
    mode TEXT NOT NULL, users INTEGER NOT NULL, offered_per_second REAL, txns TEXT NOT NULL
);
CREATE TABLE point (
    id INTEGER PRIMARY KEY, step TEXT NOT NULL, step_index INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    system INTEGER NOT NULL REFERENCES subject, medium INTEGER REFERENCES subject, workload TEXT NOT NULL,
    mode TEXT NOT NULL, users INTEGER NOT NULL, offered_per_second REAL, txns TEXT NOT NULL,
    connections INTEGER NOT NULL, offered_to_per_second REAL, repeat INTEGER NOT NULL, purpose TEXT NOT NULL
);
CREATE TABLE point (
    id INTEGER PRIMARY KEY, step TEXT NOT NULL, step_index INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    system INTEGER NOT NULL REFERENCES subject, medium INTEGER REFERENCES subject, workload TEXT NOT NULL,
    mode TEXT NOT NULL, users INTEGER NOT NULL, offered_per_second REAL, txns TEXT NOT NULL,
    connections INTEGER NOT NULL, offered_to_per_second REAL, repeat INTEGER NOT NULL, purpose TEXT NOT NULL,
    scene TEXT NOT NULL
);
CREATE TABLE tick (
    id INTEGER PRIMARY KEY, phase INTEGER NOT NULL REFERENCES phase, subject INTEGER NOT NULL REFERENCES subject,
    start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, in_flight INTEGER NOT NULL
);
CREATE TABLE outcome (
    tick INTEGER NOT NULL REFERENCES tick, txn INTEGER NOT NULL, offered INTEGER NOT NULL,
    committed INTEGER NOT NULL, rolled_back INTEGER NOT NULL, failed INTEGER NOT NULL, dropped INTEGER NOT NULL,
    retries INTEGER NOT NULL, round_trips INTEGER NOT NULL, response BLOB NOT NULL, service BLOB,
    PRIMARY KEY (tick, txn)
) WITHOUT ROWID;
CREATE TABLE outcome (
    tick INTEGER NOT NULL REFERENCES tick, txn INTEGER NOT NULL, offered INTEGER NOT NULL,
    committed INTEGER NOT NULL, rolled_back INTEGER NOT NULL, failed INTEGER NOT NULL, dropped INTEGER NOT NULL,
    retries INTEGER NOT NULL, round_trips INTEGER NOT NULL, response BLOB NOT NULL, service BLOB
);
CREATE TABLE outcome (
    tick INTEGER NOT NULL REFERENCES tick, txn INTEGER NOT NULL, offered INTEGER NOT NULL,
    committed INTEGER NOT NULL, rolled_back INTEGER NOT NULL, failed INTEGER NOT NULL, dropped INTEGER NOT NULL,
    retries INTEGER NOT NULL, round_trips INTEGER NOT NULL, response BLOB NOT NULL, service BLOB,
    bytes INTEGER NOT NULL
);
CREATE VIEW outcome AS
SELECT tick.id AS tick, json_extract(told.value, '$[0]') AS txn,
       coalesce(json_extract(told.value, '$[1]'), 0) AS offered,
       coalesce(json_extract(told.value, '$[2]'), 0) AS committed,
       coalesce(json_extract(told.value, '$[3]'), 0) AS round_trips,
       coalesce(json_extract(told.value, '$[4]'), 0) AS rolled_back,
       coalesce(json_extract(told.value, '$[5]'), 0) AS retries,
       coalesce(json_extract(told.value, '$[6]'), 0) AS failed,
       coalesce(json_extract(told.value, '$[7]'), 0) AS dropped,
       coalesce(json_extract(told.value, '$[8]'), 0) AS bytes
FROM tick, json_each(tick.counts) AS told;
CREATE TABLE sample (
    subject INTEGER NOT NULL REFERENCES subject, at_ns INTEGER NOT NULL, over_ns INTEGER NOT NULL,
    layout INTEGER NOT NULL REFERENCES layout, data BLOB NOT NULL, PRIMARY KEY (subject, at_ns)
) WITHOUT ROWID;
CREATE TABLE event (
    at_ns INTEGER NOT NULL, subject INTEGER REFERENCES subject, severity TEXT NOT NULL, code TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE diagnosis (
    subject INTEGER REFERENCES subject, code TEXT NOT NULL, level TEXT NOT NULL, found TEXT NOT NULL,
    next TEXT NOT NULL
);
CREATE TABLE event (
    at_ns INTEGER NOT NULL,
    subject INTEGER REFERENCES subject,
    severity TEXT NOT NULL,             -- note | warning | error
    code TEXT NOT NULL,
    text TEXT,                          -- a sentence, of files up to schema 7
    args TEXT                           -- JSON, since schema 8: an object of the code's arguments, or null
);
CREATE TABLE diagnosis (
    subject INTEGER REFERENCES subject, -- the medium; NULL: the machine
    code TEXT NOT NULL,
    level TEXT NOT NULL,                -- ok | unknown | warning | error
    found TEXT,                         -- sentences, of files up to schema 7
    next TEXT,
    disk TEXT,                          -- of several below a medium; this and what follows: since schema 8
    finding TEXT                        -- JSON object: `finding`, its code, and `args`
);
CREATE TABLE wait (
    subject INTEGER NOT NULL REFERENCES subject,
    start_ns INTEGER NOT NULL,
    lasts_ns INTEGER,                   -- NULL: one second
    looks INTEGER NOT NULL,             -- how often was looked in this second
    data BLOB NOT NULL                  -- pairs of LEB128 numbers: wait_event, and sessions seen so over all looks
);
