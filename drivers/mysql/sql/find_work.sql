-- statement findWork, returns alive pauses handled limited permits now due suspects next_due
-- What a claim looks at before it locks anything, all at one instant: what hold_node returns, the instant, the priorities that have
-- due jobs which the claim may take, as bits, whether there may be a suspect, and, if no job is due, when the next job is.
SELECT n.alive, n.pauses, n.handled, n.limited, n.permits, w.now, w.due, w.suspects,
  CASE WHEN w.due = 0 THEN ({statement(find_next_due)}) END AS next_due
FROM ({statement(hold_node)}) AS n,
  (SELECT :now AS now, (SELECT BIT_OR(1 << d.priority) FROM ({statement(find_due_priorities)}) AS d) AS due,
    ({statement(find_suspect)}) AS suspects) AS w
