-- People who are signed in to the console. What their browser shows is stored as its hash.
CREATE TABLE sessions (
    id           TEXT    NOT NULL PRIMARY KEY,
    user_id      TEXT    NOT NULL REFERENCES users (id),
    token_hash   TEXT    NOT NULL,
    -- A one-time link was used, and no password.
    by_link      BOOLEAN NOT NULL,
    started_at   BIGINT  NOT NULL,
    last_seen_at BIGINT  NOT NULL,
    address      TEXT,
    -- As the browser calls itself.
    browser      TEXT    NOT NULL
);
CREATE UNIQUE INDEX sessions_by_token ON sessions (token_hash);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_age ON sessions (last_seen_at);

-- Texts that are good once, for a short time: a link that signs a user in, and what a browser
-- goes on with after the password. A user has one of each purpose.
CREATE TABLE login_tokens (
    id         TEXT   NOT NULL PRIMARY KEY,
    user_id    TEXT   NOT NULL REFERENCES users (id),
    purpose    TEXT   NOT NULL,
    token_hash TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX login_tokens_by_token ON login_tokens (token_hash);
CREATE UNIQUE INDEX login_tokens_by_user ON login_tokens (user_id, purpose);
CREATE INDEX login_tokens_by_age ON login_tokens (expires_at);

-- What codes of six digits are made from. It counts once `users.tfa_enabled` is true.
CREATE TABLE second_factors (
    user_id       TEXT   NOT NULL PRIMARY KEY REFERENCES users (id),
    secret_sealed TEXT   NOT NULL,
    -- A code is good once: the number of the last 30 seconds that one was taken of.
    last_step     BIGINT NOT NULL
);

-- Codes for those who have lost what makes the others; each is good once.
CREATE TABLE recovery_codes (
    user_id   TEXT NOT NULL REFERENCES users (id),
    code_hash TEXT NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);
