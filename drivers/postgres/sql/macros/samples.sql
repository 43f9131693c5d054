-- Of a count by samples: :shares ranges of the numbers of a span, spread evenly, of at most :numbers numbers each.
SELECT r.first + r.numbers * s / :shares::bigint AS from_id,
    r.first + least(r.numbers * s / :shares + :numbers::bigint, r.numbers * (s + 1) / :shares) AS to_id
    FROM $1 AS r, generate_series(0, :shares - 1) AS s
