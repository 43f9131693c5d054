package sqlrows

import (
	"github.com/hourbell/hourbell/store"
)

// AuditConditions are the conditions of list_audit.sql that a request gives.
func AuditConditions(req store.ListRequest) (given []string, a Args) {
	a = Args{"limit": req.Limit}
	if req.Actor != "" {
		given, a["actor"] = append(given, "actor"), req.Actor
	}
	if req.Action != "" {
		given, a["action"] = append(given, "action"), req.Action
	}
	if req.Subject != nil {
		given, a["kind"], a["name"] = append(given, "subject"), req.Subject.Kind, req.Subject.Name
	}
	if !req.From.IsZero() {
		given, a["since"] = append(given, "since"), Instant(req.From).UnixMicro()
	}
	if req.Before != (store.Cursor{}) {
		given = append(given, "before")
		a["before_at"], a["before_id"] = req.Before.At.UnixMicro(), req.Before.ID
	}
	return given, a
}
