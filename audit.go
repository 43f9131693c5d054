package hourbell

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// Actor is who makes a change, and from where, as the audit records it.
type Actor struct {
	Name   string // of a user or a program
	Source string // from where: an address, the name of a file, or a word such as "cli"
}

// SourceProgram is the source of changes for which WithActor has named no other source: the
// program that has the client made them.
const SourceProgram = "program"

type actorKey struct{}

// WithActor returns a context for calls that change something on behalf of an actor. Without
// it the actor of a change is the program: Config.Name, with the source SourceProgram. Texts
// that are longer than 200 bytes are cut, and what is not printable text is replaced.
func WithActor(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, Actor{auditText(actor.Name), auditText(actor.Source)})
}

// ActorFrom returns the actor that WithActor has put into a context. ok is false if there is
// none, or if its name is empty.
func ActorFrom(ctx context.Context) (actor Actor, ok bool) {
	actor, _ = ctx.Value(actorKey{}).(Actor)
	return actor, actor.Name != ""
}

// auditText returns a text as the audit stores it.
func auditText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > store.MaxAuditText {
		text = strings.ToValidUTF8(text[:store.MaxAuditText], "")
	}
	return text
}

// actor returns who makes a change.
func (c *Client) actor(ctx context.Context) store.Actor {
	if actor, ok := ActorFrom(ctx); ok {
		return store.Actor(actor)
	}
	return store.Actor{Name: c.cfg.Name, Source: SourceProgram}
}

// AuditService reads who changed what: Client.Audit. Concurrent calls are allowed.
//
// The transaction of a change stores its entry, so that there is an entry if and only if the
// change was committed. Each call of a client that changes jobs, schedules, calendars, groups
// or a setting by hand has one entry, however many jobs it changes. A call that changes
// nothing has none, and neither have enqueues, outcomes, and what nodes do by themselves.
type AuditService struct{ client *Client }

// AuditFilter selects entries. Conditions that are given must all hold.
type AuditFilter struct {
	Actor   string              // the name of the actor; empty: any
	Action  string              // such as store.AuditJobsCancel; empty: any
	Subject *store.AuditSubject // a job, a schedule, …; nil: any
	Since   time.Time           // changes at this instant or later; zero: any
	Before  store.Cursor        // the cursor of the last entry of the page before
	Limit   int                 // rows of a page; default 100
}

// Validate returns what is wrong with a filter, or nil. The error consists of
// *check.FieldErrors.
func (f AuditFilter) Validate() error {
	err := check.Join(checkText("actor", f.Actor), checkText("action", f.Action))
	if f.Subject != nil {
		err = check.Join(err, checkText("subject", f.Subject.Name))
	}
	return err
}

// List returns entries, newest first, a page at a time.
func (s *AuditService) List(ctx context.Context, f AuditFilter) ([]store.AuditEntry, error) {
	if err := f.Validate(); err != nil {
		return nil, fmt.Errorf("list the audit: %w", err)
	}
	return store.List[store.AuditEntry](ctx, s.client.backend, store.ListRequest{
		Actor: f.Actor, Action: f.Action, Subject: f.Subject, From: f.Since, Before: f.Before, Limit: pageSize(f.Limit),
	})
}

// checkText returns an error for a text that no entry has and that a database may refuse.
func checkText(field, text string) error {
	if auditText(text) == text || field == "subject" && check.StoredName(field, text) == nil {
		return nil
	}
	return &check.FieldError{
		Field: field, Value: check.Shorten(text), Problem: "is no text of an entry",
		Remedy: fmt.Sprintf("use at most %d bytes of UTF-8 without NUL", store.MaxAuditText),
	}
}

// RecordRelease records that locks are about to be released by hand. Locks are not part of the
// store, so that the entry is stored before the release, in a transaction of its own.
func (s *AuditService) RecordRelease(ctx context.Context, locks ...string) error {
	e := store.AuditEntry{Actor: s.client.actor(ctx), Action: store.AuditLocksRelease, Count: int64(len(locks))}
	for _, name := range locks {
		e.Subjects = append(e.Subjects, store.AuditSubject{Kind: store.AuditLock, Name: name})
	}
	return s.client.backend.RecordAudit(ctx, store.RecordAuditRequest{Entry: e})
}
