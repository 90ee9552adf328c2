-- What an instance's client authority has signed for its customer. Revoked ones
-- stay, so that nobody wonders where they went.
CREATE TABLE certificates (
    instance_id BIGINT NOT NULL REFERENCES instances (id),
    -- Hex, lower case.
    serial      TEXT   NOT NULL,
    cn          TEXT   NOT NULL,
    issued_at   BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    revoked_at  BIGINT,
    PRIMARY KEY (instance_id, serial)
);
CREATE INDEX certificates_by_cn ON certificates (instance_id, cn);
-- Every look of the engine asks for these, and most instances have none.
CREATE INDEX certificates_revoked ON certificates (instance_id, expires_at)
    WHERE revoked_at IS NOT NULL;
