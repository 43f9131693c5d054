-- Of a count by samples: the first number of the rows of a table, and how many numbers there are from it to the last.
SELECT min(id) AS first, max(id) - min(id) + 1 AS numbers FROM {schema}.$1
