-- The instance whose create made a network: it goes with that instance alone.
-- Replaces made_for_instance, which a later release drops.
ALTER TABLE vpcs ADD COLUMN made_for BIGINT;
-- From then on nobody sees or joins it, but its range stays taken until the
-- cloud has removed it.
ALTER TABLE vpcs ADD COLUMN deleted_at BIGINT;
UPDATE vpcs SET made_for = (SELECT MIN(id) FROM instances WHERE vpc_id = vpcs.id)
    WHERE made_for_instance;
UPDATE vpcs SET deleted_at = (SELECT MIN(deleted_at) FROM instances WHERE vpc_id = vpcs.id)
    WHERE made_for_instance;
CREATE INDEX vpcs_deleted ON vpcs (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX instances_by_vpc ON instances (vpc_id);

-- Asked for at create; read when an instance gets its alarms.
ALTER TABLE instances ADD COLUMN no_default_alarms BOOLEAN NOT NULL DEFAULT FALSE;
