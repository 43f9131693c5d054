package findings

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

var now = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func queuesOf(rows ...store.QueueInfo) (queues []hourbell.QueueInfo) {
	for _, row := range rows {
		queues = append(queues, hourbell.QueueInfo{QueueInfo: row})
	}
	return queues
}

// node is a node that lives, takes jobs of queue q, and runs kind k.
func node(name string) store.NodeInfo {
	return store.NodeInfo{Name: name, SeenAt: now, Lease: time.Second, Queues: []string{"q"}, Kinds: []string{"k"}}
}

// overdueOne is a schedule with slots that have passed.
func overdueOne(name, why string, slots int) hourbell.ScheduleInfo {
	s := hourbell.ScheduleInfo{Waits: why, Overdue: hourbell.Overdue{Since: now.Add(-time.Hour + time.Duration(slots)*time.Second), Slots: slots}}
	s.Name = name
	return s
}

// failingOne is a schedule whose newest jobs failed, one a minute. Its number, and the number of its newest job, is its letter.
func failingOne(name string, failures int, reason string) Failing {
	one := Failing{Reason: reason, Health: hourbell.ScheduleHealth{Failures: failures, FailedFirst: now.Add(-time.Duration(failures) * time.Minute), FailedLast: int64(name[0])}}
	one.Schedule.ID, one.Schedule.Name = int64(name[0]), name
	return one
}

func jobOf(id int64, queue, kind string) store.JobInfo {
	return store.JobInfo{ID: id, JobSpec: store.JobSpec{Queue: queue, Kind: kind}, RunAt: now.Add(-time.Minute)}
}

