//go:build man

package main

import (
	"log"
	"os"

	"github.com/spf13/cobra/doc"

	"github.com/hourbell/hourbell"
)

// main writes the man pages of all commands into a folder; scripts/release runs it. The environment
// variable SOURCE_DATE_EPOCH has the date of the pages.
func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run -tags man ./cmd/hourbell FOLDER")
	}
	root := newProgram().rootCommand()
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Source: "Hourbell " + hourbell.Version, Manual: "Hourbell"}
	if err := doc.GenManTree(root, header, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
