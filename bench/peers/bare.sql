CREATE TABLE job (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	run_at timestamptz NOT NULL DEFAULT now(),
	node bigint,
	state smallint NOT NULL DEFAULT 0,
	args json NOT NULL
);
CREATE INDEX job_ready ON job (run_at, id) WHERE state = 0;
