package sim

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	seedFlag    = flag.Uint64("seed", 0, "run only this seed, and print its trace if it fails")
	showFlag    = flag.Bool("show", false, "with -seed: print the plan and the trace in any case")
	firstFlag   = flag.Uint64("first", 1, "the first of the fresh seeds; 0: a random one")
	lengthFlag  = flag.Duration("length", 10*time.Minute, "simulated time of a run, until the weather is calm")
	strideFlag  = flag.Uint64("stride", 0, "of fresh seeds, with this distance, only in this process; 0: a process for each core")
	minutesFlag = flag.Float64("minutes", 1.0/6, "how long fresh seeds run")
	nodesFlag   = flag.Int("nodes", 0, "of fresh seeds: how many nodes a cluster has; 0: two to five")
	jobsFlag    = flag.Int("jobs", jobsPerHour, "of fresh seeds: how many jobs users enqueue in an hour; schedules and others make more")
	repeatFlag  = flag.Int("repeat", 6, "how many seeds run twice, to compare their traces")
	shrinkFlag  = flag.Duration("shrink", 2*time.Minute, "how long a plan that fails is shortened")
)

// TestMain leaves the simulations out under the race detector, unless a flag of this package asks for them: of a simulated
// cluster one goroutine runs at a time, the detector makes it ten times as slow, and its runtime has crashed in a timer of a
// bubble (Go 1.26.8). make test runs this package without the detector.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || !strings.HasPrefix(f.Name, "test.") })
	if underRace && !asked {
		fmt.Println("left out under the race detector: run go test ./sim, or give a flag such as -repeat")
		return
	}
	os.Exit(m.Run())
}

// TestFoundBefore runs the seeds that once failed; with -short, the last of them.
func TestFoundBefore(t *testing.T) {
	if *seedFlag != 0 {
		t.Skip("-seed runs one seed")
	}
	seeds := found
	if testing.Short() {
		seeds = found[len(found)-1:]
	}
	for _, one := range seeds {
		report(t, newPlan(one.seed, one.length), one.what)
	}
}

// TestSeed runs one seed.
func TestSeed(t *testing.T) {
	if *seedFlag == 0 {
		t.Skip("runs with -seed")
	}
	p := newPlan(*seedFlag, *lengthFlag)
	if *showFlag {
		res := simulate(t, p, true)
		fmt.Printf("%v%v\n", p, res.trace)
	}
	report(t, p, "")
}

