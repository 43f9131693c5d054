package measure

import (
	"strconv"
	"time"

	"github.com/hourbell/hourbell/internal/view"
)

// Row is a result with its conditions.
type Row struct {
	result
	store    string
	settings []view.Fact
}

// Listing shows measurements.
func Listing() view.Listing[Row] {
	return view.Listing[Row]{
		Columns: []string{"MEASURED", "JOBS", "PER SECOND", "P50", "P99"},
		Row: func(r Row) []string {
			rate := "-"
			if !r.cell.paced {
				rate = strconv.FormatFloat(r.rate(), 'f', 0, 64)
			}
			return []string{r.cell.title, strconv.Itoa(r.jobs), rate, millis(r.quantile(0.5)), millis(r.quantile(0.99))}
		},
		Record: func(r Row) any {
			settings := map[string]string{}
			for _, s := range r.settings {
				settings[s.Name] = s.Value
			}
			record := Record{Measured: r.cell.name, Jobs: r.jobs, Seconds: r.took.Seconds(), Store: r.store, Settings: settings}
			if !r.cell.paced {
				record.PerSecond = r.rate()
			}
			if len(r.waits) > 0 {
				record.P50, record.P99 = r.quantile(0.5).Seconds()*1000, r.quantile(0.99).Seconds()*1000
			}
			return record
		},
	}
}

// Record is a measurement in machine-readable output. Fields are only ever
// added.
type Record struct {
	Measured  string            `json:"measured"` // enqueue_single, enqueue_gathered, enqueue_many, drain, latency
	Jobs      int               `json:"jobs"`
	Seconds   float64           `json:"seconds"`
	PerSecond float64           `json:"per_second,omitempty"` // not for latency, whose pace is fixed
	P50       float64           `json:"p50_ms,omitempty"`     // of a call; for latency: from the call to the start
	P99       float64           `json:"p99_ms,omitempty"`
	Store     string            `json:"store"`
	Settings  map[string]string `json:"settings"` // settings of the server that determine when a commit returns
}

// millis formats a short time for tables; "-" for zero.
func millis(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return strconv.FormatFloat(d.Seconds()*1000, 'f', 2, 64) + " ms"
}
