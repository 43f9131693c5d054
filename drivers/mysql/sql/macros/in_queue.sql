-- store.InQueue: a queue, and the name of a queue.
($1 = $2 OR left($1, char_length($2) + 1) = concat($2, _utf8mb4'@'))
