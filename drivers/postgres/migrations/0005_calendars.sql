-- Calendars that schedules share by name, and which schedules name them. A row of
-- calendar_use whose schedule is a tombstone means nothing.
CREATE TABLE {schema}.calendar (
    name       text COLLATE "C" PRIMARY KEY,
    revision   bigint NOT NULL,
    definition text NOT NULL,
    updated_at timestamptz NOT NULL
);

CREATE TABLE {schema}.calendar_use (
    calendar    text COLLATE "C" NOT NULL,
    schedule_id bigint NOT NULL,
    PRIMARY KEY (calendar, schedule_id)
);

CREATE INDEX calendar_use_schedule ON {schema}.calendar_use (schedule_id);
