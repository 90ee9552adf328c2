-- Why an instance is as it is, as JSON; null: an earlier release wrote the sentence in
-- `status` alone, which is still written beside it.
ALTER TABLE instances ADD COLUMN conditions TEXT;
-- Raised by everybody but the engine who changes what shall be or what is told.
ALTER TABLE instances ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
-- What an entry of a journal says, as JSON; null: an earlier release wrote the words alone.
ALTER TABLE action_steps ADD COLUMN note TEXT;
