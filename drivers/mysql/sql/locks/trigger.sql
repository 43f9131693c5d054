-- Draws a token for every acquisition by a program that draws none, such as
-- ShedLock in Java, which can read the token from {state}. Acquisitions by
-- Hourbell, whose owners end in /process/random, draw their own tokens.
CREATE TRIGGER {inserted} AFTER INSERT ON {table} FOR EACH ROW
IF NEW.locked_by <> '' AND NEW.locked_by NOT REGEXP '/[0-9]+/[A-Z2-7]{26}$' THEN
    INSERT INTO {state} (name, token) VALUES (NEW.name, 1) ON DUPLICATE KEY UPDATE token = token + 1;
END IF;

CREATE TRIGGER {updated} AFTER UPDATE ON {table} FOR EACH ROW
IF (NEW.locked_by <> OLD.locked_by OR NEW.locked_at <> OLD.locked_at) AND NEW.locked_by NOT REGEXP '/[0-9]+/[A-Z2-7]{26}$' THEN
    INSERT INTO {state} (name, token) VALUES (NEW.name, 1) ON DUPLICATE KEY UPDATE token = token + 1;
END IF;
