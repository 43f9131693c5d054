package view

import (
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// AuditListing shows entries of the audit.
func AuditListing() Listing[store.AuditEntry] {
	return Listing[store.AuditEntry]{
		Columns: []string{"AT", "ACTOR", "FROM", "ACTION", "SUBJECTS", "DETAIL"},
		Minor:   []string{"FROM"},
		Row: func(e store.AuditEntry) []string {
			return []string{plain.Stamp(e.At), e.Name, plain.Dash(e.Source), e.Action, plain.Dash(AuditSubjects(e, 3)), plain.Dash(e.Detail)}
		},
		Record: func(e store.AuditEntry) any { return NewAuditRecord(e) },
	}
}

// AuditSubjects returns the subjects of an entry in words: the names of at most a few, and how many
// others there are.
func AuditSubjects(e store.AuditEntry, most int) string {
	parts, kind := []string{}, ""
	counted := int64(0)
	for i, s := range e.Subjects {
		if i == most {
			break
		}
		if text := s.Name; s.Kind == kind {
			parts = append(parts, text)
		} else {
			kind = s.Kind
			parts = append(parts, kind+" "+text)
		}
		if s.Kind == auditKind(e) {
			counted++
		}
	}
	text := strings.Join(parts, ", ")
	if others := e.Count - counted; others > 0 {
		text += " and " + plain.Plural(int(others), "other")
	}
	return text
}

// auditKind returns the kind of the subjects that AuditEntry.Count counts.
func auditKind(e store.AuditEntry) string {
	if n := len(e.Subjects); n > 0 {
		return e.Subjects[n-1].Kind
	}
	return ""
}

// AuditRecord is an entry of the audit in machine-readable output. Fields are only ever added.
type AuditRecord struct {
	ID       int64                `json:"id"`
	At       time.Time            `json:"at"`
	Actor    string               `json:"actor"`
	Source   *string              `json:"source"`
	Action   string               `json:"action"`
	Subjects []AuditSubjectRecord `json:"subjects" nullable:"false"`
	Count    int64                `json:"count"`
	Detail   *string              `json:"detail"`
}

// AuditSubjectRecord is what a change concerns.
type AuditSubjectRecord struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// NewAuditRecord returns the record of an entry.
func NewAuditRecord(e store.AuditEntry) AuditRecord {
	r := AuditRecord{
		ID: e.ID, At: e.At.UTC(), Actor: e.Name, Source: orNull(e.Source), Action: e.Action,
		Subjects: []AuditSubjectRecord{}, Count: e.Count, Detail: orNull(e.Detail),
	}
	for _, s := range e.Subjects {
		r.Subjects = append(r.Subjects, AuditSubjectRecord(s))
	}
	return r
}

// ParseAuditSubject reads a subject as users write it: its kind, a colon, and its name, as in
// job:12 or schedule:nightly. The error is a *check.FieldError.
func ParseAuditSubject(text string) (*store.AuditSubject, error) {
	kind, name, found := strings.Cut(text, ":")
	for _, known := range store.AuditKinds() {
		if found && kind == known && name != "" {
			return &store.AuditSubject{Kind: kind, Name: name}, nil
		}
	}
	return nil, &check.FieldError{
		Field: "subject", Value: check.Shorten(text), Problem: "is no kind and name",
		Remedy: "write " + strings.Join(store.AuditKinds(), ", ") + ", a colon, and the name: job:12, schedule:nightly",
	}
}
