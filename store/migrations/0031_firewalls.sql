-- Who may reach an instance's servers. An instance without a row has the default rules, of
-- revision 1.
CREATE TABLE firewalls (
    instance_id BIGINT NOT NULL PRIMARY KEY REFERENCES instances (id),
    -- Empty: the default.
    rules       TEXT   NOT NULL,
    -- Raised by each change.
    revision    BIGINT NOT NULL
);

-- Observed: the revision of the rules that are in effect on a server, and whether its cloud
-- enforces them. 0: none has been applied yet.
ALTER TABLE servers ADD COLUMN firewall_revision BIGINT NOT NULL DEFAULT 0;
ALTER TABLE servers ADD COLUMN firewall_enforced BOOLEAN NOT NULL DEFAULT FALSE;

-- Observed: clients without a login have rights in Kafka, as they have where rules are enforced.
ALTER TABLE instances ADD COLUMN anonymous_let_in BOOLEAN NOT NULL DEFAULT FALSE;
