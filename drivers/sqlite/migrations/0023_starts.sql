-- Rates of kinds and of keys: a job gets a start with its permits, and its claim uses the start. In permits of a job and in lanes of
-- hourbell_vacancy, the negative number of a lane is a start.
ALTER TABLE hourbell_lane ADD COLUMN starts INTEGER NOT NULL DEFAULT 0; -- that jobs hold and no claim has used, also starts in hourbell_vacancy
