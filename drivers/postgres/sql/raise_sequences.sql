-- statement raiseSequences, takes token node margin nodes_margin, returns token node
-- Raises the sequences of tokens and of nodes above their last values and above the values
-- that were reported (:token, :node), by :margin and :nodes_margin.
SELECT setval('{schema_text}.token', greatest((SELECT last_value FROM {schema}.token), :token::bigint) + :margin::bigint) AS token,
    setval('{schema_text}.node_id_seq', greatest((SELECT last_value FROM {schema}.node_id_seq), :node::bigint) + :nodes_margin::bigint) AS node
