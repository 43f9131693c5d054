package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (h *handler) addAudit() {
	add(h, route{access.Operator, http.MethodGet, "/api/v1/audit", "list-audit", "Lists who changed what, newest first", "audit", 0, 0}, h.listAudit)
}

type listAuditInput struct {
	Actor   string `query:"actor" maxLength:"200" doc:"Only changes of this actor."`
	Action  string `query:"action" maxLength:"200" doc:"Only changes with this action, such as jobs cancel."`
	Subject string `query:"subject" maxLength:"1000" doc:"Only changes of this job, schedule, calendar, handler, group or lock, as in job:12 or schedule:nightly."`
	Since   string `query:"since" doc:"Only changes at this instant or later, or since this long ago, such as 2h or 7d." shape:"since"`
	Paging
}

func (h *handler) listAudit(ctx context.Context, in *listAuditInput) (*listed[view.AuditRecord], error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	filter := hourbell.AuditFilter{Actor: in.Actor, Action: in.Action, Limit: in.Limit + 1}
	var err error
	if in.Subject != "" {
		if filter.Subject, err = view.ParseAuditSubject(in.Subject); err != nil {
			return nil, err
		}
	}
	if filter.Since, err = view.Since(ctx, h.client, in.Since); err != nil {
		return nil, err
	}
	if filter.Before, err = instantCursor(in.Cursor); err != nil {
		return nil, err
	}
	entries, err := h.client.Audit.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	cursor := func(e store.AuditEntry) string { return fmt.Sprintf("%d %d", e.At.UnixMicro(), e.ID) }
	return newPage(in.Limit, entries, cursor, view.NewAuditRecord), nil
}
