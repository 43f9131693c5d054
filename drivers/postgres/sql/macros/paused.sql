-- A pause that is active concerns a job. Claims compare in other ways, because they look at many jobs.
EXISTS (SELECT FROM {schema}.pause AS p WHERE coalesce(p.until > coalesce(:now::timestamptz, now()), true) AND {concerns(p.subject, p.name, $1)})
