package main

import (
	_ "embed"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
)

// firstFile is the schedule file that init writes.
//
//go:embed init.yaml
var firstFile []byte

// firstFileName is the name of the file if none is given; the text of the file names it, too.
const firstFileName = "schedules.yaml"

func (p *program) initCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init [FILE]", Short: "Writes a first schedule file, with comments",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return takes(false, "FILE")(c, args)
		},
		Long: "Writes a schedule file (default " + firstFileName + ") with a schedule that runs, and with comments and examples for\n" +
			"the rest. A file that exists is left as it is, and the exit code is 1.",
		Example:               "  hourbell init\n  hourbell init ops/schedules.yaml",
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			path := firstFileName
			if len(args) > 0 {
				path = args[0]
			}
			if path == "" {
				return &check.FieldError{Field: "FILE", Problem: "is empty", Remedy: "name a file, or leave it out for " + firstFileName}
			}
			if err := writeNew(path, firstFile); err != nil {
				return err
			}
			shown := plain.Clean(path)
			_, err := fmt.Fprintf(p.stdout, "wrote %s; next:\n\n  hourbell check %s\n  hourbell serve --file %s\n", shown, shown, shown)
			return err
		},
	}
}
