package sim

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// calmPlan is the plan of a seed without faults and limits, and in fair weather.
func calmPlan(seed uint64) *plan {
	p := newPlan(seed, 4*time.Minute)
	p.Weather = weather{Latency: time.Millisecond}
	p.Events = slices.DeleteFunc(p.Events, func(e event) bool {
		return e.Node > 0 || slices.Contains([]string{"away", "clock", "limit", "end limit", restore}, e.Verb)
	})
	return p
}

// TestTheChecksFindFaults falsifies what was witnessed of a run without a fault: the check of each promise has to notice it.
func TestTheChecksFindFaults(t *testing.T) {
	p := calmPlan(1)
	res := simulate(t, p, false)
	if len(res.problems) > 0 {
		t.Fatalf("without a fault: %s", first(res.problems, 5))
	}
	w := res.witness
	always := inForce[subject]{What: subject{"queue", "default"}}
	job := func(is func(store.JobInfo) bool) int { return slices.IndexFunc(w.jobs, is) }
	twice := slices.IndexFunc(w.runs, func(r *run) bool { return w.begun[r.ID] > 1 && r.Kind == kindPlain })
	slotted := job(func(j store.JobInfo) bool { return j.Origin == store.OriginSchedule && !w.follows[j.ScheduleName] })
	known := slices.IndexFunc(w.asked, func(a *asked) bool { return a.Err == nil && !a.Existed && w.begun[a.ID] > 0 && !w.changed[a.ID] })
	edged := slices.IndexFunc(w.asked, func(a *asked) bool {
		return len(a.Job.After) > 0 && !a.Job.Any && w.begun[a.ID] > 0 && !w.changed[a.ID]
	})
	every := slices.IndexFunc(w.slots, func(s store.SlotInfo) bool { return w.every[s.ScheduleName] > 0 })
	last := slices.IndexFunc(w.asked, func(a *asked) bool { return a.Last && w.begun[a.ID] > 0 && !w.changed[a.ID] })
	for promise, falsify := range map[string]func(f *witness){
		"one slot, one job": func(f *witness) {
			again := f.jobs[slotted]
			again.ID += 1 << 20
			f.jobs = append(f.jobs, again)
		},
		"every slot is accounted for": func(f *witness) { f.slots[every].Slot = f.slots[every].Slot.Add(-time.Second) },
		"committed work runs once": func(f *witness) {
			f.jobs = slices.DeleteFunc(f.jobs, func(j store.JobInfo) bool { return j.ID == f.asked[known].ID })
		},
		"effects happen once": func(f *witness) {
			f.jobs = slices.DeleteFunc(f.jobs, func(j store.JobInfo) bool { return j.Kind == kindEffect })
		},
		"one owner": func(f *witness) {
			again := *f.runs[known]
			again.Token++
			again.Start.Real = again.Start.Real.Add(time.Microsecond)
			f.runs = append(f.runs, &again)
			again.Heeds, f.runs[known] = true, heeding(f.runs[known])
		},
		"tokens grow":                   func(f *witness) { f.runs[known] = withToken(f.runs[known], f.runs[known+1].Token) },
		"nothing is stuck":              func(f *witness) { f.stuck = f.jobs[:1] },
		"an outage costs no attempts":   func(f *witness) { f.jobs[0].Attempts = []store.Attempt{{Outcome: store.AttemptLost, Node: "n1"}} },
		"idle nodes ask for little":     func(f *witness) { f.claims["n1 default"] = 1 << 30 },
		"attempts are counted":          func(f *witness) { f.runs[known] = withAttempt(f.runs[known]) },
		"lost jobs fail if they should": func(f *witness) { f.runs[twice] = lost(f.runs[twice]) },
		"the store's clock decides":     func(f *witness) { f.asked[known] = inAnHour(f.asked[known]) },
		"late slots":                    func(f *witness) { f.skips[f.slots[0].ScheduleName], f.slots[0] = 0, recordedLater(f.slots[0]) },
		"slots are on time":             func(f *witness) { f.halted, f.slots[every] = map[string]bool{}, recordedLater(f.slots[every]) },
		"counts": func(f *witness) {
			f.rules = append(f.rules, &inForce[schedule]{What: schedule{Name: w.jobs[slotted].ScheduleName, Count: 1}})
			f.slots = append(f.slots, recordedLater(w.slots[every]), recordedLater(w.slots[every]))
			f.slots[len(f.slots)-1].ScheduleName, f.slots[len(f.slots)-2].ScheduleName = w.jobs[slotted].ScheduleName, w.jobs[slotted].ScheduleName
		},
		"leases end first": func(f *witness) {
			r := heeding(f.runs[known])
			f.runs[known], f.taken = r, []takenRun{{r.ID, r.Token, r.Start}}
		},
		"leases end first: trust": func(f *witness) {
			r := *f.runs[known]
			r.Left += p.Lease
			f.runs[known] = &r
		},
		"processes are one node": func(f *witness) { f.nodes = []store.NodeInfo{{Name: "n1"}, {Name: "n1"}, {Name: "n1"}} },
		"paused schedules":       func(f *witness) { f.halts = append(f.halts, &inForce[string]{What: w.jobs[slotted].ScheduleName}) },
		"edits": func(f *witness) {
			f.rules = append(f.rules, &inForce[schedule]{What: schedule{Name: w.jobs[slotted].ScheduleName, Seconds: []int{61}}})
		},
		"hooks and handlers": func(f *witness) {
			f.jobs = slices.DeleteFunc(f.jobs, func(j store.JobInfo) bool { return j.Origin == store.OriginHook })
		},
		"calendars": func(f *witness) {
			f.rules = append(f.rules, &inForce[schedule]{What: schedule{Name: w.jobs[slotted].ScheduleName, Excludes: true}})
			f.calendars = append(f.calendars, &inForce[[]int]{What: []int{w.jobs[slotted].Slot.Second()}})
		},
		"places": func(f *witness) {
			f.rules = append(f.rules, &inForce[schedule]{What: schedule{Name: w.jobs[slotted].ScheduleName, On: hourbell.Place{Host: "h9"}}})
		},
		"limits at a time": func(f *witness) {
			f.limits = append(f.limits, &inForce[hourbell.Limit]{What: hourbell.Limit{Kind: kindPlain, Concurrency: 1}})
		},
		"rates": func(f *witness) {
			f.limits = append(f.limits, &inForce[hourbell.Limit]{What: hourbell.Limit{Kind: kindPlain, Rate: hourbell.Rate{Jobs: 1, Per: time.Hour}}})
		},
		"every end is followed once": func(f *witness) {
			for range 2 {
				again := f.jobs[known]
				again.ID, again.Origin, again.ScheduleName = again.ID+1<<20, store.OriginAfter, "s9"
				again.After = []store.JobEdge{{Edge: store.Edge{Job: f.jobs[known].ID}}}
				f.jobs = append(f.jobs, again)
			}
			f.jobs[len(f.jobs)-1].ID++
		},
		"cancels": func(f *witness) { f.cancels = append(f.cancels, &inForce[int64]{What: f.runs[known].ID}) },
		"pauses":  func(f *witness) { f.pauses = append(f.pauses, &always) },
		"edges":   func(f *witness) { f.asked[edged] = withoutMatch(f.asked[edged]) },
		"batches": func(f *witness) { f.runs = startedAtOnce(f.runs, f.asked[last].ID) },
		"unique keys": func(f *witness) {
			f.jobs[known].Unique, f.jobs[known+1].Unique, f.jobs[known+1].Kind, f.jobs[known+1].CreatedAt = "u", "u", f.jobs[known].Kind, f.jobs[known].CreatedAt
		},
		"lost history is noticed": func(f *witness) { f.back = wentBackTo(f) },
		"lost history is noticed: what was acknowledged before": func(f *witness) {
			f.back = wentBackTo(f)
			f.back.noticed, f.back.asked = true, []*asked{{ID: 1 << 30}}
		},
		"lost history is noticed: tokens": func(f *witness) {
			f.back = wentBackTo(f)
			f.back.noticed, f.back.runs = true, []*run{{Token: 1 << 40}}
		},
		"lost history is noticed: a run": func(f *witness) {
			f.back = wentBackTo(f)
			between := run{Node: "n1", Heeds: true, Start: moment{f.at.Store, f.at.Real.Add(-time.Second)}}
			between.End = between.Start
			f.back.noticed, f.back.steady, f.back.runs = true, map[string]bool{"n1": true}, []*run{&between}
		},
		"bad input changes nothing": func(f *witness) { f.bad[labelOf(f.jobs[0].Args)] = true },
		"no error without a reason": func(f *witness) {
			unknown := *f.asked[known]
			unknown.Err = store.ErrUnknown
			f.asked[known] = &unknown
		},
	} {
		f := w.copy()
		falsify(f)
		found := verify(p, f)
		promise, _, _ := strings.Cut(promise, ": ") // and what of it is falsified
		if !slices.ContainsFunc(found, func(problem string) bool { return strings.HasPrefix(problem, promise+":") }) {
			t.Errorf("%s: the check notices nothing: %s", promise, first(found, 3))
		}
	}
}

