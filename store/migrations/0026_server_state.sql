-- What the cloud has of a server: planned, made, or hibernated while its cluster is stopped.
ALTER TABLE servers ADD COLUMN state TEXT NOT NULL DEFAULT 'planned';
UPDATE servers SET state = 'made' WHERE made;
-- Its disk tells one that was made before from one that never was.
UPDATE servers SET state = 'hibernated' WHERE NOT made
    AND id IN (SELECT server_id FROM disks WHERE state IN ('formatting', 'formatted'));
ALTER TABLE servers DROP COLUMN made;
