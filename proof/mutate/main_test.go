package main

import (
	"os"
	"path/filepath"
	"strings"
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

// TestEveryFaultCompiles compiles the packages with as many faults at once as their lines allow.
func TestEveryFaultCompiles(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		path string
		fault
	}
	var left []place
	known, drivers := map[place]bool{}, map[string]bool{}
	for _, set := range faultSets() {
		if set.driver == simulated || set.driver == units {
			drivers["github.com/hourbell/hourbell"], drivers["github.com/hourbell/hourbell/store/memory"] = true, true
		} else {
			drivers["github.com/hourbell/hourbell/drivers/"+set.driver] = true
		}
		for _, f := range set.faults {
			one := place{filepath.Join(root, "drivers", set.driver, filepath.FromSlash(f.file)), f}
			if strings.HasSuffix(f.file, ".go") && !known[one] {
				known[one] = true
				left = append(left, one)
			}
		}
	}
	for round := 1; len(left) > 0; round++ {
		texts := map[string]string{}
		var later []place
		for _, one := range left {
			text, changed := texts[one.path]
			if !changed {
				whole, err := os.ReadFile(one.path)
				if err != nil {
					t.Fatal(err)
				}
				text = string(whole)
			}
			faulty, err := one.in(text)
			switch {
			case err == nil:
				texts[one.path] = faulty
			case changed: // an earlier fault has changed the line
				later = append(later, one)
			default:
				t.Fatal(err)
			}
		}
		overlay, err := writeOverlay(t.TempDir(), texts)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"build", "-overlay", overlay, "-o", os.DevNull}
		for driver := range drivers {
			args = append(args, driver)
		}
		if out, err := command(filepath.Join(root, "proof"), "go", args...); err != nil {
			t.Errorf("with %d faults, in round %d: %v\n%s", len(left)-len(later), round, err, out)
		}
		t.Logf("round %d: %d faults", round, len(left)-len(later))
		left = later
	}
}
