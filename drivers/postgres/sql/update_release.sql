-- Records how far the dependents of an ended job are released.
UPDATE {schema}.release SET done_to = :done_to::bigint WHERE id = :id::bigint