// TestGuaranteesNameTheirChecks reads docs/guarantees.md: each promise names checks that exist, and each check is named.
func TestGuaranteesNameTheirChecks(t *testing.T) {
	page, err := os.ReadFile("../../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	unnamed := map[string]bool{}
	for _, one := range promises {
		unnamed[one.name] = true
	}
	quoted := regexp.MustCompile(`\*([^*]+)\*`)
	for section := range strings.SplitSeq(string(page), "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		if !strings.HasPrefix(title, "P") {
			continue
		}
		named := 0
		for item := range strings.SplitSeq(text, "\n- ") {
			list, is := strings.CutPrefix(item, "sim ")
			if !is {
				continue
			}
			list, _, _ = strings.Cut(list, "\n\n")
			for _, name := range quoted.FindAllStringSubmatch(list, -1) {
				if named++; !slices.ContainsFunc(promises, func(one promise) bool { return one.name == name[1] }) {
					t.Errorf("%s names the check %q, which does not exist", title, name[1])
				}
				delete(unnamed, name[1])
			}
		}
		if named == 0 {
			t.Errorf("%s names no check", title)
		}
	}
	for name := range unnamed {
		t.Errorf("no promise names the check %q", name)
	}
}

// copy returns a copy whose lists may be changed.
func (w *witness) copy() *witness {
	f := newWitness()
	f.runs, f.asked, f.jobs, f.slots = slices.Clone(w.runs), slices.Clone(w.asked), slices.Clone(w.jobs), slices.Clone(w.slots)
	f.faults, f.rules, f.halts, f.limits, f.pauses = slices.Clone(w.faults), slices.Clone(w.rules), slices.Clone(w.halts), nil, slices.Clone(w.pauses)
	f.at, f.took, f.changed, f.deleted, f.follows, f.every, f.alone = w.at, w.took, w.changed, w.deleted, w.follows, w.every, w.alone
	f.steps, f.sent, f.forgot = slices.Clone(w.steps), slices.Clone(w.sent), w.forgot
	f.hooked, f.handlers, f.calendars = w.hooked, slices.Clone(w.handlers), slices.Clone(w.calendars)
	return f
}

