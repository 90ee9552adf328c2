-- The servers, by number, that a later action took from this one before it was
-- carried out there, each with that action's id.
ALTER TABLE actions ADD COLUMN overtaken TEXT NOT NULL DEFAULT '{}';

-- Until when the server's agent may act on leave to stop that it was given: a ticket
-- that is closed meanwhile does not reach it any more.
ALTER TABLE servers ADD COLUMN leaves_until BIGINT;
