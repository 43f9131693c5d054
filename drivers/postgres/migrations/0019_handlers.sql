-- Handlers: what makes jobs from what happens to jobs and schedules.
CREATE TABLE {schema}.handler (
    name       text COLLATE "C" PRIMARY KEY,
    updated_at timestamptz NOT NULL,
    events     smallint NOT NULL, -- a set of bits; see store.HandlerEvents
    kind       text NOT NULL,     -- only jobs of this kind; empty: of any
    group_name text NOT NULL,     -- only jobs of this group; empty: of any
    job        text NOT NULL      -- the job that is made, as JSON
);
