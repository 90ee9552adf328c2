-- Whom an instance's alarms are told to.
CREATE TABLE recipients (
    instance_id    BIGINT  NOT NULL REFERENCES instances (id),
    -- From 1 in each instance; never given again.
    id             BIGINT  NOT NULL,
    type           TEXT    NOT NULL,
    -- E-mail addresses stand in the clear; everything else lets its holder in
    -- somewhere, and is sealed.
    value          TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    options_sealed TEXT,
    -- Until it was, reads show no options.
    updated        BOOLEAN NOT NULL,
    -- How telling them went the last time: {at, ok, message}.
    last_status    TEXT,
    PRIMARY KEY (instance_id, id)
);

CREATE TABLE alarms (
    instance_id       BIGINT  NOT NULL REFERENCES instances (id),
    -- From 1 in each instance; never given again.
    id                BIGINT  NOT NULL,
    type              TEXT    NOT NULL,
    enabled           BOOLEAN NOT NULL,
    value_threshold   BIGINT,
    time_threshold    BIGINT,
    consumer_group    TEXT,
    -- A list of ids; an empty one is every recipient of the instance.
    recipients        TEXT    NOT NULL,
    reminder_interval BIGINT,
    PRIMARY KEY (instance_id, id)
);

-- What alarms have seen: from when a level was crossed until it is over. Those
-- that did not last are deleted; the rest is the alarm's history.
CREATE TABLE incidents (
    id           BIGINT NOT NULL PRIMARY KEY,
    instance_id  BIGINT NOT NULL REFERENCES instances (id),
    alarm_id     BIGINT NOT NULL,
    -- The server or group it is about; empty: the cluster.
    about        TEXT   NOT NULL,
    since        BIGINT NOT NULL,
    -- Null until the level has held for its whole time.
    triggered_at BIGINT,
    reminded_at  BIGINT,
    -- Since when the level is well on the good side again.
    clear_since  BIGINT,
    resolved_at  BIGINT,
    -- At the last move.
    value        TEXT,
    message      TEXT   NOT NULL
);
CREATE UNIQUE INDEX incidents_open ON incidents (instance_id, alarm_id, about)
    WHERE resolved_at IS NULL;
CREATE INDEX incidents_by_alarm ON incidents (instance_id, alarm_id, id);

-- The last ids that were given.
ALTER TABLE instances ADD COLUMN last_recipient BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN last_alarm BIGINT NOT NULL DEFAULT 0;

-- Messages of one lane go out one after another; none: whenever they are due.
ALTER TABLE outbox ADD COLUMN lane TEXT;
CREATE INDEX outbox_by_lane ON outbox (lane, id);
-- Lanes in which nothing goes out for a while.
CREATE TABLE outbox_lanes (
    lane    TEXT   NOT NULL PRIMARY KEY,
    free_at BIGINT NOT NULL
);
-- When each message's turn comes that is the first of its lane, or in none.
CREATE VIEW outbox_turns AS
    SELECT outbox.id AS id,
        CASE WHEN outbox_lanes.free_at > outbox.due_at THEN outbox_lanes.free_at
             ELSE outbox.due_at END AS turn_at
    FROM outbox LEFT JOIN outbox_lanes ON outbox_lanes.lane = outbox.lane
    WHERE outbox.lane IS NULL OR NOT EXISTS (
        SELECT 1 FROM outbox AS earlier
        WHERE earlier.lane = outbox.lane AND earlier.id < outbox.id);

-- Instances that were there before get what new ones start with.
INSERT INTO recipients (instance_id, id, type, value, name, updated)
    SELECT instances.id, 1, 'email', accounts.email, 'Default', FALSE
    FROM instances JOIN accounts ON accounts.id = instances.account_id
    WHERE instances.deleted_at IS NULL;
INSERT INTO alarms (instance_id, id, type, enabled, value_threshold, time_threshold, recipients)
    SELECT id, 1, 'cpu', TRUE, 90, 600, '[]' FROM instances
    WHERE deleted_at IS NULL AND NOT no_default_alarms;
INSERT INTO alarms (instance_id, id, type, enabled, value_threshold, time_threshold, recipients)
    SELECT id, 2, 'memory', TRUE, 90, 600, '[]' FROM instances
    WHERE deleted_at IS NULL AND NOT no_default_alarms;
INSERT INTO alarms (instance_id, id, type, enabled, value_threshold, time_threshold, recipients)
    SELECT id, 3, 'disk', TRUE, 5, 600, '[]' FROM instances
    WHERE deleted_at IS NULL AND NOT no_default_alarms;
INSERT INTO alarms (instance_id, id, type, enabled, recipients)
    SELECT id, CASE WHEN no_default_alarms THEN 1 ELSE 4 END, 'notice', TRUE, '[]' FROM instances
    WHERE deleted_at IS NULL;
UPDATE instances SET last_recipient = 1,
    last_alarm = CASE WHEN no_default_alarms THEN 1 ELSE 4 END
    WHERE deleted_at IS NULL;
