// Hourbell runs scheduled and queued work exactly where and when it should on
// a cluster of ordinary servers, with nothing to install but the database they
// already share. `hourbell --help` tells its commands.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // zones also where the machine has none
)

func main() {
	os.Exit(newProgram().run(context.Background(), os.Args[1:]))
}
