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
	names := map[string]bool{}
	for _, set := range faultSets() {
		for _, f := range set.faults {
			if name := set.driver + ": " + f.name; names[name] {
				t.Errorf("two faults are called %q", name)
			} else {
				names[name] = true
			}
			if _, err := prepare(filepath.Join(root, "drivers", set.driver), t.TempDir(), f); err != nil {
				t.Errorf("%s, %s: %v", set.driver, f.name, err)
			}
		}
	}
}
