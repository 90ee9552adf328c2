-- Where an instance's logs and metrics are sent.
CREATE TABLE integrations (
    instance_id   BIGINT NOT NULL REFERENCES instances (id),
    -- From 1 in each instance, for both kinds together; never given again.
    id            BIGINT NOT NULL,
    kind          TEXT   NOT NULL,
    system        TEXT   NOT NULL,
    -- All settings, since most systems have a key among them.
    config_sealed TEXT   NOT NULL,
    -- Raised by each change of the settings.
    version       BIGINT NOT NULL,
    -- The last failure in a sentence; empty while deliveries work. Of logs it is the newest
    -- of integration_errors.
    error         TEXT   NOT NULL DEFAULT '',
    created_at    BIGINT NOT NULL,
    -- Of metrics: when the next are sent, up to what time they have been, and how often
    -- sending them has failed since it last worked. Logs are sent by agents and have none.
    due_at        BIGINT,
    sent_through  BIGINT,
    failures      BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (instance_id, id)
);
CREATE INDEX integrations_by_due ON integrations (due_at) WHERE due_at IS NOT NULL;

-- Servers whose logs can't be sent, as their agents last said.
CREATE TABLE integration_errors (
    instance_id    BIGINT NOT NULL,
    integration_id BIGINT NOT NULL,
    server_id      BIGINT NOT NULL,
    message        TEXT   NOT NULL,
    -- Events that were left out since deliveries last worked.
    dropped        BIGINT NOT NULL,
    at             BIGINT NOT NULL,
    PRIMARY KEY (instance_id, integration_id, server_id)
);
CREATE INDEX integration_errors_by_server ON integration_errors (server_id);

-- The last id that was given.
ALTER TABLE instances ADD COLUMN last_integration BIGINT NOT NULL DEFAULT 0;
-- Raised by each change of where logs are sent, so that agents know when to fetch it.
ALTER TABLE instances ADD COLUMN integrations_revision BIGINT NOT NULL DEFAULT 0;
-- How the operator has calls to integrations leave, as agents were last given it. Sealed: a
-- proxy's password may be part of it.
ALTER TABLE installation ADD COLUMN outbound_sealed TEXT;
