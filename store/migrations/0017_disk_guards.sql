-- Servers whose disks are nearly full, and how far what is done about it goes.
CREATE TABLE disk_guards (
    server_id   BIGINT NOT NULL PRIMARY KEY,
    instance_id BIGINT NOT NULL REFERENCES instances (id),
    level       TEXT   NOT NULL,
    since       BIGINT NOT NULL
);
CREATE INDEX disk_guards_by_instance ON disk_guards (instance_id);

-- There while producers are slowed down: their quotas before, names and limits.
CREATE TABLE slowed_quotas (
    instance_id BIGINT NOT NULL PRIMARY KEY REFERENCES instances (id),
    quotas      TEXT   NOT NULL
);
