package stats

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

func TestQuantile(t *testing.T) {
	of := func(times ...time.Duration) (h Histogram) {
		for _, d := range times {
			h.Record(d)
		}
		return h
	}
	for _, c := range []struct {
		name string
		h    Histogram
		q    float64
		want time.Duration
	}{
		{"nothing", of(), .5, 0},
		{"half of the first bucket", of(0), .5, 64 * time.Microsecond},
		{"the end of a bucket", of(200 * time.Microsecond), 1, 256 * time.Microsecond},
		{"the middle of a bucket", of(time.Second), .5, 786432 * time.Microsecond},
		{"a time at a bound is in the upper bucket", of(128 * time.Microsecond), 0.5, 192 * time.Microsecond},
		{"before 0", of(-time.Second), 1, 128 * time.Microsecond},
		{"among small times", of(time.Millisecond, time.Millisecond, time.Millisecond, time.Hour), .5, 512*time.Microsecond + 512*time.Microsecond*2/3},
		{"the longest", of(time.Millisecond, time.Hour), .99, 4252018 * time.Millisecond},
		{"years are in the last bucket", of(10000 * time.Hour), 1, 128 * time.Microsecond << 31},
	} {
		if got := c.h.Quantile(c.q); got.Round(time.Millisecond) != c.want.Round(time.Millisecond) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestQuantilesAreNear compares with exact quantiles of random times.
func TestQuantilesAreNear(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var h Histogram
	times := make([]time.Duration, 5000)
	for i := range times {
		times[i] = time.Duration(float64(time.Millisecond) * (1 + 1000*random.ExpFloat64()))
		h.Record(times[i])
	}
	slices.Sort(times)
	for _, q := range []float64{.01, .5, .95, .99} {
		exact, got := times[int(q*5000)], h.Quantile(q)
		if got > 2*exact || got < exact/2 {
			t.Errorf("seed %d: quantile %v is %v, exactly %v", seed, q, got, exact)
		}
	}
}

// filled returns a tally whose numbers begin at n.
func filled(n int64) *Tally {
	t := &Tally{}
	for i, number := range t.numbers() {
		*number = n + int64(i)
	}
	return t
}

func TestAdd(t *testing.T) {
	sum := filled(1)
	sum.Add(filled(1000))
	ages := 0
	for i, n := range sum.numbers() {
		switch n {
		case &sum.Age:
			ages++
			if *n != 1000+int64(i) {
				t.Errorf("the age is %d, want the greater age", *n)
			}
		default:
			if *n != 1001+2*int64(i) {
				t.Errorf("number %d is %d", i, *n)
			}
		}
	}
	if ages != 1 {
		t.Error("the age is not among the numbers")
	}
}

func TestEncode(t *testing.T) {
	all := Tallies{{}: filled(1), {"q", "k", "s"}: filled(1 << 40), {"", "", "nächtlich"}: {Slots: [4]int64{0, 0, 3}}}
	data := all.Encode()
	got := Tallies{}
	if err := got.Decode(data); err != nil || !equal(got, all) {
		t.Fatalf("decoded %v: %v", got, err)
	}
	if err := got.Decode(data); err != nil || got[Key{Schedule: "nächtlich"}].Slots[2] != 6 {
		t.Errorf("a second row is not added: %v", err)
	}
	if n := len(Tallies{{"default", "invoice", ""}: {Jobs: [8]int64{1000}}}.Encode()); n > 24 {
		t.Errorf("a simple tally has %d bytes", n)
	}
	for end := range data { // no beginning of a row may do harm
		if err := (Tallies{}).Decode(data[:end]); err != nil && !errors.Is(err, errDamaged) {
			t.Errorf("%d bytes: %v", end, err)
		}
	}
	later := append(Tallies{{}: {Samples: 1}}.Encode(), 0, 0, 0, 100, 7, 100, 9, 0)
	got = Tallies{}
	if err := got.Decode(later); err != nil || got[Key{}].Samples != 1 {
		t.Errorf("numbers of a later release: %v, %v", got, err)
	}
}

func equal(a, b Tallies) bool {
	same := len(a) == len(b)
	for key := range a {
		same = same && b[key] != nil && *a[key] == *b[key]
	}
	return same
}

func TestManyNamesAreCountedTogether(t *testing.T) {
	all := Tallies{}
	for i := range 3 * most {
		all.At(Key{"q", "k", fmt.Sprint("s", i)}).Jobs[0]++
	}
	if n := all[Key{"q", "k", LeftOut}]; len(all) != most+1 || n == nil || n.Jobs[0] != 2*most {
		t.Fatalf("%d schedules", len(all))
	}
	for i := range 3 * most {
		all.At(Key{fmt.Sprint("q", i), "k", ""}).Jobs[0]++
	}
	all.At(Key{}).Samples++
	if n := all[Key{LeftOut, LeftOut, LeftOut}]; len(all) != 2*most+2 || n == nil || n.Jobs[0] != 2*most+1 {
		t.Fatalf("%d queues: %+v", len(all), n)
	}
	all.At(Key{"q", "k", "s0"}).Jobs[0]++
	if all[Key{"q", "k", "s0"}].Jobs[0] != 2 {
		t.Error("a known schedule is not counted apart")
	}
}

func TestCollector(t *testing.T) {
	c := NewCollector(7)
	at := time.Date(2027, 3, 1, 10, 14, 59, 0, time.UTC)
	if !c.Empty() || len(c.Close(at)) != 0 {
		t.Fatal("a new collector has rows")
	}
	for _, kind := range []event.Kind{event.JobCompleted, event.JobFailed, event.JobCancelled} {
		c.Observe(event.Event{Kind: kind, Queue: "q", JobKind: "k", Took: time.Second})
	}
	c.Observe(event.Event{Kind: event.JobStarted, Queue: "q", JobKind: "k", Late: time.Millisecond})
	c.Observe(event.Event{Kind: event.SlotMissed, Schedule: "s", Count: 4})
	c.Observe(event.Event{Kind: event.SlotFired, Schedule: "s"})
	c.Observe(event.Event{Kind: event.Step})
	c.Sample(at, []store.NodeInfo{{ID: 1}, {ID: 2, EndedAt: at}}, []store.QueueInfo{{Name: "q", Ready: 5, Running: 3, Oldest: at.Add(-time.Minute)}, {Name: "r"}})
	want := Tallies{
		{"q", "k", ""}: {Jobs: [8]int64{1, 1, 1}}, {"", "", "s"}: {Slots: [4]int64{1, 4}},
		{}: {Samples: 1, Nodes: 1}, {"q", "", ""}: {Depth: 5, Age: 60e6}, {"r", "", ""}: {},
	}
	for range 3 {
		want[Key{"q", "k", ""}].Took.Record(time.Second)
	}
	want[Key{"q", "k", ""}].Delay.Record(time.Millisecond)
	rows := c.Close(at)
	check := func(i int, span time.Duration, begin time.Time, want Tallies) {
		t.Helper()
		got := Tallies{}
		if err := got.Decode(rows[i].Data); err != nil || !equal(got, want) || rows[i].Span != span || !rows[i].At.Equal(begin) || rows[i].Writer != 7 {
			t.Errorf("row %d of %v from %v: %v, %v", i, rows[i].Span, rows[i].At, got, err)
		}
	}
	check(0, time.Minute, at.Truncate(time.Minute), want)
	check(1, 15*time.Minute, at.Truncate(15*time.Minute), want)
	check(2, 6*time.Hour, at.Truncate(6*time.Hour), want)

	c.Observe(event.Event{Kind: event.JobFailed, Queue: "q", JobKind: "k"}) // in the next minute, while the store is away
	want[Key{"q", "k", ""}].Jobs[1]++
	rows = c.Close(at.Add(2 * time.Second))
	if len(rows) != 5 {
		t.Fatalf("%d rows are pending, want 2 minutes, 2 quarters and one row of 6 hours", len(rows))
	}
	check(2, 6*time.Hour, at.Truncate(6*time.Hour), want)
	check(3, time.Minute, at.Add(2*time.Second).Truncate(time.Minute), Tallies{{"q", "k", ""}: {Jobs: [8]int64{0, 1}}})
	c.Written()
	if !c.Empty() {
		t.Error("rows that were written are pending")
	}
	for i := range 300 {
		c.Observe(event.Event{Kind: event.JobFailed})
		c.Close(at.Add(time.Duration(i) * time.Minute))
	}
	if len(c.pending) != mostPending {
		t.Errorf("%d rows are pending", len(c.pending))
	}
}

func BenchmarkObserve(b *testing.B) {
	c := NewCollector(1)
	e := event.Event{Kind: event.JobCompleted, Queue: "default", JobKind: "invoice", Took: time.Millisecond}
	for b.Loop() {
		c.Observe(e)
	}
}
