-- On which host a node runs, and what its operator says of it.
ALTER TABLE hourbell_node ADD COLUMN host TEXT NOT NULL DEFAULT '';     -- empty: a node of an earlier release
ALTER TABLE hourbell_node ADD COLUMN labels TEXT NOT NULL DEFAULT '[]'; -- JSON array of KEY=VALUE
