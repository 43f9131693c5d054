package adapters_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/robfig/cron/v3"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/recur"
)

const page = "../docs/from-gocron-and-robfig.md"

// start is when the clocks of these tests begin: the clocks of the schedulers, which synctest moves, and the clock of the kit.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// rows are the rows of the page by their first cells, with a test of what each says. A row that only compares names has no test.
var rows = map[string]func(t *testing.T){
	"`NewTask(f)` in `NewJob`":              nil,
	"`DurationJob(time.Hour)`":              testInterval,
	"`CronJob(\"0 5 * * *\", false)`":       testCron,
	"`WithLocation(loc)`":                   testLocation,
	"`WithStartAt(WithStartImmediately())`": testStart,
	"`WithSingletonMode(LimitModeReschedule)`": func(t *testing.T) {
		testOverlap(t, overlap{
			gocron.WithSingletonMode(gocron.LimitModeReschedule), cron.SkipIfStillRunning, hourbell.OverlapSkip, "1s 4s 7s",
		})
	},
	"`WithSingletonMode(LimitModeWait)`: every run waits": func(t *testing.T) {
		testOverlap(t, overlap{
			gocron.WithSingletonMode(gocron.LimitModeWait), nil, hourbell.OverlapQueue, "1s 3.5s 6s",
		})
	},
	"no `WithSingletonMode`": func(t *testing.T) { testOverlap(t, overlap{nil, nil, hourbell.OverlapAllow, "1s 2s 3s 4s 5s 6s 7s"}) },
	"a panic ends the program; with `AfterJobRunsWithPanic` the job is run again at its next time": testPanic,
	"`scheduler.Shutdown()`": nil,
	"`RemoveJob`":            nil,
}

// zone is the zone of the machine on which the schedulers run.
const zone = "Europe/Prague"

// TestMain moves the machine to Prague before the first goroutine reads its zone.
func TestMain(m *testing.M) {
	prague, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	time.Local = prague
	os.Exit(m.Run())
}

// TestPage runs gocron, robfig/cron and Hourbell for each row of docs/from-gocron-and-robfig.md.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var inPage []string
	for line := range strings.Lines(string(text)) {
		if cell, is := strings.CutPrefix(line, "| "); is && !strings.HasPrefix(cell, "gocron v2") {
			cell, _, _ = strings.Cut(cell, " | ")
			inPage = append(inPage, cell)
			if _, known := rows[cell]; !known {
				t.Errorf("%s: the row %q has no test here", page, cell)
			}
		}
	}
	for cell, test := range rows {
		if !slices.Contains(inPage, cell) {
			t.Errorf("%s has no row %q", page, cell)
		}
		if test != nil {
			t.Run(cell, test)
		}
	}
}

// log has the instants at which a function ran.
type log struct {
	mu   sync.Mutex
	runs []time.Duration
}

func (l *log) add(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs, at.Sub(start))
}

// is fails the test unless the function ran at these instants after the start.
func (l *log) is(t *testing.T, who, want string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if got := strings.Trim(fmt.Sprint(l.runs), "[]"); got != want {
		t.Errorf("%s runs the function at %q, want %q", who, got, want)
	}
}

// onGocron runs a job of gocron for some time.
func onGocron(t *testing.T, long time.Duration, job gocron.JobDefinition, f func(), options ...gocron.JobOption) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := gocron.NewScheduler()
		must(t, err)
		added, err := s.NewJob(job, gocron.NewTask(f), options...)
		must(t, err)
		s.Start()
		time.Sleep(long)
		time.Sleep(time.Minute) // until no run waits
		must(t, s.RemoveJob(added.ID()))
		time.Sleep(time.Minute) // until no job runs: Shutdown waits for them busily, so that the clock of synctest would stand still
		must(t, s.Shutdown())
	})
}

// onRobfig runs a function of robfig/cron for some time.
func onRobfig(t *testing.T, long time.Duration, spec string, f func(), wrappers ...cron.JobWrapper) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := cron.New(cron.WithChain(wrappers...))
		_, err := c.AddFunc(spec, f)
		must(t, err)
		c.Start()
		time.Sleep(long)
		<-c.Stop().Done()
	})
}

// onHourbell puts a schedule of a function.
func onHourbell(t *testing.T, s hourbell.Schedule, f func(ctx context.Context, kit *hourbelltest.Kit) error, options ...hourbell.Option) *hourbelltest.Kit {
	t.Helper()
	var kit *hourbelltest.Kit
	workers := hourbell.NewWorkers()
	s.Name, s.Job = "job", hourbell.Func(workers, "job", func(ctx context.Context) error { return f(ctx, kit) })
	kit = hourbelltest.New(t, hourbell.Config{Workers: workers}, hourbelltest.StartAt(start))
	_, err := kit.Client.Schedules.Put(t.Context(), s, options...)
	must(t, err)
	return kit
}

// testInterval tests that intervals count from the start of the process there, and from the first put here.
func testInterval(t *testing.T) {
	const want = "1h0m0s 2h0m0s"
	var l log
	onGocron(t, 150*time.Minute, gocron.DurationJob(time.Hour), func() { l.add(time.Now()) })
	l.is(t, "gocron", want)
	l = log{}
	onRobfig(t, 150*time.Minute, "@every 1h", func() { l.add(time.Now()) })
	l.is(t, "robfig/cron", want)

	l = log{}
	s := hourbell.Schedule{Rule: recur.Every(time.Hour)}
	kit := onHourbell(t, s, func(_ context.Context, kit *hourbelltest.Kit) error { l.add(kit.Now()); return nil })
	kit.Advance(30 * time.Minute)
	s.Name, s.Job = "job", hourbell.Func(hourbell.NewWorkers(), "job", func(context.Context) error { return nil })
	_, err := kit.Client.Schedules.Put(t.Context(), s) // as by a process that starts
	must(t, err)
	kit.Advance(2 * time.Hour)
	l.is(t, "Hourbell", want)
}

