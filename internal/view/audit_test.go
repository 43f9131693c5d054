package view_test

import (
	"testing"

	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// TestParseAuditSubject checks how subjects are written.
func TestParseAuditSubject(t *testing.T) {
	for text, want := range map[string]store.AuditSubject{
		"job:12":             {Kind: store.AuditJob, Name: "12"},
		"schedule:a/b:c":     {Kind: store.AuditSchedule, Name: "a/b:c"},
		"lock:nightly":       {Kind: store.AuditLock, Name: "nightly"},
		"schedule:group:one": {Kind: store.AuditSchedule, Name: "group:one"},
	} {
		got, err := view.ParseAuditSubject(text)
		if err != nil || *got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "12", "job", "job:", "user:ada"} {
		if got, err := view.ParseAuditSubject(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
