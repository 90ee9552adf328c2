-- What the cloud has of a server: planned, made, or hibernated while its cluster is stopped.
ALTER TABLE servers ADD COLUMN life TEXT NOT NULL DEFAULT 'planned';
UPDATE servers SET life = 'made' WHERE made;
UPDATE servers SET life = 'hibernated' WHERE NOT made
    AND instance_id IN (SELECT id FROM instances WHERE stopped);
ALTER TABLE servers DROP COLUMN made;
