-- Names of Kafka users that a call is giving out right now: Kafka has its word in
-- it, and no transaction of ours can stay open for so long.
CREATE TABLE held_names (
    id          BIGINT NOT NULL PRIMARY KEY,
    instance_id BIGINT NOT NULL REFERENCES instances (id),
    name        TEXT   NOT NULL,
    -- `user`: nobody else has the name meanwhile. `certificate`: others may sign
    -- one of that name as well.
    purpose     TEXT   NOT NULL,
    -- A call that died holds nothing for longer.
    expires_at  BIGINT NOT NULL
);
CREATE INDEX held_names_by_name ON held_names (instance_id, name);
