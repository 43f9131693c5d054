package main

import (
	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/schedulefile"
)

func (p *program) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Prints the JSON Schema of schedule files, for editors", Args: takes(false),
		Long: "Prints the JSON Schema (draft 7) of schedule files. With it, an editor completes and explains keys while a file is\n" +
			"written. `hourbell check FILE` finds more mistakes: it also reads rules, zones, durations and names.\n\n" +
			"Many editors take the schema from the first line of a file:\n\n" +
			"  # yaml-language-server: $schema=hourbell.schema.json",
		Example: "  hourbell schema > hourbell.schema.json",
		RunE: func(*cobra.Command, []string) error {
			text, err := schedulefile.Schema()
			if err != nil {
				return err
			}
			_, err = p.stdout.Write(text)
			return err
		},
	}
}
