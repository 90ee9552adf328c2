-- Who sends a message just now, or died of it: when they start again, what they had
-- taken is due at once.
ALTER TABLE outbox ADD COLUMN taken_by TEXT;
