-- Set by the operator: the engine executes no step, of one instance or of any.
ALTER TABLE instances ADD COLUMN paused BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE installation ADD COLUMN paused BOOLEAN NOT NULL DEFAULT FALSE;
