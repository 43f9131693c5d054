-- Draws a token for every grant that another program makes without a token, such
-- as ShedLock in Java. The program can read the token from {state}. Grants by
-- Hourbell, whose owners end in /process/random, draw their own tokens.
CREATE OR REPLACE FUNCTION {function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO {state} AS s (name, token) VALUES (NEW.name, 1)
    ON CONFLICT (name) DO UPDATE SET token = s.token + 1;
    RETURN NULL;
END
$$;

DROP TRIGGER IF EXISTS hourbell_token ON {table};

CREATE TRIGGER hourbell_token
AFTER INSERT OR UPDATE OF locked_by ON {table}
FOR EACH ROW WHEN (NEW.locked_by <> '' AND NEW.locked_by !~ '/[0-9]+/[A-Z2-7]{26}$')
EXECUTE FUNCTION {function}();
