-- Who pays, as invoices print it, and which months are closed: nothing that
-- happens later may be put before `billed_until`.
ALTER TABLE accounts ADD COLUMN company TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN country TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN billed_until BIGINT NOT NULL DEFAULT 0;

-- What an instance was from a moment on. It outlives the instance's row, which
-- is why it refers to none.
CREATE TABLE instance_history (
    id          BIGINT NOT NULL PRIMARY KEY,
    instance_id BIGINT NOT NULL,
    account_id  TEXT   NOT NULL REFERENCES accounts (id),
    at          BIGINT NOT NULL,
    change      TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    plan        TEXT   NOT NULL,
    -- Null in rows of this migration alone: prices are in the catalogue, and
    -- the control plane fills them in when it starts.
    price_cents BIGINT CHECK (price_cents >= 0),
    tags        TEXT   NOT NULL
);
CREATE INDEX instance_history_by_instance ON instance_history (instance_id, id);
CREATE INDEX instance_history_by_account ON instance_history (account_id, at);

-- Of instances that are there, as they are now: what they were called before
-- was not kept.
INSERT INTO instance_history
    (id, instance_id, account_id, at, change, name, plan, price_cents, tags)
SELECT id, id, account_id, created_at, 'created', name, plan, NULL, tags
FROM instances;
INSERT INTO instance_history
    (id, instance_id, account_id, at, change, name, plan, price_cents, tags)
SELECT id + (SELECT MAX(id) FROM instances), id, account_id, deleted_at, 'deleted', name, plan,
    NULL, tags
FROM instances WHERE deleted_at IS NOT NULL;
INSERT INTO sequences (name, value)
SELECT 'instance_history', id FROM instance_history ORDER BY id DESC LIMIT 1;

-- Issued invoices: documents that never change, but for `paid_at`.
CREATE TABLE invoices (
    id          BIGINT NOT NULL PRIMARY KEY,
    number      BIGINT NOT NULL,
    account_id  TEXT   NOT NULL REFERENCES accounts (id),
    -- YYYY-MM, so that it sorts.
    period      TEXT   NOT NULL,
    total_cents BIGINT NOT NULL,
    lines       TEXT   NOT NULL,
    customer    TEXT   NOT NULL,
    seller      TEXT   NOT NULL,
    issued_at   BIGINT NOT NULL,
    paid_at     BIGINT
);
CREATE UNIQUE INDEX invoices_by_number ON invoices (number);
CREATE UNIQUE INDEX invoices_by_period ON invoices (account_id, period);
