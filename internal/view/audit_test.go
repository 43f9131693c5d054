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

// TestAuditSubjects checks that subjects which are not named are counted in words.
func TestAuditSubjects(t *testing.T) {
	entry := store.AuditEntry{Subjects: []store.AuditSubject{{Kind: store.AuditJob, Name: "1"}, {Kind: store.AuditJob, Name: "2"}}}
	for count, want := range map[int64]string{2: "job 1, 2", 3: "job 1, 2 and 1 other", 4: "job 1, 2 and 2 others"} {
		entry.Count = count
		if got := view.AuditSubjects(entry, 2); got != want {
			t.Errorf("%d jobs: %q, want %q", count, got, want)
		}
	}
}

// TestLeftOut checks the line about output that is not kept.
func TestLeftOut(t *testing.T) {
	for bytes, want := range map[int64]string{0: "", 1: "… 1 byte left out …", 2: "… 2 bytes left out …"} {
		if got := view.LeftOut(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}
