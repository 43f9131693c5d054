-- Indexes by which listings find few rows among very many. Jobs that complete and slots that
-- fire are in neither, so that they cost nothing.

-- Jobs that did not complete, by number.
CREATE INDEX hourbell_history_failed ON hourbell_history (id, finished_at) WHERE state >= 4;

-- Records of more than one slot: the records that can begin before a range of time and reach into it.
CREATE INDEX hourbell_slot_spans ON hourbell_slot (last) WHERE count > 1;
