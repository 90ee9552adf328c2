-- How many bytes of audit lines an account has written on a day (of UTC, counted from
-- 1970), by share of its budget; ordinary events have the share ''.
CREATE TABLE audit_spent (
    account_id TEXT   NOT NULL REFERENCES accounts (id),
    share      TEXT   NOT NULL,
    day        BIGINT NOT NULL,
    bytes      BIGINT NOT NULL,
    PRIMARY KEY (account_id, share)
);

-- Lines beyond the budget, counted. A task turns them into one line an hour.
CREATE TABLE audit_withheld (
    account_id TEXT   NOT NULL REFERENCES accounts (id),
    event      TEXT   NOT NULL,
    user_email TEXT   NOT NULL,
    lines      BIGINT NOT NULL,
    since      BIGINT NOT NULL,
    until      BIGINT NOT NULL,
    PRIMARY KEY (account_id, event, user_email)
);

-- Where the account's chain starts, sealed with the master key; null: with its first line.
-- Lines before it are in archives.
ALTER TABLE accounts ADD COLUMN audit_start_sealed TEXT;

-- Retention looks for these by their age.
CREATE INDEX certificates_by_end ON certificates (expires_at);
CREATE INDEX incidents_by_end ON incidents (resolved_at);
CREATE INDEX held_names_by_end ON held_names (expires_at);
-- How many messages of one instance wait.
CREATE INDEX outbox_by_instance ON outbox (instance_id, id);
