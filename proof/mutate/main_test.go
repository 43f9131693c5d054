package main

import (
	"path/filepath"
	"testing"
)

// TestEveryFaultCanBePutIn finds faults whose line of code has changed since.
// Whether the suites detect the faults takes minutes: see `make mutate`.
func TestEveryFaultCanBePutIn(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	for driver, faults := range map[string][]fault{"postgres": append(postgresFaults, sharedFaults...), "sqlite": append(sqliteFaults, sharedFaults...)} {
		names := map[string]bool{}
		for _, f := range faults {
			if names[f.name] {
				t.Errorf("%s has two faults that are called %q", driver, f.name)
			}
			names[f.name] = true
			if _, err := prepare(filepath.Join(root, "drivers", driver), t.TempDir(), f); err != nil {
				t.Errorf("%s, %s: %v", driver, f.name, err)
			}
		}
	}
}