// wentBackTo returns that the store went back by five minutes, and that the loss was accepted at the end.
func wentBackTo(w *witness) *wentBack {
	before := func(by time.Duration) moment { return moment{w.at.Store.Add(-by), w.at.Real.Add(-by)} }
	return &wentBack{backup: before(10 * time.Minute), at: before(5 * time.Minute), confirmed: w.at, accepted: w.at}
}

func heeding(r *run) *run {
	c := *r
	c.Heeds = true
	return &c
}

func withToken(r *run, token int64) *run {
	c := *r
	c.Token = token
	return &c
}

func withAttempt(r *run) *run {
	c := *r
	c.Attempt = c.MaxAttempts + 1
	return &c
}

func lost(r *run) *run {
	c := *r
	c.Died, c.FailOnLoss = true, true
	return &c
}

func inAnHour(a *asked) *asked {
	c := *a
	c.Job.In = time.Hour
	return &c
}

func withoutMatch(a *asked) *asked {
	c := *a
	c.Job.After = slices.Clone(c.Job.After)
	c.Job.After[0].Delay = 100 * time.Hour
	return &c
}

func recordedLater(s store.SlotInfo) store.SlotInfo {
	s.Outcome, s.RecordedAt = store.SlotFired, s.Slot.Add(time.Hour)
	return s
}

// startedAtOnce returns runs. The runs of one job are moved to the start of the simulation.
func startedAtOnce(runs []*run, id int64) []*run {
	runs = slices.Clone(runs)
	for i, r := range runs {
		if r.ID == id {
			c := *r
			c.Start.Store = c.Start.Store.Add(-24 * time.Hour)
			runs[i] = &c
		}
	}
	return runs
}
