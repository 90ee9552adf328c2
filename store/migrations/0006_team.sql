-- People: what they call themselves, and how they log in. A user without a
-- password works with keys alone.
ALTER TABLE users ADD COLUMN name TEXT NOT NULL DEFAULT '';
-- Argon2id, as a PHC string.
ALTER TABLE users ADD COLUMN password_hash TEXT;
ALTER TABLE users ADD COLUMN tfa_enabled BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX users_by_email_key ON users (email_key);

ALTER TABLE apikeys ADD COLUMN last_used_at BIGINT;
CREATE INDEX apikeys_by_user ON apikeys (user_id);

-- Links that were sent out and not used yet. Of an e-mail there is one; a new
-- one takes its place.
CREATE TABLE invitations (
    id         TEXT   NOT NULL PRIMARY KEY,
    account_id TEXT   NOT NULL REFERENCES accounts (id),
    email      TEXT   NOT NULL,
    email_key  TEXT   NOT NULL,
    role       TEXT   NOT NULL,
    tags       TEXT   NOT NULL,
    token_hash TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX invitations_by_email ON invitations (account_id, email_key);
CREATE UNIQUE INDEX invitations_by_token ON invitations (token_hash);
CREATE INDEX invitations_by_age ON invitations (expires_at);

-- When an account invited somebody within the last hour, to limit how often.
CREATE TABLE invited (
    account_id TEXT   NOT NULL REFERENCES accounts (id),
    at         BIGINT NOT NULL
);
CREATE INDEX invited_by_account ON invited (account_id, at);

-- Messages that wait to be sent, written together with what they tell of.
CREATE TABLE outbox (
    id          BIGINT NOT NULL PRIMARY KEY,
    -- How it goes out, which says what the body is.
    kind        TEXT   NOT NULL,
    -- What it tells of, such as invitations/<id>; to take it back.
    about       TEXT   NOT NULL,
    body_sealed TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    give_up_at  BIGINT NOT NULL,
    -- When it may be tried next. Whoever takes it moves this to the end of
    -- their lease; the number of attempts tells them apart.
    due_at      BIGINT NOT NULL,
    attempts    BIGINT NOT NULL,
    last_error  TEXT   NOT NULL
);
CREATE INDEX outbox_due ON outbox (due_at);
CREATE INDEX outbox_by_about ON outbox (about);
