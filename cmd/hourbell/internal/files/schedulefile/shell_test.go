package schedulefile

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/kinds"
)

// TestShellOptions runs what a file with shell_options: pipefail declares: the failure of any command of the pipe is a failure.
func TestShellOptions(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	file, err := Read("hours.yaml", []byte(`
schedules:
  - {name: a, every: 1h, shell: "false | cat", shell_options: pipefail}
  - {name: b, every: 1h, shell: "true | cat", shell_options: pipefail}
`))
	if err != nil {
		t.Fatal(err)
	}
	for i, fails := range []bool{true, false} {
		c, err := kinds.DecodeCommand(file.Entries[i].Schedule.Job.(hourbell.RawArgs).JSON)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"bash", "-o", "pipefail", "-c"}; len(c.Argv) != 5 || !slices.Equal(c.Argv[:4], want) {
			t.Fatalf("the command is %q", c.Argv)
		}
		if err := exec.CommandContext(t.Context(), c.Argv[0], c.Argv[1:]...).Run(); (err != nil) != fails {
			t.Errorf("%q: %v", c.Argv, err)
		}
	}
}
