-- The first schema. Times are UTC epoch milliseconds; `body` is the JSON of the value that the row is.

-- Queue, run state and ledger. A partition (minute, shard) is the span of its minute's due times, so its rows lie
-- side by side in the order in which they are read. What is planned is written once, what happened only by
-- conditional updates that name the state they come from; `followed` by nobody but `follow`.
CREATE TABLE timetable (
    shard INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    job_id TEXT NOT NULL,
    nominal_ms INTEGER NOT NULL,
    origin INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    owner TEXT NOT NULL,
    cause TEXT NOT NULL,
    generation INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    requeues INTEGER NOT NULL,
    state TEXT,
    reason TEXT,
    claim TEXT,
    executor TEXT,
    incarnation TEXT,
    generation_ran INTEGER,
    started_ms INTEGER,
    finished_ms INTEGER,
    exit_code INTEGER,
    error TEXT,
    output TEXT,
    next_due_ms INTEGER,
    next_cause TEXT,
    next_generation INTEGER,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    followed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (shard, due_ms, job_id, nominal_ms, origin, attempt)
) STRICT, WITHOUT ROWID;

-- What runs on an executor, found at once when it is condemned. Holds only what runs.
CREATE INDEX timetable_running ON timetable (incarnation) WHERE state = 'RUNNING';

CREATE TABLE minutes (
    shard INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    closing INTEGER NOT NULL DEFAULT 0,
    closed INTEGER NOT NULL DEFAULT 0,
    settled INTEGER NOT NULL DEFAULT 0,
    totals TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (shard, minute)
) STRICT, WITHOUT ROWID;

-- One open request for each partition. The id is never used twice: who forgets one it has dealt with does not
-- forget a newer one.
CREATE TABLE reopened (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    shard INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    UNIQUE (shard, minute)
) STRICT;

-- Heads are appended in the order in which they come; only the two small indexes are written to all over. `live_run`
-- changes by itself and is not in the body.
CREATE TABLE heads (
    id INTEGER PRIMARY KEY,
    shard INTEGER NOT NULL,
    job_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    generation INTEGER NOT NULL,
    status TEXT NOT NULL,
    live_run TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX heads_of_shard ON heads (shard, job_id);
CREATE INDEX heads_of_owner ON heads (owner, job_id) WHERE status <> 'deleted';

-- `job` is heads.id: small, and new jobs' specs lie side by side.
CREATE TABLE specs (
    id INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX specs_of_job ON specs (job, generation);

CREATE TABLE names (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    job_id TEXT NOT NULL,
    PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE intents (
    minute INTEGER NOT NULL,
    job_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (minute, job_id, generation)
) STRICT, WITHOUT ROWID;

-- Tables with an id of their own are in the order in which they were written: what is past its retention stands
-- first.
CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL,
    origin INTEGER NOT NULL,
    nominal_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (job_id, origin)
) STRICT;
CREATE INDEX requests_of_job ON requests (job_id, nominal_ms);

CREATE TABLE skipped (
    id INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL,
    from_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    UNIQUE (job_id, from_ms, until_ms)
) STRICT;

CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL,
    nominal_ms INTEGER NOT NULL,
    origin INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    owner TEXT NOT NULL,
    state TEXT NOT NULL,
    cause TEXT NOT NULL,
    due_ms INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    started_ms INTEGER,
    generation INTEGER,
    executor TEXT,
    exit_code INTEGER,
    error TEXT,
    reason TEXT,
    output TEXT,
    next_due_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX history_of_job ON history (job_id, nominal_ms, origin, attempt);

CREATE TABLE beats (
    executor TEXT NOT NULL,
    incarnation TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    recorded_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (executor, incarnation)
) STRICT, WITHOUT ROWID;

-- `attempt` is the JSON of its key.
CREATE TABLE kills (
    executor TEXT NOT NULL,
    incarnation TEXT NOT NULL,
    attempt TEXT NOT NULL,
    PRIMARY KEY (executor, incarnation, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE drains (executor TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    token_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    taken_ms INTEGER NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (scope, idempotency_key)
) STRICT;

CREATE TABLE audit_log (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What is fixed when the store is made: the number of shards.
CREATE TABLE installation (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
