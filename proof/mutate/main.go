// Mutate inserts named faults of one line into the drivers, one at a time in each
// driver, and runs the driver's tests and, for a fault in a package that the drivers
// share, the tests of that package: one of them must fail. For some faults it runs a
// test of package proof instead, and for the faults in the motion of nodes, whose driver
// is called sim, the simulated cluster of proof/sim: first the seed that is known to notice
// the fault, then fresh seeds for a minute. The driver units tries the same faults on the
// tests of their packages, and shows what only the simulated cluster notices. The source tree
// is not changed; the compiler gets the faulty file as an overlay.
//
//	go run ./proof/mutate [-driver postgres|sqlite|mysql|sim|units] [-fault NAME]
//
// It prints what noticed each fault, and how long that took. It exits with 1 if the
// tests passed with a fault or a fault could not be inserted.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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
	after := flag.String("after", "", "with -driver: only the faults of the driver after the fault of this name, to go on where a run was broken off")
	flag.Parse()
	root, err := repository()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
	began := time.Now()
	var tried, bad atomic.Int64
	if *after != "" && *driver == "" {
		fmt.Fprintln(os.Stderr, "mutate: -after needs -driver")
		os.Exit(2)
	}
	behind := *after != ""
	run := func(wanted func(faultSet) bool) {
		for _, set := range faultSets() {
			if *driver != "" && *driver != set.driver || !wanted(set) {
				continue
			}
			for _, f := range set.faults {
				if behind {
					behind = f.name != *after
					continue
				}
				if *name != "" && *name != f.name {
					continue
				}
				tried.Add(1)
				if !try(root, set, f) {
					bad.Add(1)
				}
			}
		}
	}
	// The tests of a driver leave a core idle, so the tests of the drivers run concurrently. The tests of
	// package proof depend on time, and run alone.
	var drivers sync.WaitGroup
	for _, one := range []string{"postgres", "sqlite", "mysql"} {
		drivers.Go(func() { run(func(set faultSet) bool { return set.driver == one && set.proof == "" }) })
	}
	drivers.Wait()
	run(func(set faultSet) bool {
		return set.proof != "" || set.driver == simulated || set.driver == *driver && set.driver == units
	})
	fmt.Printf("%d faults in %v\n", tried.Load(), time.Since(began).Round(time.Second))
	switch {
	case tried.Load() == 0:
		fmt.Println("no fault has this name")
		os.Exit(1)
	case bad.Load() > 0:
		fmt.Printf("%d faults went unnoticed or could not be put in\n", bad.Load())
		os.Exit(1)
	}
	fmt.Println("every fault was noticed")
}

// simulated and units are what stands for a driver in the faults in the motion of nodes.
const (
	simulated = "sim"   // the simulated cluster notices them
	units     = "units" // the short tests of their packages may notice them; only if it is asked for
)

// faultSet is faults of one driver.
type faultSet struct {
	driver string // or simulated, or units
	// proof is the test of package proof that notices the faults; empty: the tests of the driver.
	proof string
	// first are the tests of the driver that run before all others; empty: suites.
	first  string
	faults []fault
}

