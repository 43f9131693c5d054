-- Indexes by which listings find few rows among very many. Jobs that complete and slots that
-- fire are in neither, so that they cost nothing.

-- Jobs that did not complete, by number. A condition on their ends is met in the index.
CREATE INDEX history_failed ON {schema}.history (id, finished_at) WHERE state >= 4;

-- Records of more than one slot: the records that can begin before a range of time and reach into it.
CREATE INDEX slot_spans ON {schema}.slot (last) WHERE count > 1;
