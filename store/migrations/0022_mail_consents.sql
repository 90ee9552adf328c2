-- E-mail addresses outside an account's team that alarms shall go to. Nothing but
-- one mail with a link goes there before the link is used.
CREATE TABLE mail_consents (
    account_id   TEXT   NOT NULL REFERENCES accounts (id),
    email_key    TEXT   NOT NULL,
    -- Of the last link; none for addresses that were recipients before there were links.
    token_hash   TEXT,
    asked_at     BIGINT NOT NULL,
    -- Null until the link is used.
    confirmed_at BIGINT,
    PRIMARY KEY (account_id, email_key)
);
CREATE UNIQUE INDEX mail_consents_by_token ON mail_consents (token_hash);
CREATE INDEX mail_consents_by_age ON mail_consents (asked_at);
-- Addresses whose owner wants no mail from this installation.
CREATE TABLE mail_blocks (
    mailbox_hash TEXT   NOT NULL PRIMARY KEY,
    blocked_at   BIGINT NOT NULL
);
-- How much was sent in the current hour or day, by account and by destination.
CREATE TABLE send_counts (
    subject TEXT   NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL,
    count   BIGINT NOT NULL
);
CREATE INDEX send_counts_by_end ON send_counts (ends_at);
-- Invitations are counted there as well.
DROP TABLE invited;

-- Whose message it is, also once its instance is gone.
ALTER TABLE outbox ADD COLUMN account_id TEXT;
UPDATE outbox SET account_id =
    (SELECT account_id FROM instances WHERE instances.id = outbox.instance_id);

-- Addresses that got alarms until now go on to get them.
INSERT INTO mail_consents (account_id, email_key, asked_at, confirmed_at)
    SELECT DISTINCT instances.account_id, LOWER(recipients.value), 0, 0
    FROM recipients JOIN instances ON instances.id = recipients.instance_id
    JOIN accounts ON accounts.id = instances.account_id
    WHERE recipients.type = 'email' AND LOWER(recipients.value) <> LOWER(accounts.email)
    AND NOT EXISTS (SELECT 1 FROM users WHERE users.account_id = instances.account_id
        AND users.email_key = LOWER(recipients.value));
