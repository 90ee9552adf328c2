-- What the cloud has made of a disk: less than size_gb while it is to grow.
ALTER TABLE disks ADD COLUMN made_gb BIGINT NOT NULL DEFAULT 0;
UPDATE disks SET made_gb = size_gb;

-- What the cloud was last asked to let a server have. A broker that was started for a larger
-- plan keeps it until it has been restarted for a smaller one.
ALTER TABLE servers ADD COLUMN granted_cores BIGINT;
ALTER TABLE servers ADD COLUMN granted_memory_mb BIGINT;