// TestFreshSeeds runs seeds for some time, and prints how much was simulated. The seeds are new with -first=0, which make sim
// sets; otherwise they are the same in each run, because a change does not have to answer for what a new seed finds. Each core has a process of its own: of a
// simulated cluster one goroutine runs at a time, and two clusters in one process slow each other down.
func TestFreshSeeds(t *testing.T) {
	if *seedFlag != 0 {
		t.Skip("-seed runs one seed")
	}
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	if *strideFlag > 0 {
		runSeeds(t, *firstFlag, *strideFlag)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	first, cores, began := cmp.Or(*firstFlag, rand.Uint64N(1<<40)), runtime.GOMAXPROCS(0), time.Now()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var all result
	var plans int
	var processes sync.WaitGroup
	for core := range cores {
		cmd := exec.CommandContext(ctx, program, "-test.run=^TestFreshSeeds$", "-test.timeout=0",
			fmt.Sprint("-first=", first+uint64(core)), fmt.Sprint("-stride=", cores), fmt.Sprint("-minutes=", *minutesFlag),
			fmt.Sprint("-length=", *lengthFlag), fmt.Sprint("-shrink=", *shrinkFlag),
			fmt.Sprint("-nodes=", *nodesFlag), fmt.Sprint("-jobs=", *jobsFlag))
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		processes.Go(func() {
			out, err := cmd.CombinedOutput()
			if err != nil && ctx.Err() == nil {
				t.Errorf("%v\n%s", err, out)
				stop()
			}
			_, line, _ := strings.Cut(string(out), totalsMark)
			mu.Lock()
			defer mu.Unlock()
			var its result
			var ran int
			// A process that was stopped has printed nothing.
			_, _ = fmt.Sscan(line, &ran, &its.took, &its.faults, &its.jobs, &its.runs, &its.steps, &its.modelled)
			plans += ran
			all.add(its)
		})
	}
	processes.Wait()
	fmt.Printf("%d plans from seed %d on: %.1f simulated hours in %v, with %d faults, %d jobs, %d runs of workers, "+
		"%d steps, %d steps of the model of claims\n", plans, first, all.took.Hours(), time.Since(began).Round(time.Second),
		all.faults, all.jobs, all.runs, all.steps, all.modelled)
}

// totalsMark is before the numbers that a process of TestFreshSeeds prints for the process that started it.
const totalsMark = "totals: "

// runSeeds runs every stride-th seed for some time, or until one fails.
func runSeeds(t *testing.T, seed, stride uint64) {
	t.Helper()
	debug.SetGCPercent(800) // plans have little in memory, and much garbage
	var all result
	plans := 0
	deadline := time.Now().Add(time.Duration(*minutesFlag * float64(time.Minute)))
	for ; !t.Failed() && time.Now().Before(deadline); seed += stride {
		all.add(report(t, loadedPlan(seed, *lengthFlag, load{*nodesFlag, *jobsFlag}), ""))
		plans++
	}
	fmt.Println(totalsMark, plans, int64(all.took), all.faults, all.jobs, all.runs, all.steps, all.modelled)
}

// TestSameSeedSameTrace runs seeds twice: what the runtime chooses at random does not reach the trace.
func TestSameSeedSameTrace(t *testing.T) {
	repeat := *repeatFlag
	if testing.Short() {
		repeat = 1
	}
	seeds := []uint64{10} // with steps
	for n := range uint64(repeat) {
		seeds = append(seeds, max(*firstFlag, 1)+n)
	}
	for _, seed := range seeds {
		p := newPlan(seed, 5*time.Minute)
		a, b := simulate(t, p, true), simulate(t, p, true)
		for i, line := range a.trace.lines {
			if i >= len(b.trace.lines) || b.trace.lines[i] != line {
				t.Errorf("seed %d: line %d is\n%s\nand\n%s", seed, i, around(a.trace.lines, i), around(b.trace.lines, i))
				break
			}
		}
		if len(a.trace.lines) != len(b.trace.lines) {
			t.Errorf("seed %d: %d and %d lines", seed, len(a.trace.lines), len(b.trace.lines))
		}
	}
}

// around returns a line of a trace, and what is before and after it.
func around(lines []string, i int) string {
	return strings.Join(lines[max(0, min(i, len(lines))-10):min(len(lines), i+3)], "\n")
}

// report runs a plan. If it fails, report shortens it, and prints the problems, the plan and the trace.
func report(t *testing.T, p *plan, what string) result {
	t.Helper()
	res := simulate(t, p, false)
	if len(res.problems) == 0 {
		return res
	}
	problem := res.problems[0]
	deadline := time.Now().Add(*shrinkFlag)
	small := shrink(p, problem, func() bool { return time.Now().After(deadline) }, func(p *plan) []string {
		return simulate(t, p, false).problems
	})
	again := simulate(t, small, true)
	t.Errorf("%s\nseed %d, to be replayed by: go test ./proof/sim -seed %d -length %v\n%s\n\n"+
		"shortened to %d events:\n%v\n%s\n\nthe trace of the shortened plan:\n%v",
		what, p.Seed, p.Seed, p.Length, first(res.problems, 10), len(small.Events), small, first(again.problems, 5), again.trace)
	return res
}

// first returns the first problems.
func first(problems []string, n int) string {
	text := strings.Join(problems[:min(n, len(problems))], "\n")
	if len(problems) > n {
		text += fmt.Sprintf("\nand %d more", len(problems)-n)
	}
	return text
}
