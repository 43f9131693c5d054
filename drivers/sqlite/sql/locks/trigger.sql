-- Draws a token for every grant that another program makes without a token. The
-- program can read the token from {state}.
CREATE TRIGGER IF NOT EXISTS {inserted} AFTER INSERT ON {table}
WHEN NEW.locked_by NOT GLOB '*/[0-9]*/[A-Z2-7][A-Z2-7][A-Z2-7][A-Z2-7]*'
BEGIN
  INSERT INTO {state} (name, token) VALUES (NEW.name, 1) ON CONFLICT (name) DO UPDATE SET token = token + 1;
END;

CREATE TRIGGER IF NOT EXISTS {updated} AFTER UPDATE OF locked_by ON {table}
WHEN NEW.locked_by NOT GLOB '*/[0-9]*/[A-Z2-7][A-Z2-7][A-Z2-7][A-Z2-7]*'
BEGIN
  INSERT INTO {state} (name, token) VALUES (NEW.name, 1) ON CONFLICT (name) DO UPDATE SET token = token + 1;
END;
