package api

import (
	"context"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/view"
)

// mayDefine refuses work of the kinds command, http and sql, unless the node allows
// such work and the caller is an admin.
func (h *handler) mayDefine(ctx context.Context, kind string) error {
	if !view.RunsAnything(kind) {
		return nil
	}
	return access.RequireCommands(ctx, kind, h.o.Commands)
}

// mayDefineAll is mayDefine for the job and the hooks of a schedule.
func (h *handler) mayDefineAll(ctx context.Context, s hourbell.Schedule) error {
	err := h.mayDefine(ctx, declared.Raw(s.Job).Name)
	s.Hooks.Each(func(_ string, hook hourbell.Args) {
		if err == nil {
			err = h.mayDefine(ctx, declared.Raw(hook).Name)
		}
	})
	return err
}

// Secrets are the parameter of every route that shows arguments.
type Secrets struct {
	Show bool `query:"secrets" doc:"Show values that may be secrets; needs the role admin."`
}

// allowed refuses the parameter to all callers but admins.
func (s Secrets) allowed(ctx context.Context) error {
	if !s.Show {
		return nil
	}
	return access.Require(ctx, access.Admin, "see values that may be secrets")
}
