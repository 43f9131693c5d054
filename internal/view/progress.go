package view

import (
	"fmt"
	"math"
	"time"

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
	if p.At.IsZero() {
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
	if p.At.IsZero() {
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
