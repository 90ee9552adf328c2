-- Whether a server belongs to its cluster, comes or goes: joining, member or leaving.
ALTER TABLE servers ADD COLUMN membership TEXT NOT NULL DEFAULT 'member';

-- There while an instance gets another number of servers, or is rebalanced.
CREATE TABLE resizes (
    instance_id        BIGINT  NOT NULL PRIMARY KEY REFERENCES instances (id),
    action_id          BIGINT  NOT NULL REFERENCES actions (id),
    nodes_before       BIGINT  NOT NULL,
    nodes_after        BIGINT  NOT NULL,
    raise_replication  BOOLEAN NOT NULL,
    accept_single_copy BOOLEAN NOT NULL,
    -- Cancelled: what was begun is undone.
    undo               BOOLEAN NOT NULL DEFAULT FALSE,
    -- A server has begun to go, so it can't be undone any more.
    removing           BOOLEAN NOT NULL DEFAULT FALSE,
    -- Bytes done and left, and when.
    progress           TEXT,
    -- What was changed in Kafka and has to be put back.
    memory             TEXT    NOT NULL DEFAULT '{}'
);

-- The highest node id that a server of the instance was ever given: none is used twice,
-- because Kafka may remember a broker that was removed.
ALTER TABLE instances ADD COLUMN last_node_id BIGINT NOT NULL DEFAULT 0;
UPDATE instances SET last_node_id =
    COALESCE((SELECT MAX(node_id) FROM servers WHERE instance_id = instances.id), 0);
