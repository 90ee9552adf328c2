-- Raised to have a broker started anew: it is out of date while it runs from
-- an earlier start.
ALTER TABLE servers ADD COLUMN launch BIGINT NOT NULL DEFAULT 0;
-- Asked for: its broker does not run until it is asked for again.
ALTER TABLE servers ADD COLUMN stopped BOOLEAN NOT NULL DEFAULT FALSE;

-- What was asked of an instance, by whom, and how it went.
CREATE TABLE actions (
    id           BIGINT NOT NULL PRIMARY KEY,
    instance_id  BIGINT NOT NULL REFERENCES instances (id),
    kind         TEXT   NOT NULL,
    -- The numbers of the servers it is about; none: all of them.
    servers      TEXT   NOT NULL,
    asked_by     TEXT   NOT NULL,
    source       TEXT   NOT NULL,
    asked_at     BIGINT NOT NULL,
    -- The intent that it raised; it ends once servers have reached that.
    generation   BIGINT NOT NULL,
    cancelled_at BIGINT,
    ended_at     BIGINT
);
CREATE INDEX actions_by_instance ON actions (instance_id, id);

-- What was done and waited for, in words, in order.
CREATE TABLE action_steps (
    action_id BIGINT NOT NULL REFERENCES actions (id),
    number    BIGINT NOT NULL,
    at        BIGINT NOT NULL,
    text      TEXT   NOT NULL,
    PRIMARY KEY (action_id, number)
);
