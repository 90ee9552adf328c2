-- Every line of the audit log is marked by who writes it, and later sealed into
-- its account's chain by a task: `place` counts from 1 in each account, `hash`
-- is of the line and of the hash before.
--
-- The mark is sealed with the master key, which is not in the database; lines
-- from before this migration have none.
ALTER TABLE audit ADD COLUMN mark_sealed TEXT;
ALTER TABLE audit ADD COLUMN place BIGINT;
ALTER TABLE audit ADD COLUMN hash TEXT;
CREATE UNIQUE INDEX audit_by_place ON audit (account_id, place);
CREATE INDEX audit_unsealed ON audit (account_id, id) WHERE place IS NULL;

-- Where each chain ends, sealed with the master key: its length and last hash.
CREATE TABLE audit_chains (
    account_id  TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id),
    head_sealed TEXT NOT NULL
);