// TestEachRule checks what each rule finds, and that it finds nothing in a cluster that works. Every rule has a case.
func TestEachRule(t *testing.T) {
	works := func() Facts {
		paused := queuesOf(store.QueueInfo{Name: "paused", Oldest: now.Add(-time.Hour)})[0]
		paused.Pause.At = now.Add(-time.Hour)
		return Facts{
			Now: now, Nodes: []store.NodeInfo{node("a")},
			Queues: append(queuesOf(store.QueueInfo{Name: "q", Ready: 2, Oldest: now}, store.QueueInfo{Name: "p"}), paused),
			Failed: []store.JobInfo{{ID: 8, FinishedAt: now.Add(-2 * time.Hour)}},
		}
	}
	if found := Find(works()); len(found) > 0 {
		t.Fatalf("nothing is wrong, but it found %+v", found)
	}
	if found := Find(Facts{Now: now}); len(found) > 0 {
		t.Fatalf("nothing is there, but it found %+v", found)
	}
	tested := map[string]bool{}
	for _, test := range []struct {
		rule  string
		facts func(f *Facts)
		want  []string // what each finding begins with
		since time.Time
	}{
		{"store-went-back", func(f *Facts) {
			f.LostAt, f.Overdue = now.Add(-time.Minute), []hourbell.ScheduleInfo{overdueOne("s", "", 3)}
		}, []string{"the store went back in time"}, now.Add(-time.Minute)},
		{"no-node", func(f *Facts) { f.Nodes = nil }, []string{"no node is alive, and 2 due jobs wait"}, now.Add(-time.Hour)},
		{"no-node", func(f *Facts) {
			f.Nodes[0].EndedAt, f.Queues = now, queuesOf(store.QueueInfo{Name: "q", Ready: 1, Oldest: now, Estimated: true})
		}, []string{"no node is alive (the last, a, was stopped 0s ago), and about 1 due job waits"}, now},
		{"no-node", func(f *Facts) {
			old := node("old")
			old.EndedAt, f.Nodes[0].EndedAt, f.Nodes[0].Died = now.Add(-3*time.Hour), now.Add(-2*time.Hour), true
			f.Nodes, f.Queues, f.NextSlot, f.NextName = append(f.Nodes, old), nil, now.Add(time.Hour), "nightly"
		}, []string{"no node is alive (the last, a, died 2h0m0s ago), so that schedule nightly will not fire at 2027-03-01T13:00:00Z"}, now.Add(-2 * time.Hour)},
		{"schedule-overdue", func(f *Facts) {
			f.Nodes, f.Queues, f.Overdue = nil, nil, []hourbell.ScheduleInfo{overdueOne("tick", "no node is alive; start one", 12)}
		}, []string{"schedule tick has not fired 12 slots, the first at 2027-03-01T11:00:12Z: no node is alive"}, now.Add(-time.Hour + 12*time.Second)},
		{"schedule-overdue", func(f *Facts) {
			f.Overdue = []hourbell.ScheduleInfo{overdueOne("b", "nobody may", 3), overdueOne("a", "nobody may", 2), overdueOne("c", "", 1)}
		}, []string{
			"2 schedules, such as a, have not fired 5 slots, the first at 2027-03-01T11:00:02Z: nobody may",
			"schedule c has not fired 1 slot, the first at 2027-03-01T11:00:01Z: no node has accounted for them",
		}, now.Add(-time.Hour + 2*time.Second)},
		{"schedule-ahead", func(f *Facts) {
			s := hourbell.ScheduleInfo{Mark: now.Add(time.Hour)}
			s.Name = "s"
			f.Ahead = []hourbell.ScheduleInfo{s, s}
		}, []string{"2 schedules are ahead of the store's clock and stand still, such as s, which is accounted for up to 2027-03-01T13:00:00Z"}, time.Time{}},
		{"schedule-broken", func(f *Facts) {
			f.Failing = []Failing{failingOne("a", 12, "no route"), failingOne("b", 20, "no money\nleft"), failingOne("c", 10, "no route")}
			f.Failed = []store.JobInfo{{ID: 9, Schedule: 'a', FinishedAt: now}}
		}, []string{
			"the last 12 jobs of schedule a failed, job 97 with: no route; so do the jobs of 1 other schedule",
			"the last 20 jobs of schedule b, or more, failed, job 98 with: no money…",
		}, now.Add(-12 * time.Minute)},
		{"schedule-fails", func(f *Facts) {
			f.Failing = []Failing{failingOne("a", 3, ""), failingOne("b", 9, "")}
		}, []string{"the last 3 jobs of schedule a failed", "the last 9 jobs of schedule b failed"}, now.Add(-3 * time.Minute)},
		{"node-silent", func(f *Facts) {
			for range 2 {
				f.Nodes = append(f.Nodes, store.NodeInfo{Name: "c", SeenAt: now.Add(-time.Minute), Lease: time.Second})
			}
		}, []string{"node c was last heard 1m0s ago, and its lease is over, and 1 more"}, now.Add(-time.Minute)},
		{"file-refused", func(f *Facts) {
			b, left := node("b"), node("left")
			b.Problems = []store.NodeProblem{{Name: "file-refused", Text: "file x of host h is refused", Since: now.Add(-time.Hour)}, {Name: "of a later release"}}
			left.Problems, left.EndedAt = b.Problems, now
			f.Nodes = append(f.Nodes, b, left)
		}, []string{"file x of host h is refused (node b)"}, now.Add(-time.Hour)},
		{"worker-stuck", func(f *Facts) {
			f.Nodes[0].Problems = []store.NodeProblem{{Name: "worker-stuck", Text: "the worker of job 7", Since: now}}
		}, []string{"the worker of job 7 (node a)"}, now},
		{"calls-ended", func(f *Facts) {
			f.Nodes[0].Problems = []store.NodeProblem{{Name: "calls-ended", Text: "the server has ended calls", Since: now}}
		}, []string{"the server has ended calls (node a)"}, now},
		{"connections", func(f *Facts) {
			f.Nodes[0].Problems = []store.NodeProblem{{Name: "connections", Text: "the role r has 3 of its connections left", Since: now}}
		}, []string{"the role r has 3 of its connections left (node a)"}, now},
		{"timeouts", func(f *Facts) {
			f.Nodes[0].Problems = []store.NodeProblem{{Name: "timeouts", Text: "lock_timeout is 1s, so", Since: now}}
		}, []string{"lock_timeout is 1s, so (node a)"}, now},
		{"job-untaken", func(f *Facts) {
			f.Waiting = []Waiting{{Job: jobOf(7, "q", "other"), Why: "no code"}, {Job: jobOf(8, "mail", "k"), Why: "no queue"}}
		}, []string{"job 7 waits although it is due: no code", "job 8 waits although it is due: no queue"}, now.Add(-time.Minute)},
		{"job-held-up", func(f *Facts) {
			f.Waiting = []Waiting{{Job: jobOf(7, "q", "k"), Why: "limit l"}, {Job: jobOf(8, "q", "k"), Why: "limit l, and 1 job waits before it"}}
		}, []string{"job 7 waits although it is due: limit l"}, now.Add(-time.Minute)},
		{"pause-holds-jobs", func(f *Facts) {
			f.Waiting = []Waiting{{Job: jobOf(7, "q", "other"), Why: "queue q is paused", Pauses: []store.Pause{{At: now.Add(-time.Hour)}}}}
		}, []string{"job 7 waits although it is due: queue q is paused"}, now.Add(-time.Hour)},
		{
			"queue-behind", func(f *Facts) {
				f.Queues[0].Oldest, f.Queues[1].Oldest = now.Add(-2*time.Minute), now.Add(-3*time.Minute)
			},
			[]string{"queue p is behind: its oldest due job has waited for 3m0s"},
			now.Add(-3 * time.Minute),
		},
		{"slots-missed", func(f *Facts) {
			f.Missed = []store.SlotInfo{{ScheduleName: "s", SlotRecord: store.SlotRecord{Slot: now, Count: 3, Reason: "late"}}}
		}, []string{"schedule s missed 3 slots: late"}, now},
		{"node-died", func(f *Facts) {
			f.Nodes = append(f.Nodes, store.NodeInfo{Name: "b", Died: true, EndedAt: now.Add(-time.Minute)}, store.NodeInfo{Name: "c", Died: true, EndedAt: now.Add(-2 * time.Hour)})
		}, []string{"node b died 1m0s ago"}, now.Add(-time.Minute)},
		{"jobs-failed", func(f *Facts) {
			f.Failed = append([]store.JobInfo{{ID: 9, JobSpec: store.JobSpec{Kind: "k"}, Reason: "no\nway", FinishedAt: now}}, f.Failed...)
		}, []string{"1 job failed in the last hour; the newest is job 9 of kind k: no…"}, now},
		{"jobs-failed", func(f *Facts) {
			for i, reason := range []string{"rare", "often", "1", "2", "often"} {
				f.Failed = append(f.Failed, store.JobInfo{ID: int64(20 + i), JobSpec: store.JobSpec{Kind: "k"}, Reason: reason, FinishedAt: now.Add(-time.Duration(i) * time.Minute)})
			}
		}, []string{
			"2 jobs failed in the last hour; the newest is job 21 of kind k: often", "1 job failed in the last hour; the newest is job 20 of kind k: rare",
			"1 job failed in the last hour; the newest is job 22 of kind k: 1; and jobs failed in 1 other way",
		}, now.Add(-4 * time.Minute)},
		{"time-zones-differ", func(f *Facts) {
			f.Nodes = append(f.Nodes, node("b"))
			f.Nodes[0].Zones, f.Nodes[1].Zones = []string{"Nowhere/Land=1"}, []string{"Nowhere/Land=2"}
		}, []string{"Nowhere/Land has other data on a than on b"}, time.Time{}},
		{
			"not-read", func(f *Facts) { f.Unread = []string{"due jobs", "queues"} },
			[]string{"the store did not answer in time, so that this is not known: due jobs, queues"},
			time.Time{},
		},
	} {
		f := works()
		test.facts(&f)
		found := Find(f)
		if len(found) != len(test.want) {
			t.Errorf("%s: found %+v, want %q", test.rule, found, test.want)
			continue
		}
		tested[test.rule] = true
		for i, one := range found {
			if one.Check != test.rule || !strings.HasPrefix(one.Found, test.want[i]) || one.Remedy == "" || About(one) == "" || one.Level == store.FindingOK {
				t.Errorf("%s: found %+v, want %q", test.rule, one, test.want[i])
			}
		}
		if !found[0].Since.Equal(test.since) {
			t.Errorf("%s: since %v, want %v", test.rule, found[0].Since, test.since)
		}
	}
	for _, r := range Rules() {
		if !tested[r.Name] {
			t.Errorf("the rule %s has no case", r.Name)
		}
	}
}

