-- Machines with a control plane on this store. A server's process is started
-- on its own host alone.
CREATE TABLE hosts (
    id         TEXT   NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL,
    first_seen BIGINT NOT NULL,
    last_seen  BIGINT NOT NULL
);
CREATE INDEX servers_by_host ON servers (instance_id, host_id);
