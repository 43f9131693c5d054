package dashboard

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
)

// statsPage is what the page of statistics shows.
type statsPage struct {
	Since, Queue, Kind, Schedule string
	Ranges                       []navigation
	Charts                       []chart
	Tables                       []table
	Numbers                      table // what the charts draw
}

// chart is a picture of numbers over time. Places from left to right are percentages, and a plot has 100 by 100 units.
type chart struct {
	Title, Top, Summary string
	Bars                []chartBar
	Lines               []chartLine
	Legend              []legendKey
	Ticks               []tick
}

// legendKey explains a class of bars or lines.
type legendKey struct{ Class, Text string }

// chartBar is what a span has of one class, on top of the bars below.
type chartBar struct{ X, Y, Width, Height, Class, Title string }

// chartLine has a step for each span in which its number is known.
type chartLine struct{ Class, Path string }

func (p *pages) stats(ctx context.Context, r *http.Request) (*page, error) {
	query := r.URL.Query()
	shown := statsPage{Since: query.Get("since"), Queue: query.Get("queue"), Kind: query.Get("kind"), Schedule: query.Get("schedule")}
	if shown.Since == "" {
		shown.Since = "1h"
	}
	since, err := view.Since(ctx, p.client, shown.Since)
	if err != nil {
		return nil, err
	}
	f := hourbell.StatsFilter{Since: since, Queue: shown.Queue, Kind: shown.Kind, Schedule: shown.Schedule}
	for _, by := range []hourbell.StatsBy{hourbell.StatsByQueue, hourbell.StatsByKind, hourbell.StatsBySchedule} {
		f.By = by
		s, err := p.client.Stats.Read(ctx, f)
		if err != nil {
			return nil, err
		}
		t := tableOf(view.StatsListing(s, by), s.Rows, func(row hourbell.StatsRow, column string) string {
			if column != strings.ToUpper(string(by)) {
				return ""
			}
			return link("stats", "since", shown.Since, string(by), row.Name)
		})
		t.Caption, t.Empty = "By "+string(by), "Nothing was counted by "+string(by)+"."
		shown.Tables = append(shown.Tables, t)
	}
	f.By, f.Series = hourbell.StatsWhole, true
	s, err := p.client.Stats.Read(ctx, f)
	if err != nil {
		return nil, err
	}
	shown.Charts = chartsOf(s)
	shown.Numbers = tableOf(view.StatsListing(s, f.By), s.Rows, nil)
	shown.Numbers.Caption, shown.Numbers.Empty = "Numbers of the pictures", "Nothing was counted."
	for _, one := range []struct{ since, text string }{{"1h", "Last hour"}, {"1d", "Last day"}, {"30d", "Last 30 days"}} {
		shown.Ranges = append(shown.Ranges, navigation{
			Text: one.text, Here: one.since == shown.Since,
			Href: link("stats", "since", one.since, "queue", shown.Queue, "kind", shown.Kind, "schedule", shown.Schedule),
		})
	}
	return &page{Title: "Statistics", Template: "stats", Live: true, Data: shown}, nil
}

// smallCharts are the pictures of the last day on the page of a queue, kind or schedule.
type smallCharts struct {
	Charts []chart
	More   string // the page of statistics about it
}

// lastDay draws what became of the jobs of a queue, kind or schedule in the last day, how many failed, and how long they took.
func (p *pages) lastDay(ctx context.Context, of hourbell.StatsBy, name string) (*smallCharts, error) {
	now, err := p.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	f := hourbell.StatsFilter{Since: now.Add(-24 * time.Hour), Series: true}
	switch of {
	case hourbell.StatsByQueue:
		f.Queue = name
	case hourbell.StatsByKind:
		f.Kind = name
	case hourbell.StatsBySchedule:
		f.Schedule = name
	default:
		return nil, nil //nolint:nilnil // nothing is counted of other things
	}
	s, err := p.client.Stats.Read(ctx, f)
	if err != nil {
		return nil, err
	}
	jobs := func(row hourbell.StatsRow) map[string]int64 { return row.Jobs }
	return &smallCharts{[]chart{
		stacked(s, "Jobs a minute, by outcome", perMinute, hourbell.StatsOutcomes(), jobs),
		stacked(s, "Failures a minute", perMinute, failures(), jobs),
		lined(s, "Run time", seconds, times(func(row hourbell.StatsRow) hourbell.StatsTimes { return row.RunTime })),
	}, link("stats", "since", "1d", string(of), name)}, nil
}

// failures are the outcomes that are failures.
func failures() []string { return []string{"failed", "lost", "retried"} }

