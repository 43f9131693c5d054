-- store.InQueue: a queue, and the name of a queue.
($1 = $2 OR starts_with($1, $2 || '@'))
