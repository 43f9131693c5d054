-- statement ReadClock, returns now
-- The server's clock.
SELECT {micros(UTC_TIMESTAMP(6))} AS now
