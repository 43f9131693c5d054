-- Forgets claims whose jobs have all ended.
DELETE FROM {schema}.lease WHERE id = ANY ($2::bigint[]) AND node = $1::bigint
