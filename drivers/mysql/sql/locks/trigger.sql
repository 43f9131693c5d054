-- Draws a token for every grant that another program makes without a token, such
-- as ShedLock in Java. The program can read the token from {state}. Grants by
-- Hourbell, whose owners end in /process/random, draw their own tokens.
CREATE TRIGGER {inserted} AFTER INSERT ON {table} FOR EACH ROW
IF NEW.locked_by <> '' AND NEW.locked_by NOT REGEXP '/[0-9]+/[A-Z2-7]{26}$' THEN
    INSERT INTO {state} (name, token) VALUES (NEW.name, 1) ON DUPLICATE KEY UPDATE token = token + 1;
END IF;

CREATE TRIGGER {updated} AFTER UPDATE ON {table} FOR EACH ROW
IF (NEW.locked_by <> OLD.locked_by OR NEW.locked_at <> OLD.locked_at) AND NEW.locked_by NOT REGEXP '/[0-9]+/[A-Z2-7]{26}$' THEN
    INSERT INTO {state} (name, token) VALUES (NEW.name, 1) ON DUPLICATE KEY UPDATE token = token + 1;
END IF;
