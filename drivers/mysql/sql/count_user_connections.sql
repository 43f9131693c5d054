-- statement countUserConnections, returns connections
-- How many connections the user has. The list of the server shows a user his own connections without any right.
SELECT COUNT(*) AS connections FROM information_schema.PROCESSLIST WHERE USER = SUBSTRING_INDEX(USER(), _utf8mb4'@', 1)
