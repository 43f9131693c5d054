// Package bench has the Go benchmarks that measure Hourbell end to end, through
// the public client. They are meant for benchstat, to compare two commits.
// `make bench BENCH=Drain` runs the benchmarks whose names match; the
// PostgreSQL that it starts waits for its disk, as a server in production does.
//
// Command peers, in this module, compares Hourbell with other queues; `make
// bench` runs it, and docs/benchmarks.md describes it.
package bench