// TestTheMostUrgentFirst checks that findings come in the order of the rules, and that no two rules have one name.
func TestTheMostUrgentFirst(t *testing.T) {
	f := Facts{Now: now, LostAt: now, Queues: queuesOf(store.QueueInfo{Ready: 1, Oldest: now.Add(-time.Hour)}), Failed: []store.JobInfo{{ID: 9, FinishedAt: now}}}
	names := ""
	for _, one := range Find(f) {
		names += one.Check + " "
	}
	if names != "store-went-back no-node jobs-failed " {
		t.Errorf("found %s", names)
	}
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.Name] {
			t.Errorf("two rules have the name %s", r.Name)
		}
		seen[r.Name] = true
	}
}

// TestNotReady checks when a node is ready: what stops all nodes or this node counts, and what stops others does not.
func TestNotReady(t *testing.T) {
	left, refuses, stuck := node("a"), node("a"), node("a")
	left.EndedAt = now
	refuses.Problems = []store.NodeProblem{{Name: "file-refused", Text: "file x is refused"}}
	stuck.Problems = []store.NodeProblem{{Name: "worker-stuck", Text: "a worker"}}
	other := refuses
	other.Name = "b"
	for _, test := range []struct {
		name  string
		facts Facts
		left  time.Duration
		want  string
	}{
		{"ready", Facts{Now: now, Nodes: []store.NodeInfo{node("a")}}, time.Second, ""},
		{"not registered", Facts{Now: now, Nodes: []store.NodeInfo{node("b"), left}}, time.Second, "not registered"},
		{"no lease", Facts{Now: now, Nodes: []store.NodeInfo{node("a")}}, 0, "lost its lease"},
		{"heartbeats fail", Facts{Now: now, Nodes: []store.NodeInfo{node("a")}}, 300 * time.Millisecond, "heartbeats of this node"},
		{"suspended", Facts{Now: now, LostAt: now, Nodes: []store.NodeInfo{node("a")}}, time.Second, "went back in time"},
		{"a file is refused", Facts{Now: now, Nodes: []store.NodeInfo{refuses}}, time.Second, "file-refused: `hourbell doctor` says more"},
		{"a file of another node is refused", Facts{Now: now, Nodes: []store.NodeInfo{node("a"), other}}, time.Second, ""},
		{"a worker is stuck", Facts{Now: now, Nodes: []store.NodeInfo{stuck}}, time.Second, ""},
		{"another node is silent", Facts{Now: now, Nodes: []store.NodeInfo{node("a"), {Name: "b", SeenAt: now.Add(-time.Hour)}}}, time.Second, ""},
	} {
		if got := notReady(test.facts, "a", test.left); got == "" != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
