// Mutate inserts named faults of one line into the drivers, one at a time, and
// runs each driver's tests, which must fail. For some faults it runs a test of
// package proof instead. The source tree is not changed; the compiler gets the
// faulty file as an overlay.
//
//	go run ./proof/mutate [-driver postgres|sqlite] [-fault NAME]
//
// It exits with 1 if the tests passed with a fault or a fault could not be
// inserted.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// fault is a plausible mistake.
type fault struct {
	name string
	file string // relative to the driver's folder
	old  string // must occur exactly once
	new  string
}

func main() {
	driver := flag.String("driver", "", "only this driver")
	name := flag.String("fault", "", "only the fault of this name")
	flag.Parse()
	root, err := repository()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
	bad := 0
	for _, set := range faultSets() {
		if *driver != "" && *driver != set.driver {
			continue
		}
		for _, f := range set.faults {
			if *name != "" && *name != f.name {
				continue
			}
			if !try(root, set, f) {
				bad++
			}
		}
	}
	if bad > 0 {
		fmt.Printf("%d faults went unnoticed or could not be put in\n", bad)
		os.Exit(1)
	}
	fmt.Println("every fault was noticed")
}

// faultSet is faults of one driver.
type faultSet struct {
	driver string
	// proof is the test of package proof that notices the faults; empty: the tests of the driver.
	proof  string
	faults []fault
}

func faultSets() []faultSet {
	return []faultSet{
		{driver: "postgres", faults: slices.Concat(postgresFaults, sharedFaults)},
		{driver: "sqlite", faults: slices.Concat(sqliteFaults, sharedFaults)},
		{driver: "postgres", proof: "^TestNoWorkIsLost$/^postgres$", faults: postgresHistoryFaults},
		{driver: "sqlite", proof: "^TestNoWorkIsLost$/^sqlite$", faults: sqliteHistoryFaults},
	}
}

// repository finds the folder of the library's go.mod, in this folder or above.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "drivers")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("run this inside the repository")
}

// try inserts one fault and reports whether the tests failed.
func try(root string, set faultSet, f fault) bool {
	started, driver := time.Now(), set.driver
	verdict, detail := test(root, set, f)
	fmt.Printf("%-9s %-9s %-45s %5.1f s  %s\n", verdict, driver, f.name, time.Since(started).Seconds(), detail)
	return verdict == "noticed"
}

// suites are the tests that run first, because they notice most faults, and within seconds.
const suites = "^(TestStore|TestLocks)$|KeepsTheRules$|^TestPlans$"

func test(root string, set faultSet, f fault) (verdict, detail string) {
	tmp, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return "error", err.Error()
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(root, "drivers", set.driver)
	overlay, err := prepare(dir, tmp, f)
	if err != nil {
		return "error", err.Error()
	}
	selections := [][]string{{"-short", "-run", suites}, {"-short", "-skip", suites}}
	if set.proof != "" {
		dir, selections = filepath.Join(root, "proof"), [][]string{{"-run", set.proof}}
	}
	for _, selection := range selections {
		cmd := exec.Command("go", append([]string{"test", "-overlay", overlay, "-count=1", "-failfast", "-timeout=5m"}, selection...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil:
			continue
		case bytes.Contains(out, []byte("[build failed]")), bytes.Contains(out, []byte("[setup failed]")):
			return "error", "the faulty driver does not compile:\n" + string(out)
		}
		return "noticed", "by " + firstFailure(string(out)) + verdictOf(string(out))
	}
	return "SURVIVED", ""
}

// prepare writes the faulty file and an overlay with that file.
func prepare(dir, tmp string, f fault) (overlay string, err error) {
	path := filepath.Join(dir, filepath.FromSlash(f.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), f.old); n != 1 {
		return "", fmt.Errorf("%s: %q occurs %d times, want once", f.file, f.old, n)
	}
	faulty := filepath.Join(tmp, filepath.Base(path))
	if err := os.WriteFile(faulty, []byte(strings.Replace(string(text), f.old, f.new, 1)), 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: faulty}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(tmp, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// verdictOf returns what the audit of a proof found, or nothing.
func verdictOf(out string) string {
	for line := range strings.Lines(out) {
		if _, found, ok := strings.Cut(line, "the audit found "); ok {
			return ": " + strings.TrimSpace(found)
		}
	}
	return ""
}

// firstFailure returns the name of the deepest test that failed first.
func firstFailure(out string) string {
	name := "a failure outside a test"
	depth := -1
	for line := range strings.Lines(out) {
		trimmed := strings.TrimLeft(line, " ")
		rest, ok := strings.CutPrefix(trimmed, "--- FAIL: ")
		if !ok {
			continue
		}
		if d := len(line) - len(trimmed); d > depth {
			name, depth = strings.Fields(rest)[0], d
		} else if depth >= 0 {
			break
		}
	}
	return name
}
