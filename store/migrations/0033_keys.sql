-- Until when a customer key is good; none: until it is revoked.
ALTER TABLE apikeys ADD COLUMN expires_at BIGINT;
-- The address it was last used from.
ALTER TABLE apikeys ADD COLUMN last_used_from TEXT;
