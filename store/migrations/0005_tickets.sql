-- Leave to stop servers of an instance. A broker stops only after its agent has
-- claimed the ticket that is open; closing it removes the row.
CREATE TABLE tickets (
    id          BIGINT NOT NULL PRIMARY KEY,
    instance_id BIGINT NOT NULL REFERENCES instances (id),
    -- Absent: every server of the instance, which stops as a whole.
    server_id   BIGINT,
    -- Of the lease that it was opened under; worth nothing under another.
    epoch       BIGINT NOT NULL,
    why         TEXT   NOT NULL,
    opened_at   BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL
);
-- One open ticket an instance.
CREATE UNIQUE INDEX tickets_by_instance ON tickets (instance_id);

-- Which servers were let stop under a ticket.
CREATE TABLE claims (
    ticket_id  BIGINT NOT NULL REFERENCES tickets (id),
    server_id  BIGINT NOT NULL,
    claimed_at BIGINT NOT NULL,
    PRIMARY KEY (ticket_id, server_id)
);
