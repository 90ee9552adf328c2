-- The later action that replaced this one before it was carried out.
ALTER TABLE actions ADD COLUMN superseded_by BIGINT;
-- Earlier releases kept the later action of each server, as in {"2":8,"3":8}. One that is
-- still open ends with the rest, once servers are where they should be.
UPDATE actions SET superseded_by = (
    SELECT MAX(later.id) FROM actions AS later
    WHERE later.instance_id = actions.instance_id
        AND REPLACE(actions.overtaken, '}', ',') LIKE '%:' || CAST(later.id AS TEXT) || ',%'
) WHERE overtaken <> '{}';
ALTER TABLE actions DROP COLUMN overtaken;

-- Intent that lives in Kafka itself, such as passwords and settings.
ALTER TABLE instances RENAME COLUMN inside_generation TO kafka_generation;
ALTER TABLE instances RENAME COLUMN inside_observed TO kafka_observed;