// testCron tests a rule that other dialects read differently: odd days, and Mondays.
func testCron(t *testing.T) {
	const rule, want = "0 0 */2 * 1", "47h0m0s 95h0m0s 143h0m0s 191h0m0s 215h0m0s"
	var l log
	onGocron(t, 9*24*time.Hour+time.Minute, gocron.CronJob(rule, false), func() { l.add(time.Now()) })
	l.is(t, "gocron", want)
	l = log{}
	onRobfig(t, 9*24*time.Hour+time.Minute, rule, func() { l.add(time.Now()) })
	l.is(t, "robfig/cron", want)
	l = log{}
	kit := onHourbell(t, hourbell.Schedule{Rule: recur.Spec{Cron: rule, Dialect: recur.Kubernetes}.In(zone)},
		func(_ context.Context, kit *hourbelltest.Kit) error { l.add(kit.Now()); return nil })
	kit.Advance(9 * 24 * time.Hour)
	l.is(t, "Hourbell", want)
}

// testLocation tests the zone of rules that name none.
func testLocation(t *testing.T) {
	var l log
	onGocron(t, 5*time.Hour, gocron.CronJob("0 5 * * *", false), func() { l.add(time.Now()) })
	l.is(t, "gocron", "4h0m0s")
	l = log{}
	onRobfig(t, 5*time.Hour, "0 5 * * *", func() { l.add(time.Now()) })
	l.is(t, "robfig/cron", "4h0m0s")
	for in, want := range map[string]string{"": "5h0m0s", zone: "4h0m0s"} {
		t.Run(in, func(t *testing.T) {
			var l log
			rule := recur.Spec{Cron: "0 5 * * *", Dialect: recur.Kubernetes}.In(in)
			kit := onHourbell(t, hourbell.Schedule{Rule: rule},
				func(_ context.Context, kit *hourbelltest.Kit) error { l.add(kit.Now()); return nil })
			kit.Advance(5 * time.Hour)
			l.is(t, "Hourbell", want)
		})
	}
}

func testStart(t *testing.T) {
	var l log
	onGocron(t, time.Hour+time.Minute, gocron.DurationJob(time.Hour), func() { l.add(time.Now()) }, gocron.WithStartAt(gocron.WithStartImmediately()))
	l.is(t, "gocron", "0s 1h0m0s")
	l = log{}
	kit := onHourbell(t, hourbell.Schedule{Rule: recur.Every(time.Hour)},
		func(_ context.Context, kit *hourbelltest.Kit) error { l.add(kit.Now()); return nil }, hourbell.RunOnStart())
	kit.Advance(time.Hour + time.Minute)
	l.is(t, "Hourbell", "0s 1h0m0s")
}

// An overlap is what keeps runs apart, with the instants at which a function starts that takes 2.5 seconds and is due each second.
type overlap struct {
	gocron gocron.JobOption
	robfig func(cron.Logger) cron.JobWrapper
	here   hourbell.Overlap
	starts string
}

func testOverlap(t *testing.T, o overlap) {
	const long, observed = 2500 * time.Millisecond, 7200 * time.Millisecond
	var l log
	work := func() {
		if now := time.Now(); now.Sub(start) < observed {
			l.add(now)
			time.Sleep(long)
		}
	}
	var options []gocron.JobOption
	var wrappers []cron.JobWrapper
	if o.gocron != nil {
		options = append(options, o.gocron)
	}
	if o.robfig != nil {
		wrappers = append(wrappers, o.robfig(cron.DiscardLogger))
	}
	onGocron(t, observed, gocron.DurationJob(time.Second), work, options...)
	l.is(t, "gocron", o.starts)
	if o.here != hourbell.OverlapQueue { // DelayIfStillRunning waits for a mutex, and the clock of synctest would stand still
		l = log{}
		onRobfig(t, observed, "@every 1s", work, wrappers...)
		l.is(t, "robfig/cron", o.starts)
	}

	l = log{}
	kit := onHourbell(t, hourbell.Schedule{Rule: recur.Every(time.Second), Overlap: o.here},
		func(ctx context.Context, kit *hourbelltest.Kit) error {
			l.add(kit.Now())
			return hourbelltest.Sleep(ctx, long)
		})
	kit.Advance(observed)
	l.is(t, "Hourbell", o.starts)
}

// testPanic runs a function that panics.
func testPanic(t *testing.T) {
	var l log
	onGocron(t, 150*time.Minute, gocron.DurationJob(time.Hour), func() { l.add(time.Now()); panic("broken") },
		gocron.WithEventListeners(gocron.AfterJobRunsWithPanic(func(_ uuid.UUID, _ string, _ any) {})))
	l.is(t, "gocron", "1h0m0s 2h0m0s")
	l = log{}
	onRobfig(t, 150*time.Minute, "@every 1h", func() { l.add(time.Now()); panic("broken") }, cron.Recover(cron.DiscardLogger))
	l.is(t, "robfig/cron", "1h0m0s 2h0m0s")
	for most, want := range map[int]int{0: 25, 1: 1} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			kit := onHourbell(t, hourbell.Schedule{Rule: recur.At(start.Add(time.Hour)), MaxAttempts: most},
				func(context.Context, *hourbelltest.Kit) error { panic("broken") })
			if attempts := append(kit.Advance(time.Hour), kit.Drain()...); len(attempts) != want {
				t.Errorf("Hourbell: %d attempts, want %d", len(attempts), want)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
