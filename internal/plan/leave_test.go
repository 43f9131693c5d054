package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// A node that may not run a schedule's jobs fires none of its slots, and accounts only for slots
// that are later than the grace.
func TestUnlistedSlotsAreLeftToOthers(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	plan, s := planned(t, "10s", noon)
	listed := false
	mayRun := func(d Definition) bool {
		if d.Kind != plan.Kind || d.Args != plan.Args {
			t.Errorf("asked for %s %s", d.Kind, d.Args)
		}
		return listed
	}
	s.NextAt = at(10)
	pass := func(now time.Time) int {
		ours, left, again := NewCache(&recur.Zones{}).Own([]store.Schedule{s}, mayRun, now)
		want := s.NextAt.Add(defaultGrace + time.Microsecond)
		if now.Before(s.NextAt.Add(patience)) {
			want = s.NextAt.Add(patience)
		}
		if len(ours) == 0 && !again.Equal(want) {
			t.Errorf("at %v it looks again at %v", now, again)
		}
		if !listed && (len(left) != 1 || left[0].Overdue(now) == now.Before(s.NextAt.Add(patience))) {
			t.Errorf("at %v it leaves %+v", now, left)
		}
		return len(ours)
	}
	if pass(at(10)) != 0 || pass(at(15)) != 0 || pass(at(70)) != 0 || pass(at(71)) != 1 {
		t.Error("a slot has to be left alone while it is on time, and no longer")
	}
	why := plan.Because("no such node")
	if f := why.OnlyMissed(s, why.Decide(s, at(95)), at(95)); !strings.HasSuffix(f.Slots[0].Reason, " within 1m0s (no such node)") {
		t.Errorf("the reason is %q", f.Slots[0].Reason)
	}
	f := plan.OnlyMissed(s, plan.Decide(s, at(95)), at(95))
	if got := outcomesOf(f); got != "missed/misfire missed/misfire missed/misfire" || !f.NewMark.Equal(at(30)) || !f.NewNextAt.Equal(at(40)) {
		t.Errorf("%s, up to %v, next %v", got, f.NewMark, f.NewNextAt)
	}
	listed = true
	if pass(at(10)) != 1 {
		t.Error("a slot whose job is listed was left to others")
	}
	listed = false
	plan, s = planned(t, "10s", noon, func(d *Definition) { d.Misfire = MisfireAll })
	if ours, _, again := NewCache(&recur.Zones{}).Own([]store.Schedule{s}, mayRun, at(1000)); len(ours) != 0 || !again.IsZero() {
		t.Error("a slot that is to be made up for was not left to others")
	}
}

// TestNoTaker checks when no living node runs a stored job, and the words for it.
func TestNoTaker(t *testing.T) {
	node := func(queue string, kinds ...string) store.NodeInfo {
		return store.NodeInfo{Queues: []string{queue}, Kinds: kinds}
	}
	restricted, free, gone := node("q", "command"+store.Restricted, "mail"+store.Restricted), node("q", "command"), node("q", "command")
	gone.EndedAt = noon
	for _, nodes := range [][]store.NodeInfo{nil, {gone}} {
		if got := NoTaker("q@web1", "command", nodes, nil); got != "" {
			t.Errorf("while no node lives: %q", got)
		}
	}
	const elsewhere = "no living node of host web1 serves queue \"q\"; start one with --host web1"
	if got := NoTaker("q@web1", "command", []store.NodeInfo{free}, nil); got != elsewhere {
		t.Errorf("while no node of the host lives: %q", got)
	}
	for _, test := range []struct {
		kind  string
		nodes []store.NodeInfo
		want  string
	}{
		{"command", nil, ""},
		{"command", []store.NodeInfo{restricted}, "no living node allows stored commands: start one with --commands any, or declare it in a file"},
		{"mail", []store.NodeInfo{restricted}, "no living node allows stored jobs of kind \"mail\": start one with --commands any, or declare it in a file"},
		{"command", []store.NodeInfo{restricted, free}, ""},
		{"command", []store.NodeInfo{restricted, gone, node("other", "command")}, "no living node allows stored commands: start one with --commands any, or declare it in a file"},
		{"report", []store.NodeInfo{restricted}, ""},
		{"command", []store.NodeInfo{node("other", "command"+store.Restricted)}, ""},
		{"command", []store.NodeInfo{node("q", "report")}, ""},
	} {
		if got := NoTaker("q", test.kind, test.nodes, nil); got != test.want {
			t.Errorf("%s on %+v: %q", test.kind, test.nodes, got)
		}
	}
}

// TestDeclaredButLeft checks the reason why no living node runs a line of a file.
func TestDeclaredButLeft(t *testing.T) {
	node := func(host string, ended bool) store.NodeInfo {
		n := store.NodeInfo{Host: host, Queues: []string{"q"}, Kinds: []string{"command" + store.Restricted}, SeenAt: noon}
		if ended {
			n.EndedAt = noon
		}
		return n
	}
	copyOf := func(host, digest string) store.Copy { return store.Copy{Host: host, Digest: digest} }
	file := store.Owner{Name: "f", Version: store.Version{Digest: "2"}, Copies: []store.Copy{copyOf("a", "1"), copyOf("b", "2"), copyOf("c", "2")}}
	const stored = "no living node allows stored commands: start one with --commands any, or declare it in a file"
	const user = ", whose nodes do not run it: their logs have the reason, such as a user who is missing there"
	for _, test := range []struct {
		name  string
		host  string
		file  store.Owner
		nodes []store.NodeInfo
		want  string
	}{
		{"no file", "", store.Owner{}, []store.NodeInfo{node("a", false)}, stored},
		{"its hosts live", "", file, []store.NodeInfo{node("b", false), node("c", false)}, "declared by host b, host c" + user},
		{"one of its hosts lives", "", file, []store.NodeInfo{node("a", false), node("b", false), node("c", true)}, "declared by host b" + user},
		{
			"another version lives", "", file,
			[]store.NodeInfo{node("a", false), node("b", true)},
			"no living node has this version of the line: it is declared by host b, last seen at " + noon.UTC().Format(time.RFC3339) + "; host c",
		},
		{"a host of it", "b", file, []store.NodeInfo{node("b", false), node("c", false)}, "declared by host b" + user},
		{"a host with another version", "a", file, []store.NodeInfo{node("a", false)}, "host a has another version of the line: it is declared by host b, host c"},
		{"a host without the file", "d", file, []store.NodeInfo{node("d", false)}, "host d has no file with the line: it is declared by host b, host c"},
	} {
		why := func() string { return DeclaredButLeft(test.host, test.file, test.nodes) }
		if got := NoTaker("q", "command", test.nodes, why); got != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}
