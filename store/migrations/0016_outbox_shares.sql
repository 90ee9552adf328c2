-- Whose alarm a message is of, and what is called to send it: of either one only
-- so many are under way at once.
ALTER TABLE outbox ADD COLUMN instance_id BIGINT;
ALTER TABLE outbox ADD COLUMN destination TEXT NOT NULL DEFAULT '';
-- What services know its incident by; of one that still waits nobody is reminded.
ALTER TABLE outbox ADD COLUMN incident TEXT;
CREATE INDEX outbox_by_end ON outbox (give_up_at);
