package work

import (
	"context"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

func TestPaceAsks(t *testing.T) {
	var p pace
	if got := p.limit(10, 4); got != 6 {
		t.Errorf("without depth it asks for %d of 6 free workers", got)
	}
	if got := p.refillAt(10); got != 9 {
		t.Errorf("without depth it asks again when %d are in flight, of 10 workers", got)
	}
	p.depth = 100
	if got := p.refillAt(10); got != 59 {
		t.Errorf("with depth it asks again when %d are in hand; the workers must not stand still until then", got)
	}
}

// From a store with a high latency, a node claims larger batches, up to farDepth.
func TestPaceOfAStoreFarAway(t *testing.T) {
	p := pace{far: true}
	for range 20 {
		p.used(10, 0)
	}
	if p.depth != farDepth {
		t.Errorf("short jobs of a store with a high latency: %d are prefetched, want %d", p.depth, farDepth)
	}
}

// TestPaceLearns claims from a backlog of jobs that all take equally long, and checks how many jobs
// are prefetched. Half of them have to begin within slowUse.
func TestPaceLearns(t *testing.T) {
	for _, width := range []int{1, 10, 100, 2000} {
		for each := time.Microsecond; each < 10*time.Second; each *= 2 {
			var p pace
			for range 20 {
				// Workers run width jobs at a time; the next claim is sent when refillAt jobs are
				// left.
				used := width + p.depth - p.refillAt(width)
				rounds := (used + width - 1) / width
				p.used(width, time.Duration(rounds)*each)
				if waits := time.Duration(p.depth) * each / time.Duration(width); waits > 2*slowUse {
					t.Errorf("%d workers, jobs of %v: %d are prefetched, the last waits %v", width, each, p.depth, waits)
				}
			}
			if each*maxDepth < quickUse*time.Duration(width) && p.depth != maxDepth {
				t.Errorf("%d workers, jobs of %v: %d are prefetched, want %d", width, each, p.depth, maxDepth)
			}
			if each > quickUse && p.depth > 0 {
				t.Errorf("%d workers, jobs of %v: %d are prefetched, want none", width, each, p.depth)
			}
		}
	}
}

// TestPaceForgets checks that a node stops prefetching when jobs become long or rare.
func TestPaceForgets(t *testing.T) {
	for name, learn := range map[string]func(p *pace){
		"slow jobs": func(p *pace) { p.used(10, slowUse+1) },
		"few jobs":  func(p *pace) { p.less(10) },
	} {
		p := pace{depth: maxDepth}
		for n := 1; p.depth > 0; n++ {
			if learn(&p); n > 10 {
				t.Fatalf("%s: after %d claims %d jobs are still prefetched", name, n, p.depth)
			}
		}
	}
}

// TestLongJobsThatEndTogether: several long jobs end at the same moment, and the claim after them is
// used at once; the jobs count as long all the same.
func TestLongJobsThatEndTogether(t *testing.T) {
	var p pace
	p.bound(4, 200*time.Millisecond)
	if p.used(4, 0); p.depth != 0 {
		t.Errorf("%d jobs of 200 ms are prefetched", p.depth)
	}
	p.bound(4, time.Millisecond)
	if p.used(4, 0); p.depth != 16 {
		t.Errorf("%d jobs of 1 ms are prefetched", p.depth)
	}
}

func TestWhatBeginsTogether(t *testing.T) {
	jobs := func(losses ...int16) (runs []*Run) {
		for _, n := range losses {
			runs = append(runs, &Run{Claimed: store.Claimed{Losses: n}})
		}
		return runs
	}
	for _, test := range []struct {
		losses []int16
		want   int
	}{{[]int16{0}, 1}, {[]int16{0, 0, 0}, 3}, {[]int16{1}, 1}, {[]int16{1, 0, 0}, 1}, {[]int16{0, 0, 1, 0}, 2}, {[]int16{1, 1}, 1}} {
		if got := beginTogether(jobs(test.losses...)); got != test.want {
			t.Errorf("of jobs that were lost %v times, %d begin together, want %d", test.losses, got, test.want)
		}
	}
}

func TestHowFarAheadAClaimMayGo(t *testing.T) {
	for _, test := range []struct {
		depth int
		mean  time.Duration
		want  int
	}{
		{1000, 0, 1000},
		{1000, time.Microsecond, 1000},
		{1000, time.Millisecond, 400},
		{100, time.Millisecond, 100},
		{1000, 50 * time.Millisecond, 8},
		{1000, 100 * time.Millisecond, 4},
		{1000, 101 * time.Millisecond, 0},
		{1000, time.Hour, 0},
		{0, time.Microsecond, 0},
	} {
		p := pace{depth: test.depth}
		p.bound(4, test.mean)
		if p.depth != test.want {
			t.Errorf("jobs of %v and a depth of %d: %d, want %d", test.mean, test.depth, p.depth, test.want)
		}
		if ahead, want := p.ahead(10), 9; test.want > 0 && ahead != 0 || test.want == 0 && ahead != want {
			t.Errorf("a depth of %d: %d are not to begin at once", p.depth, ahead)
		}
	}
}

// TestNothingIsClaimedInAdvanceAfterALostLease: a node that has lost its lease claims only for free workers for some heartbeats.
func TestNothingIsClaimedInAdvanceAfterALostLease(t *testing.T) {
	const heartbeat, width = time.Second, 10
	r := newRunner(t, nil, Config{Queues: map[string]int{"q": width}, Heartbeat: heartbeat, Far: func() bool { return false }})
	f := r.fetchers()[0]
	session, lose := context.WithCancel(t.Context())
	f.session = session
	now := loop.Now()
	limit := func(after time.Duration) int {
		f.pace.depth = maxDepth // the jobs are short
		f.calmDown(now.Add(after))
		return f.pace.limit(width, 0)
	}
	if n := limit(0); n != width+maxDepth {
		t.Errorf("with a lease a claim has the limit %d", n)
	}
	lose()
	for _, after := range []time.Duration{0, heartbeat, calmBeats*heartbeat - 1} {
		if n := limit(after); n != width {
			t.Errorf("%v after the loss a claim has the limit %d, want %d", after, n, width)
		}
	}
	f.session = t.Context()
	if n := limit(calmBeats * heartbeat); n != width+maxDepth {
		t.Errorf("with another lease a claim has the limit %d", n)
	}
}
