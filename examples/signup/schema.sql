-- The tables of the service. Hourbell keeps its own in the schema "hourbell".

CREATE TABLE IF NOT EXISTS account (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email      text NOT NULL UNIQUE,
    name       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Mails that were handed over. A row is committed together with the completion of its job.
CREATE TABLE IF NOT EXISTS sent_mail (
    job_id  bigint PRIMARY KEY,
    email   text NOT NULL,
    subject text NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT now()
);
