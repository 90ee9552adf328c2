-- Portable between SQLite and PostgreSQL: TEXT, BIGINT and BOOLEAN only.
-- Times are microseconds since 1970 (UTC). Lists and documents are JSON text.
-- Columns called *_sealed hold text sealed with the master key.

CREATE TABLE installation (
    one             BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    id              TEXT   NOT NULL,
    host_id         TEXT   NOT NULL,
    -- Raised by a restore, so that agents accept lower revisions.
    store_epoch     BIGINT NOT NULL,
    master_key_id   TEXT   NOT NULL,
    -- The authority of agents' certificates.
    fleet_ca        TEXT   NOT NULL,
    fleet_ca_key_sealed TEXT NOT NULL,
    created_at      BIGINT NOT NULL
);

-- Numbers given out once and never again, also after rows are gone.
CREATE TABLE sequences (
    name  TEXT   NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);

CREATE TABLE accounts (
    id         TEXT   NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL,
    email      TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE users (
    id         TEXT   NOT NULL PRIMARY KEY,
    account_id TEXT   NOT NULL REFERENCES accounts (id),
    email      TEXT   NOT NULL,
    -- For comparison: e-mails differ by more than case.
    email_key  TEXT   NOT NULL,
    role       TEXT   NOT NULL,
    tags       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX users_by_email ON users (account_id, email_key);

CREATE TABLE apikeys (
    id         TEXT   NOT NULL PRIMARY KEY,
    user_id    TEXT   NOT NULL REFERENCES users (id),
    hash       TEXT   NOT NULL,
    role       TEXT   NOT NULL,
    tags       TEXT   NOT NULL,
    comment    TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX apikeys_by_hash ON apikeys (hash);

CREATE TABLE vpcs (
    id                BIGINT  NOT NULL PRIMARY KEY,
    account_id        TEXT    NOT NULL REFERENCES accounts (id),
    name              TEXT    NOT NULL,
    region            TEXT    NOT NULL,
    subnet            TEXT    NOT NULL,
    tags              TEXT    NOT NULL,
    providerid        TEXT    NOT NULL,
    made_for_instance BOOLEAN NOT NULL,
    created_at        BIGINT  NOT NULL
);
CREATE INDEX vpcs_by_account ON vpcs (account_id);

CREATE TABLE instances (
    id                  BIGINT  NOT NULL PRIMARY KEY,
    account_id          TEXT    NOT NULL REFERENCES accounts (id),
    providerid          TEXT    NOT NULL,
    -- Intent.
    name                TEXT    NOT NULL,
    plan                TEXT    NOT NULL,
    region              TEXT    NOT NULL,
    nodes               BIGINT  NOT NULL,
    kafka_version       TEXT    NOT NULL,
    disk_size           BIGINT,
    tags                TEXT    NOT NULL,
    vpc_id              BIGINT  NOT NULL REFERENCES vpcs (id),
    username            TEXT    NOT NULL,
    password_sealed     TEXT    NOT NULL,
    apikey_sealed       TEXT    NOT NULL,
    apikey_hash         TEXT    NOT NULL,
    hostname            TEXT    NOT NULL,
    cluster_id          TEXT    NOT NULL,
    maintenance_window  TEXT,
    deletion_protection BOOLEAN NOT NULL,
    stopped             BOOLEAN NOT NULL,
    created_at          BIGINT  NOT NULL,
    deleted_at          BIGINT,
    generation          BIGINT  NOT NULL,
    -- Observed; written by the engine alone.
    observed_generation BIGINT  NOT NULL,
    network_made        BOOLEAN NOT NULL,
    credentials_set     BOOLEAN NOT NULL,
    ready_at            BIGINT,
    status              TEXT    NOT NULL,
    failures            BIGINT  NOT NULL,
    -- When the engine looks again. A wake-up raises `wakes`, so that one that
    -- comes while the engine is looking is not lost.
    due_at              BIGINT  NOT NULL,
    wakes               BIGINT  NOT NULL
);
CREATE INDEX instances_by_account ON instances (account_id);
CREATE INDEX instances_due ON instances (due_at);
CREATE UNIQUE INDEX instances_by_apikey ON instances (apikey_hash);
CREATE UNIQUE INDEX instances_by_username ON instances (username);

CREATE TABLE servers (
    id                     BIGINT  NOT NULL PRIMARY KEY,
    instance_id            BIGINT  NOT NULL REFERENCES instances (id),
    number                 BIGINT  NOT NULL,
    node_id                BIGINT  NOT NULL,
    incarnation            BIGINT  NOT NULL,
    roles                  TEXT    NOT NULL,
    name                   TEXT    NOT NULL,
    kafka_version          TEXT    NOT NULL,
    host_id                TEXT    NOT NULL,
    zone                   TEXT    NOT NULL,
    private_ip             TEXT    NOT NULL,
    listeners              TEXT    NOT NULL,
    certificate_generation BIGINT  NOT NULL,
    -- The broker's configuration as last rendered, and by which rules. A new
    -- Castellan does not render it again until a planned restart.
    broker                 TEXT,
    render_version         BIGINT,
    made                   BOOLEAN NOT NULL,
    -- Enrolment: one token, used by one key.
    token_hash             TEXT,
    token_expires_at       BIGINT,
    enrolled_key           TEXT,
    enrolled_at            BIGINT,
    -- What its agent shall do, and what it last said. Documents of the agent
    -- protocol.
    revision               BIGINT  NOT NULL,
    desired                TEXT,
    report                 TEXT,
    last_seen              BIGINT
);
CREATE UNIQUE INDEX servers_by_number ON servers (instance_id, number);
CREATE UNIQUE INDEX servers_by_node ON servers (instance_id, node_id);

-- Every address and port given to a listener, so that none is given twice.
CREATE TABLE listeners (
    host_id   TEXT   NOT NULL,
    bind_host TEXT   NOT NULL,
    port      BIGINT NOT NULL,
    server_id BIGINT NOT NULL REFERENCES servers (id),
    PRIMARY KEY (host_id, bind_host, port)
);

CREATE TABLE disks (
    id           TEXT   NOT NULL PRIMARY KEY,
    instance_id  BIGINT NOT NULL REFERENCES instances (id),
    server_id    BIGINT NOT NULL REFERENCES servers (id),
    size_gb      BIGINT NOT NULL,
    directory_id TEXT   NOT NULL,
    -- Formatted with the initial controllers; one that comes later joins.
    founding     BOOLEAN NOT NULL,
    state        TEXT   NOT NULL
);
CREATE INDEX disks_by_instance ON disks (instance_id);

-- The three authorities of an instance: internal, server, client.
CREATE TABLE authorities (
    instance_id BIGINT NOT NULL REFERENCES instances (id),
    kind        TEXT   NOT NULL,
    certificate TEXT   NOT NULL,
    key_sealed  TEXT   NOT NULL,
    PRIMARY KEY (instance_id, kind)
);

-- One worker owns an instance at a time; every write of a worker checks its
-- epoch.
CREATE TABLE leases (
    instance_id BIGINT NOT NULL PRIMARY KEY,
    owner       TEXT   NOT NULL,
    epoch       BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL
);

CREATE TABLE audit (
    id          BIGINT NOT NULL PRIMARY KEY,
    account_id  TEXT   NOT NULL REFERENCES accounts (id),
    at          BIGINT NOT NULL,
    event       TEXT   NOT NULL,
    source      TEXT   NOT NULL,
    user_email  TEXT   NOT NULL,
    extras      TEXT   NOT NULL
);
CREATE INDEX audit_by_account ON audit (account_id, at);
