package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTag tags a copy of this repository, and checks that each module has a tag, and that modules require each other in the
// version of the release.
func TestTag(t *testing.T) {
	if testing.Short() {
		t.Skip("copies the repository")
	}
	copied := filepath.Join(t.TempDir(), "copy")
	run := func(fails bool, name string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		if name != "git" || args[0] != "clone" {
			c.Dir = copied
		}
		out, err := c.CombinedOutput()
		if (err != nil) != fails {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	top, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "clone", "--quiet", "--no-local", "--depth=1", "file://"+top, copied).CombinedOutput(); err != nil {
		t.Skipf("this is no repository of git: %s", out)
	}
	for _, script := range []string{"tag", "modules", "api-check"} {
		text, err := os.ReadFile("../scripts/" + script)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(copied, "scripts", script), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out := run(false, "scripts/api-check"); !strings.Contains(out, "there is no tag yet") {
		t.Errorf("api-check says %s", out)
	}
	change := func(file, old, replacement string) {
		t.Helper()
		path := filepath.Join(copied, file)
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), old) {
			t.Fatalf("%s has no %q, %v", file, old, err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, replacement, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const version = "9.8.7"
	for _, text := range []string{"another Version", "no section [9.8.7]"} {
		if out := run(true, "scripts/tag", version); !strings.Contains(out, text) {
			t.Errorf("tag says %s", out)
		}
	}
	before, _, _ := strings.Cut(strings.SplitN(readText(t, "../hourbell.go"), `const Version = "`, 2)[1], `"`)
	change("hourbell.go", `const Version = "`+before+`"`, `const Version = "`+version+`"`)
	change("CHANGELOG.md", "## [Unreleased]", "## [Unreleased]\n\n## ["+version+"]")
	if out := run(true, "scripts/tag", version); !strings.Contains(out, "uncommitted changes") {
		t.Errorf("tag says %s", out)
	}
	run(false, "git", "add", "--all")
	run(false, "git", "commit", "--quiet", "--message", "a release")
	run(false, "scripts/tag", version)
	if tags := run(false, "git", "tag"); tags != "" {
		t.Errorf("without --create there are the tags %s", tags)
	}
	run(false, "scripts/tag", "--create", version)
	tags := strings.Fields(run(false, "git", "tag"))
	modules := strings.Fields(run(false, "scripts/modules"))
	if len(tags) != len(modules) {
		t.Errorf("%d modules have the tags %q", len(modules), tags)
	}
	if out := run(false, "git", "grep", "-nE", `^(require|	)?.*hourbell/hourbell.* v9\.8\.7`, "--", "*go.mod"); strings.Count(out, "\n") < len(modules) {
		t.Errorf("modules require %s", out)
	}
	if out := run(true, "git", "grep", "-nE", `hourbell/hourbell.* v0\.0\.0$`, "--", "*go.mod"); out != "" {
		t.Errorf("modules require still %s", out)
	}
	if out := run(true, "scripts/tag", version); !strings.Contains(out, "exists") {
		t.Errorf("tag says %s", out)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
