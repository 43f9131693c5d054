-- The version of an owner's schedules that is in force, and the copies of it that hosts declare.
ALTER TABLE {schema}.owner
    ADD COLUMN digest    text NOT NULL DEFAULT '', -- of the version in force; empty: not known
    ADD COLUMN host      text NOT NULL DEFAULT '', -- whose copy brought it; empty: of a caller without a host
    ADD COLUMN synced_at timestamptz;              -- when it came into force

-- The revision of a crontab was the time of its file, in microseconds; now it has none.
UPDATE {schema}.owner SET revision = 0 WHERE revision >= 1000000000000000;

CREATE TABLE {schema}.copy (
    owner      text COLLATE "C" NOT NULL,
    host       text COLLATE "C" NOT NULL,
    path       text NOT NULL,
    digest     text NOT NULL,
    revision   bigint NOT NULL,
    changed_at timestamptz NOT NULL, -- when this content was declared first
    PRIMARY KEY (owner, host)
);
