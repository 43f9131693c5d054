// Package bench holds the Go benchmarks that measure Hourbell end to end,
// through the client that users have: for benchstat, between two commits. Run
// those that match by `make bench BENCH=Drain`: the PostgreSQL it starts then
// waits for its disk, as one in earnest does.
//
// Command peers beside it measures Hourbell side by side with other queues;
// `make bench` runs that, and docs/benchmarks.md tells about it.
package bench
