package main

import (
	"io"

	"github.com/spf13/cobra"
)

func (p *program) completionCommand(root *cobra.Command) *cobra.Command {
	shell := func(name, example string, generate func(io.Writer) error) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: "Prints the completion for " + name, Args: takes(false), Example: "  " + example,
			RunE: func(*cobra.Command, []string) error { return generate(p.stdout) },
		}
	}
	return p.group("completion", "Prints the completion script of a shell",
		shell("bash", "source <(hourbell completion bash)", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }),
		shell("zsh", `hourbell completion zsh > "${fpath[1]}/_hourbell"`, root.GenZshCompletion),
		shell("fish", "hourbell completion fish | source", func(w io.Writer) error { return root.GenFishCompletion(w, true) }),
		shell("powershell", "hourbell completion powershell | Out-String | Invoke-Expression", root.GenPowerShellCompletionWithDesc),
	)
}
