//go:build !man

// Hourbell runs scheduled and queued work exactly where and when it should on a
// cluster of ordinary servers. It needs only the database that the servers
// already share. `hourbell --help` lists its commands.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // zone data for machines that have none
)

func main() {
	os.Exit(newProgram().run(context.Background(), os.Args[1:]))
}
