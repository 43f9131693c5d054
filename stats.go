package hourbell

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/stats"
	"github.com/hourbell/hourbell/store"
)

// StatsService reads what nodes have counted: Client.Stats. Concurrent calls are allowed.
//
// Each node writes its counts once a minute, so that the present minute is missing, and also what a node that was killed had counted since.
// Counts of minutes are kept for two hours, of quarters of an hour for two days, and of six hours for 32 days.
type StatsService struct{ client *Client }

// StatsBy is what statistics are grouped by.
type StatsBy string

// What statistics can be grouped by.
const (
	StatsWhole      StatsBy = ""
	StatsByQueue    StatsBy = StatsBy(stats.ByQueue)
	StatsByKind     StatsBy = StatsBy(stats.ByKind)
	StatsBySchedule StatsBy = StatsBy(stats.BySchedule)
	StatsByOutcome  StatsBy = StatsBy(stats.ByOutcome)
)

// StatsFilter selects and groups statistics. Conditions that are given must all hold.
type StatsFilter struct {
	Since    time.Time // at most 31 days ago; zero: an hour ago
	By       StatsBy   // a row for each queue, kind, schedule or outcome
	Series   bool      // rows of each Span from Since on, instead of sums
	Queue    string    // only jobs of this queue, and of its places
	Kind     string    // only jobs of this kind
	Schedule string    // only jobs and slots of this schedule
}

// Stats are statistics from From to To. They consist of counts of a length, Span, which depends on how long ago From is, and which begin at
// multiples of it.
type Stats struct {
	From, To time.Time
	Span     time.Duration
	Rows     []StatsRow // by instant, then by name
}

// StatsRow is what was counted for a group, in a span or altogether.
type StatsRow struct {
	At   time.Time // when the span began; zero unless StatsFilter.Series is set
	Name string    // of the queue, kind, schedule or outcome; empty: of all
	// Jobs is how many attempts at jobs ended, by what became of the job (StatsOutcomes), and Slots what became of slots
	// (StatsSlotOutcomes). What never happened is missing.
	Jobs, Slots map[string]int64
	// StartDelay is how long after they were due jobs began, by the store's clock, and RunTime how long attempts took.
	StartDelay, RunTime StatsTimes
	// Sampled means that Depth, Oldest and, without conditions and groups, Nodes are known. Depth is how many jobs were due, on average,
	// Oldest for how long the oldest of them had been due at most, and Nodes how many nodes lived, on average. They are looked at once a
	// minute; every fourth minute while the cluster is idle, or longer ago the longer counting takes.
	Sampled      bool
	Depth, Nodes float64
	Oldest       time.Duration
}

// StatsTimes are how long something took. The quantiles are about right, because times are counted in buckets of powers of two.
type StatsTimes struct {
	Count               int64
	Mean, P50, P95, P99 time.Duration
}

// StatsOutcomes are the words for what becomes of jobs at the end of an attempt.
func StatsOutcomes() []string { return append([]string(nil), stats.Outcomes[:]...) }

// StatsSlotOutcomes are the words for what becomes of slots.
func StatsSlotOutcomes() []string { return append([]string(nil), stats.SlotOutcomes[:]...) }

// Validate returns what is wrong with a filter, or nil. The error consists of *check.FieldErrors.
func (f StatsFilter) Validate() error {
	var errs []error
	switch f.By {
	case StatsWhole, StatsByQueue, StatsByKind, StatsBySchedule, StatsByOutcome:
	default:
		errs = append(errs, &check.FieldError{
			Field: "by", Value: check.Shorten(string(f.By)), Problem: "is not what statistics are grouped by",
			Remedy: "use queue, kind, schedule or outcome",
		})
	}
	for field, name := range map[string]string{"queue": f.Queue, "kind": f.Kind, "schedule": f.Schedule} {
		if name != "" {
			errs = append(errs, check.StoredName(field, name))
		}
	}
	return check.Join(errs...)
}

// Read returns statistics.
func (s *StatsService) Read(ctx context.Context, f StatsFilter) (Stats, error) {
	const doing = "read statistics: %w"
	if err := f.Validate(); err != nil {
		return Stats{}, fmt.Errorf(doing, err)
	}
	now, err := s.client.Now(ctx)
	if err != nil {
		return Stats{}, fmt.Errorf(doing, err)
	}
	if f.Since.IsZero() {
		f.Since = now.Add(-time.Hour)
	}
	span, kept := stats.SpanSince(now.Sub(f.Since))
	if !kept || f.Since.After(now) {
		return Stats{}, fmt.Errorf(doing, &check.FieldError{
			Field: "since", Value: f.Since.UTC().Format(time.RFC3339), Problem: "is in the future, or too long ago", Remedy: "use at most 31 days, such as 30d",
		})
	}
	out := Stats{From: f.Since.UTC().Truncate(span), To: now, Span: span}
	rows, err := store.List[store.StatsRow](ctx, s.client.backend, store.ListRequest{Span: span, From: out.From, To: now})
	if err != nil {
		return Stats{}, err
	}
	selection := stats.Selection{Key: stats.Key{Queue: f.Queue, Kind: f.Kind, Schedule: f.Schedule}, By: stats.By(f.By), Series: f.Series}
	points, err := selection.Points(rows)
	if err != nil {
		return Stats{}, fmt.Errorf(doing, err)
	}
	for _, p := range points {
		out.Rows = append(out.Rows, statsRow(p))
	}
	return out, nil
}

// statsRow returns a point as users see it.
func statsRow(p stats.Point) StatsRow {
	row := StatsRow{
		At: p.At, Name: p.Name, Jobs: counts(stats.Outcomes[:], p.Jobs[:]), Slots: counts(stats.SlotOutcomes[:], p.Slots[:]),
		StartDelay: statsTimes(&p.Delay), RunTime: statsTimes(&p.Took), Sampled: p.Samples > 0,
	}
	if row.Sampled {
		row.Depth, row.Nodes = float64(p.Depth)/float64(p.Samples), float64(p.Nodes)/float64(p.Samples)
		row.Oldest = time.Duration(p.Age) * time.Microsecond
	}
	return row
}

func counts(words []string, numbers []int64) map[string]int64 {
	out := map[string]int64{}
	for i, n := range numbers {
		if n > 0 {
			out[words[i]] = n
		}
	}
	return out
}

func statsTimes(h *stats.Histogram) StatsTimes {
	n := h.Count()
	if n == 0 {
		return StatsTimes{}
	}
	return StatsTimes{
		Count: n, Mean: time.Duration(h.Sum/n) * time.Microsecond, P50: h.Quantile(.5), P95: h.Quantile(.95), P99: h.Quantile(.99),
	}
}
