-- statement findRecount, returns oldest permits
-- The oldest living node, and whether there is anything that has to do with permits: limits, also limits that have ended, lanes,
-- permits of nodes, or vacancies.
SELECT ({statement(read_oldest_node)}) AS oldest,
  EXISTS (SELECT 1 FROM hourbell_job_limit) OR EXISTS (SELECT 1 FROM hourbell_lane) OR EXISTS (SELECT 1 FROM hourbell_node_permit)
    OR EXISTS (SELECT 1 FROM hourbell_vacancy) AS permits
