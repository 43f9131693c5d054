package sqlite

import (
	"slices"
	"strings"
	"testing"
)

// TestEveryStatementHasAFile compares the statements with the files in sql/, both ways.
func TestEveryStatementHasAFile(t *testing.T) {
	entries, err := sqlFiles.ReadDir("sql")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		files = append(files, strings.TrimSuffix(entry.Name(), ".sql"))
	}
	sent := map[string]statement{}
	for s := range statementCount {
		if other, twice := sent[s.String()]; twice {
			t.Errorf("statements %d and %d are both %v", other, s, s)
		}
		sent[s.String()] = s
		if !slices.Contains(files, sources[s].file) {
			t.Errorf("statement %d (%v) has no file", s, s)
		}
	}
	for _, file := range files {
		if !slices.ContainsFunc(sources[:], func(from source) bool { return from.file == file }) {
			t.Errorf("%s.sql is no statement", file)
		}
	}
}
