package dashboard

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// auditPage is what the page of the audit shows, with the filter in its form.
type auditPage struct {
	Actor, Action, Subject, Since string
	Table                         table
}

func (p *pages) audit(ctx context.Context, r *http.Request) (*page, error) {
	if err := access.Require(ctx, access.Operator, "see who did what"); err != nil {
		return nil, err
	}
	query := r.URL.Query()
	shown := auditPage{Actor: query.Get("actor"), Action: query.Get("action"), Subject: query.Get("subject"), Since: query.Get("since")}
	f := hourbell.AuditFilter{Actor: shown.Actor, Action: shown.Action, Limit: pageSize + 1}
	var err error
	if shown.Subject != "" {
		if f.Subject, err = view.ParseAuditSubject(shown.Subject); err != nil {
			return nil, err
		}
	}
	if f.Since, err = view.Since(ctx, p.client, shown.Since); err != nil {
		return nil, err
	}
	if text := query.Get("before"); text != "" {
		if f.Before.At, err = view.ParseInstant("before", text, ""); err != nil {
			return nil, err
		}
		if f.Before.ID, err = number("before_id", query.Get("before_id")); err != nil {
			return nil, err
		}
	}
	entries, err := p.client.Audit.List(ctx, f)
	if err != nil {
		return nil, err
	}
	more := len(entries) > pageSize
	entries = entries[:min(len(entries), pageSize)]
	shown.Table = tableOf(view.AuditListing(), entries, auditLink)
	shown.Table.Caption, shown.Table.Empty = "Changes", "No change is recorded that fits."
	filter := []string{"actor", shown.Actor, "action", shown.Action, "subject", shown.Subject, "since", shown.Since}
	if more {
		last := entries[pageSize-1]
		shown.Table.Older = link("audit", append(filter, "before", last.At.Format(time.RFC3339Nano), "before_id", strconv.FormatInt(last.ID, 10))...)
	}
	if f.Before.ID != 0 {
		shown.Table.Newest = link("audit", filter...)
	}
	return &page{Title: "Who did what", Template: "audit", Live: true, Data: shown}, nil
}

// auditLink returns the address of the page about a value of an entry.
func auditLink(e store.AuditEntry, column string) string {
	switch {
	case column == "ACTOR":
		return link("audit", "actor", e.Name)
	case column == "ACTION":
		return link("audit", "action", e.Action)
	case column != "SUBJECTS" || len(e.Subjects) == 0:
		return ""
	}
	switch first := e.Subjects[0]; first.Kind {
	case store.AuditJob:
		return link("job", "id", first.Name)
	case store.AuditSchedule:
		return link("schedule", "name", first.Name)
	case store.AuditHandler:
		return link("handler", "name", first.Name)
	case store.AuditLimit:
		return link("limit", "name", first.Name)
	case store.AuditCalendar:
		return link("calendar", "name", first.Name)
	}
	return ""
}
