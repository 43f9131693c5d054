package view

import (
	"fmt"
	"math"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// ProgressRecord is the progress of a job.
type ProgressRecord struct {
	Done  int64     `json:"done"`
	Total int64     `json:"total"` // 0: not known
	Note  string    `json:"note"`
	At    time.Time `json:"at"`
}

// newProgressRecord returns the record of progress; nil: none was reported.
func newProgressRecord(p store.Progress) *ProgressRecord {
	if !reported(p) {
		return nil
	}
	return &ProgressRecord{Done: p.Done, Total: p.Total, Note: p.Note, At: p.At.UTC()}
}

// ProgressPart returns which part of the work is done, from 0 to 1; 0 if that is
// not known.
func ProgressPart(p store.Progress) float64 {
	if p.Total == 0 {
		return 0
	}
	return min(float64(p.Done)/float64(p.Total), 1)
}

// ShownProgress returns the text of progress; empty if none was reported.
func ShownProgress(p store.Progress) string {
	if !reported(p) {
		return ""
	}
	text := fmt.Sprintf("%d done", p.Done)
	if p.Total > 0 {
		text = fmt.Sprintf("%d of %d (%d %%)", p.Done, p.Total, int(math.Floor(100*ProgressPart(p))))
	}
	if p.Note != "" {
		text += ", " + p.Note
	}
	return text
}

// reported reports whether an attempt has reported progress. A stuck worker may have reported none.
func reported(p store.Progress) bool {
	return !p.At.IsZero() && (p.Stuck.IsZero() || p.Done != 0 || p.Total != 0 || p.Note != "")
}

// shownStuck returns the text about the worker of a job's last attempt that was found not to return after the end of its context;
// empty if it was not.
func shownStuck(j store.JobInfo, now time.Time) string {
	since := j.Progress.Stuck
	switch {
	case since.IsZero():
		return ""
	case j.State == store.StateRunning:
		return fmt.Sprintf("since %s, for %s: its worker has not returned, although its context has ended", plain.Stamp(since), plain.Brief(now.Sub(since)))
	}
	return "the worker of the last attempt did not return when its context had ended, at " + plain.Stamp(since)
}

// runningProgress returns the text of the progress of a job that runs, and since when its worker is stuck.
func runningProgress(j store.JobInfo) string {
	text := ShownProgress(j.Progress)
	if j.Progress.Stuck.IsZero() {
		return text
	}
	stuck := "stuck since " + plain.Stamp(j.Progress.Stuck)
	if text == "" {
		return stuck
	}
	return stuck + ", " + text
}
