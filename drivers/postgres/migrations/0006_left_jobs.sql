-- Jobs of ended nodes that a rescue or a leave has left to open transactions, which had
-- locked them.

-- When the jobs of an ended node are to be looked at again; NULL: the node holds none.
ALTER TABLE {schema}.node ADD COLUMN look_at timestamptz;

CREATE INDEX node_look ON {schema}.node (look_at) WHERE look_at IS NOT NULL;
