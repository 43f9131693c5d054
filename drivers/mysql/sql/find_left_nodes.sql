-- statement findLeftNodes, returns found
-- Reports whether jobs that were left to open transactions are to be looked at again.
SELECT EXISTS (SELECT 1 FROM hourbell_node FORCE INDEX (hourbell_node_look) WHERE look_at <= {at(:now)}) AS found
