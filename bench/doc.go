// Package bench measures Hourbell end to end, through the client that users
// have. Run it with `make bench`: the PostgreSQL it starts then waits for its
// disk, as one in earnest does.
package bench