func faultSets() []faultSet {
	return []faultSet{
		{driver: "postgres", faults: slices.Concat(postgresFaults, sharedFaults)},
		{driver: "sqlite", faults: slices.Concat(sqliteFaults, sharedFaults)},
		{driver: "postgres", proof: "^TestNoWorkIsLost$/^postgres$", faults: postgresHistoryFaults},
		{driver: "sqlite", proof: "^TestNoWorkIsLost$/^sqlite$", faults: sqliteHistoryFaults},
		{driver: "postgres", first: edgeTests, faults: slices.Concat(postgresEdgeFaults, sharedEdgeFaults)},
		{driver: "sqlite", first: edgeTests, faults: slices.Concat(sqliteEdgeFaults, sharedEdgeFaults)},
		{driver: "postgres", first: chainTests, faults: slices.Concat(postgresChainFaults, sharedChainFaults)},
		{driver: "sqlite", first: chainTests, faults: slices.Concat(sqliteChainFaults, sharedChainFaults)},
		{driver: "postgres", first: laneTests, faults: slices.Concat(postgresLaneFaults, sharedLaneFaults)},
		{driver: "sqlite", first: laneTests, faults: slices.Concat(sqliteLaneFaults, sharedLaneFaults)},
		{driver: "postgres", proof: "^TestDependentsAreExact$/^postgres$", faults: graphFaults},
		{driver: "sqlite", proof: "^TestDependentsAreExact$/^sqlite$", faults: graphFaults},
		{driver: "mysql", first: "^TestStore$", faults: mysqlFaults},
		{driver: "mysql", faults: slices.Concat(mysqlLockFaults, sharedFaults)},
		{driver: "mysql", first: edgeTests, faults: slices.Concat(mysqlEdgeFaults, sharedEdgeFaults)},
		{driver: "mysql", first: chainTests, faults: slices.Concat(mysqlChainFaults, sharedChainFaults)},
		{driver: "mysql", first: mysqlOwnTests, faults: mysqlOwnFaults},
		{driver: "mysql", first: laneTests, faults: slices.Concat(mysqlLaneFaults, sharedLaneFaults)},
		{driver: "mysql", proof: "^TestNoWorkIsLost$/^mysql$", faults: mysqlHistoryFaults},
		{driver: simulated, faults: withoutSeeds(slices.Concat(motionFaults, stepFaults))},
		{driver: units, faults: withoutSeeds(slices.Concat(motionFaults, stepFaults))},
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
	result, detail := test(root, set, f)
	fmt.Printf("%-9s %-9s %-45s %5.1f s  %s\n", result, driver, f.name, time.Since(started).Seconds(), detail)
	return result == "noticed"
}

// suites are the tests that run first, because they notice most faults, and within seconds.
const suites = "^(TestStore|TestLocks|TestLockTables)$|KeepsTheRules$|^TestPlans$"

func test(root string, set faultSet, f fault) (result, detail string) {
	tmp, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return "error", err.Error()
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, os.ModeSticky|0o777); err != nil { // as /tmp: servers of the tests run as another user
		return "error", err.Error()
	}
	dir := filepath.Join(root, "drivers", set.driver)
	if set.driver == simulated {
		return simulate(root, dir, tmp, f)
	}
	overlay, err := prepare(dir, tmp, f)
	if err != nil {
		return "error", err.Error()
	}
	if set.driver == units {
		return judge(ofPackage(dir, overlay, f, "-short", "-failfast"))
	}
	if set.proof != "" { // the nodes are processes of the test binary
		out, err := command(filepath.Join(root, "proof"), "go", "test", "-overlay", overlay, "-vet=off", "-count=1", "-timeout=5m", "-run", set.proof)
		return judge(out, err)
	}
	binary := filepath.Join(tmp, "driver.test")
	if out, err := command(dir, "go", "test", "-overlay", overlay, "-vet=off", "-c", "-o", binary, "."); err != nil {
		return "error", "the faulty driver does not compile:\n" + string(out)
	}
	first := cmp.Or(set.first, suites)
	for _, selection := range [][]string{{"-test.run", first}, {"-test.skip", first}} {
		out, err := untilFailure(dir, tmp, binary, append(selection, "-test.short", "-test.failfast", "-test.v=test2json", "-test.timeout=10m")...)
		if err != nil {
			return judge(out, err)
		}
	}
	if strings.HasPrefix(f.file, "../../") { // the package of the file may have tests of its own
		return judge(ofPackage(dir, overlay, f))
	}
	return judge(nil, nil)
}

// ofPackage runs the tests of the package of a faulty file.
func ofPackage(dir, overlay string, f fault, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-overlay", overlay, "-vet=off", "-count=1", "-timeout=5m"}, flags...)
	return command(filepath.Dir(filepath.Join(dir, f.file)), "go", append(args, ".")...)
}

// simulate runs the simulated cluster with a fault: the seed that is known to notice it, and then fresh seeds for a minute.
func simulate(root, dir, tmp string, f fault) (result, detail string) {
	// Without the weather over SQL drivers, because drivers take most of the time to link.
	overlay, err := prepare(dir, tmp, f, filepath.Join(root, "proof", "sim", "sql_test.go"))
	if err != nil {
		return "error", err.Error()
	}
	var seed uint64
	for _, known := range slices.Concat(motionFaults, stepFaults) {
		if known.name == f.name {
			seed = known.seed
		}
	}
	runs := [][]string{{"-run=^TestSeed$", fmt.Sprintf("-seed=%d", seed)}, {"-run=^TestFreshSeeds$", "-first=0", "-minutes=1"}}
	if seed == 0 {
		runs = runs[1:]
	}
	for _, run := range runs {
		args := append([]string{"test", "./sim", "-overlay", overlay, "-vet=off", "-count=1", "-timeout=5m", "-failfast", "-ldflags=-w", "-shrink=0s"}, run...)
		if out, err := command(filepath.Join(root, "proof"), "go", args...); err != nil {
			return judge(out, err)
		}
	}
	return judge(nil, nil)
}