// chartsOf draws rows of each span.
func chartsOf(s hourbell.Stats) []chart {
	sampled := func(name string, value func(hourbell.StatsRow) float64) []charted {
		return []charted{{name, func(row hourbell.StatsRow) (float64, bool) { return value(row), row.Sampled }}}
	}
	return []chart{
		stacked(s, "Jobs a minute, by outcome", perMinute, hourbell.StatsOutcomes(), func(row hourbell.StatsRow) map[string]int64 { return row.Jobs }),
		lined(s, "Start delay", seconds, times(func(row hourbell.StatsRow) hourbell.StatsTimes { return row.StartDelay })),
		lined(s, "Run time", seconds, times(func(row hourbell.StatsRow) hourbell.StatsTimes { return row.RunTime })),
		lined(s, "Due jobs, on average", shownNumber, sampled("due", func(row hourbell.StatsRow) float64 { return row.Depth })),
		lined(s, "Oldest due job", seconds, sampled("oldest", func(row hourbell.StatsRow) float64 { return row.Oldest.Seconds() })),
		stacked(s, "Slots a minute, by outcome", perMinute, hourbell.StatsSlotOutcomes(), func(row hourbell.StatsRow) map[string]int64 { return row.Slots }),
		lined(s, "Living nodes", shownNumber, sampled("nodes", func(row hourbell.StatsRow) float64 { return row.Nodes })),
	}
}

// charted is a number that a row has, if it is known.
type charted struct {
	class string
	value func(hourbell.StatsRow) (v float64, known bool)
}

// times are the quantiles of what took time.
func times(of func(hourbell.StatsRow) hourbell.StatsTimes) []charted {
	at := func(value func(hourbell.StatsTimes) time.Duration) func(hourbell.StatsRow) (float64, bool) {
		return func(row hourbell.StatsRow) (float64, bool) { t := of(row); return value(t).Seconds(), t.Count > 0 }
	}
	return []charted{
		{"p50", at(func(t hourbell.StatsTimes) time.Duration { return t.P50 })},
		{"p95", at(func(t hourbell.StatsTimes) time.Duration { return t.P95 })},
		{"p99", at(func(t hourbell.StatsTimes) time.Duration { return t.P99 })},
	}
}

func perMinute(v float64) string { return shownNumber(v) + " a minute" }

func seconds(v float64) string { return plain.Brief(time.Duration(v * float64(time.Second))) }

func shownNumber(v float64) string { return fmt.Sprintf("%.3g", v) }

// stacked draws the counts of each span on top of each other, in the order of the classes.
func stacked(s hourbell.Stats, title string, shown func(float64) string, classes []string, of func(hourbell.StatsRow) map[string]int64) chart {
	rate := func(row hourbell.StatsRow, n int64) float64 {
		return float64(n) / max(min(s.Span, s.To.Sub(row.At)).Minutes(), 1)
	}
	top, met := 0.0, map[string]bool{}
	for _, row := range s.Rows {
		sum := int64(0)
		for _, class := range classes {
			if n := of(row)[class]; n > 0 {
				sum, met[class] = sum+n, true
			}
		}
		top = max(top, rate(row, sum))
	}
	c := newChart(s, title, shown, top)
	in := scale{s.From, s.To}
	for _, row := range s.Rows {
		y := 100.0
		for _, class := range classes {
			n := of(row)[class]
			if n == 0 {
				continue
			}
			height := rate(row, n) / top * 100
			y -= height
			c.Bars = append(c.Bars, chartBar{
				X: units(in.at(row.At) * 100), Width: units((in.at(row.At.Add(s.Span)) - in.at(row.At)) * 90), Y: units(y), Height: units(height), Class: class,
				Title: fmt.Sprintf("%s: %d %s, %s", plain.Stamp(row.At), n, words(class), shown(rate(row, n))),
			})
		}
	}
	for _, class := range classes {
		if met[class] {
			c.Legend = append(c.Legend, legendKey{class, words(class)})
		}
	}
	return c
}

// lined draws a line for each number.
func lined(s hourbell.Stats, title string, shown func(float64) string, numbers []charted) chart {
	top := 0.0
	for _, row := range s.Rows {
		for _, n := range numbers {
			if v, known := n.value(row); known {
				top = max(top, v)
			}
		}
	}
	c := newChart(s, title, shown, top)
	in := scale{s.From, s.To}
	for _, n := range numbers {
		var path strings.Builder
		for _, row := range s.Rows {
			v, known := n.value(row)
			if !known {
				continue
			}
			move := "L"
			if path.Len() == 0 {
				move = "M"
			}
			y := 100.0
			if top > 0 {
				y -= v / top * 100
			}
			fmt.Fprintf(&path, "%s%s %sH%s", move, units(in.at(row.At)*100), units(y), units(in.at(row.At.Add(s.Span))*100))
		}
		if path.Len() > 0 {
			c.Lines = append(c.Lines, chartLine{n.class, path.String()})
			c.Legend = append(c.Legend, legendKey{n.class, n.class})
		}
	}
	return c
}

// newChart returns a chart with its axis, whose upper end stands for a number.
func newChart(s hourbell.Stats, title string, shown func(float64) string, top float64) chart {
	c := chart{Title: title, Top: "at most " + shown(top), Ticks: scale{s.From, s.To}.begin(0).Ticks}
	c.Summary = fmt.Sprintf("%s from %s to %s: %s", title, plain.Stamp(s.From), plain.Stamp(s.To.Truncate(time.Second)), c.Top)
	return c
}

// units formats a place in a plot.
func units(v float64) string { return fmt.Sprint(math.Round(v*100) / 100) }

// words returns the words for a class.
func words(class string) string { return strings.ReplaceAll(class, "_", " ") }
