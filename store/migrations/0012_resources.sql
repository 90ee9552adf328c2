-- What the customer set for all brokers: names and values.
ALTER TABLE instances ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
-- Raised with what the engine writes into Kafka, the password and the settings;
-- and what it has written last.
ALTER TABLE instances ADD COLUMN inside_generation BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN inside_observed BIGINT NOT NULL DEFAULT 0;

-- Users who come by certificate: Kafka knows nothing of them but their rights.
CREATE TABLE ssl_users (
    instance_id BIGINT NOT NULL REFERENCES instances (id),
    name        TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (instance_id, name)
);

-- Numbers by which people know ACLs, which have none in Kafka, and the words in
-- which they asked for them. What an ACL says is one text.
CREATE TABLE acls (
    instance_id BIGINT NOT NULL REFERENCES instances (id),
    id          BIGINT NOT NULL,
    says        TEXT   NOT NULL,
    words       TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (instance_id, id)
);
CREATE UNIQUE INDEX acls_by_what_they_say ON acls (instance_id, says);