// command runs a command in a folder, and returns its output.
func command(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// thorough adds to an environment how long random runs and races of suites are, where the environment does not: longer than
// their defaults.
func thorough(environment []string) []string {
	longer := []string{"HOURBELL_STORETEST_OPS=2000", "HOURBELL_STORETEST_RACES=15"}
	return append(longer, environment...) // of two equal names the last counts
}

// untilFailure runs tests until one has failed, with their files in tmp. It returns what the tests have printed, and an error if
// one failed. Tests must print their results in the form for test2json, which has the failure of a subtest at once, after a mark.
func untilFailure(dir, tmp, binary string, args ...string) ([]byte, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = dir, append(thorough(os.Environ()), "TMPDIR="+tmp)
	cmd.Stdout, cmd.Stderr = write, write
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // tests start processes
	err = cmd.Start()
	write.Close()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for lines := bufio.NewReader(read); err == nil; {
		var line string
		line, err = lines.ReadString('\n')
		line = strings.TrimLeft(line, "\x16 ")
		out.WriteString(line)
		if strings.HasPrefix(line, "--- FAIL: ") {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			break
		}
	}
	return out.Bytes(), cmd.Wait()
}

// judge returns what the end of the tests of a fault means.
func judge(out []byte, err error) (result, detail string) {
	switch {
	case err == nil:
		return "SURVIVED", ""
	case bytes.Contains(out, []byte("[build failed]")), bytes.Contains(out, []byte("[setup failed]")):
		return "error", "the faulty driver does not compile:\n" + string(out)
	}
	return "noticed", "by " + firstFailure(string(out)) + hangsIn(string(out)) + auditOf(string(out)) + seedOf(string(out))
}

// hangsIn names the tests that were running when the time limit of the tests ran out, or returns "". A fault can make a test
// hang, and then the fault is noticed. If the named tests have nothing to do with the fault, the machine was too busy: try
// the fault again on an idle machine.
func hangsIn(out string) string {
	_, after, timeout := strings.Cut(out, "panic: test timed out after ")
	if !timeout {
		return ""
	}
	limit, after, _ := strings.Cut(after, "\n")
	var running []string
	for line := range strings.Lines(after) {
		if name := strings.Fields(line); strings.HasPrefix(line, "\tTest") {
			running = append(running, name[0])
		}
	}
	return ": not finished after " + limit + ": " + strings.Join(running, ", ")
}

// prepare writes the faulty file and an overlay with that file, and without some files.
func prepare(dir, tmp string, f fault, without ...string) (overlay string, err error) {
	path := filepath.Join(dir, filepath.FromSlash(f.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	faulty, err := f.in(string(text))
	if err != nil {
		return "", err
	}
	return writeOverlay(tmp, map[string]string{path: faulty}, without...)
}

// in returns the text of a file with the fault.
func (f fault) in(text string) (string, error) {
	if n := strings.Count(text, f.old); n != 1 {
		return "", fmt.Errorf("%s: %q occurs %d times, want once", f.file, f.old, n)
	}
	return strings.Replace(text, f.old, f.new, 1), nil
}

// writeOverlay writes texts, by the paths of the files that they replace, and the file for the flag -overlay of the go command, which
// leaves some files out.
func writeOverlay(tmp string, texts map[string]string, without ...string) (overlay string, err error) {
	replaced := map[string]string{}
	for _, path := range without {
		replaced[path] = ""
	}
	for path, text := range texts {
		replaced[path] = filepath.Join(tmp, fmt.Sprintf("%d-%s", len(replaced), filepath.Base(path)))
		if err := os.WriteFile(replaced[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(tmp, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// auditOf returns what the audit of a proof found, or nothing.
func auditOf(out string) string {
	for line := range strings.Lines(out) {
		if _, found, ok := strings.Cut(line, "the audit found "); ok {
			return ": " + strings.TrimSpace(found)
		}
	}
	return ""
}

// seedOf returns the seed with which the simulated cluster noticed a fault, and the promise that was broken, or nothing.
func seedOf(out string) string {
	_, after, found := strings.Cut(out, "to be replayed by: go test ./proof/sim -seed ")
	if !found {
		return ""
	}
	seed, after, _ := strings.Cut(after, "\n")
	seed, _, _ = strings.Cut(seed, " ")
	problem, _, _ := strings.Cut(after, "\n")
	promise, _, _ := strings.Cut(strings.TrimSpace(problem), ":")
	return ": seed " + seed + ": " + promise
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
