-- Of a count by samples: the share of all numbers of a span in the samples. The samples, and the span.
(SELECT sum(s.to_id - s.from_id)::float8 FROM $1 AS s) / (SELECT r.numbers FROM $2 AS r)
