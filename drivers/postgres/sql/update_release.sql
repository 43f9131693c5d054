-- statement updateRelease, takes id place done_to
-- Records how far a row of notes is carried out.
UPDATE {schema}.release SET place = :place::integer, done_to = :done_to::bigint WHERE id = :id::bigint
