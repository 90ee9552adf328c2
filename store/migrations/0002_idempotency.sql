-- Answers to calls that carried an Idempotency-Key, given again to the same
-- call. They are forgotten after a day.
CREATE TABLE idempotency (
    user_id       TEXT   NOT NULL,
    operation     TEXT   NOT NULL,
    key           TEXT   NOT NULL,
    -- Of what was asked for, to tell a repetition from another call.
    request_hash  TEXT   NOT NULL,
    answer_sealed TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (user_id, operation, key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);
