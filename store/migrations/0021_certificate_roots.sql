-- Instances made from now on have a fourth authority, `root`, which signed `server` and
-- `client`. An earlier Castellan does not know it, and refuses this store.

-- Certificates of customers that near their end.
CREATE INDEX certificates_ending ON certificates (instance_id, cn, expires_at)
    WHERE revoked_at IS NULL;
