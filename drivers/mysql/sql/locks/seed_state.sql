-- Makes the state of a name, without a token, if it is missing.
INSERT INTO {state} (name, token)
VALUES (:name, 0)
ON DUPLICATE KEY UPDATE name = name
