-- statement readIncrement, returns step
-- How far the numbers of the rows of one insert are apart; in a cluster more than one.
SELECT @@auto_increment_increment AS step
