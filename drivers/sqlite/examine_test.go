package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// examined runs an examination, compares the findings that are not ok with the wanted findings, and returns the
// findings by check.
func examined(t *testing.T, b *Backend, want string) map[string]store.Finding {
	t.Helper()
	found := map[string]store.Finding{}
	var levels []string
	for _, f := range b.Examine(t.Context()) {
		found[f.Check] = f
		if f.Level != store.FindingOK {
			levels = append(levels, f.Check+" "+f.Level.String())
		}
	}
	levels = slices.DeleteFunc(levels, func(one string) bool { return strings.HasPrefix(one, "file system ") }) // of the machine
	if got := strings.Join(levels, ", "); got != want {
		t.Errorf("found %q instead of %q: %+v", got, want, found)
	}
	return found
}

// TestExamine finds nothing to mend in a good file, and makes no file.
func TestExamine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	b, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if f := examined(t, b, "")["file"]; !strings.Contains(f.Found, "does not exist yet") {
		t.Errorf("found %+v", f)
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) > 0 {
		t.Errorf("the examination has made %v", names)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := examined(t, b, "")["schema"]; !strings.Contains(f.Found, "no tables") {
		t.Errorf("found %+v", f)
	}
	if _, err := b.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := examined(t, b, "")
	for _, check := range []string{"file", "schema", "lock", "claim", "content"} {
		if found[check].Found == "" {
			t.Errorf("there is no finding on %s", check)
		}
	}
}

// TestExamineFindsWhatIsWrong breaks a file in each way.
func TestExamineFindsWhatIsWrong(t *testing.T) {
	b := openFile(t, newFile(t))
	if _, err := b.writer.ExecContext(t.Context(), "DROP INDEX hourbell_job_ready"); err != nil {
		t.Fatal(err)
	}
	examined(t, b, "claim error")

	t.Run("lock", func(t *testing.T) {
		b := openFile(t, newFile(t))
		other := openFile(t, b.path)
		tx, err := other.writer.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		e := &examination{b: b}
		if e.lock(ctx); len(e.Findings) != 1 || e.Findings[0].Level != store.FindingError || e.Findings[0].Remedy == "" {
			t.Errorf("found %+v", e.Findings)
		}
	})
	t.Run("rights", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may write to every file")
		}
		folder := t.TempDir()
		b := openFile(t, filepath.Join(folder, "a.db"))
		if err := os.Chmod(folder, 0o500); err != nil {
			t.Fatal(err)
		}
		examined(t, b, "rights error")
	})
	t.Run("older schema", func(t *testing.T) {
		b := openFile(t, newFile(t))
		b.Steps = append(b.Migrations(), store.Migration{Version: len(b.Steps) + 1, Name: "more"})
		examined(t, b, "schema error")
		if _, err := b.writer.ExecContext(t.Context(), "INSERT INTO hourbell_schema_version (version, name, applied_at) VALUES (900, 'later', 0)"); err != nil {
			t.Fatal(err)
		}
		if f := examined(t, b, "schema error")["schema"]; !strings.Contains(f.Found, "run a newer release") {
			t.Errorf("found %+v", f)
		}
	})
	t.Run("damaged", func(t *testing.T) {
		b := openFile(t, newFile(t))
		if _, err := b.writer.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(b.path)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(t.TempDir(), "damaged.db")
		for i := range 40 { // the end of the last page, which is of an index or a table
			text[len(text)-4096+i] ^= 0xff
		}
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			t.Fatal(err)
		}
		damaged, err := Open(t.Context(), copied)
		if err != nil {
			t.Fatal(err)
		}
		defer damaged.Close()
		if found := damaged.Examine(t.Context()); !slices.ContainsFunc(found, func(f store.Finding) bool { return f.Level == store.FindingError }) {
			t.Errorf("found %+v", found)
		}
	})
}
