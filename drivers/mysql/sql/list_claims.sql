-- The claims of a node.
SELECT j.id, j.token FROM hourbell_job AS j WHERE j.node = :node AND j.state = 2 ORDER BY j.id
