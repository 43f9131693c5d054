-- store.InQueue: a queue, and the name of a queue.
($1 = $2 OR substr($1, 1, length($2) + 1) = $2 || '@')
