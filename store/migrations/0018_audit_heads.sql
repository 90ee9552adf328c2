-- Where the chain of the account's audit log ends once more: whoever empties the
-- tables of the log leaves this. Null until the next line is sealed.
ALTER TABLE accounts ADD COLUMN audit_head_sealed TEXT;
