-- How far replicas had moved when a change of servers ended: its own row is gone then.
ALTER TABLE actions ADD COLUMN progress TEXT;
