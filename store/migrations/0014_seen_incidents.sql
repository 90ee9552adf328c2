-- Until when a level is known to have held that waits for its time.
ALTER TABLE incidents ADD COLUMN seen_at BIGINT;
