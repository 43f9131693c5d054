package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

// mayDefine refuses work of the kinds command, http and sql, unless the node allows
// such work and the caller is an admin: a caller who may define a command can do
// whatever the user of the node can do.
func (h *handler) mayDefine(ctx context.Context, kind string) error {
	switch {
	case !slices.Contains([]string{kinds.CommandKind, kinds.HTTPKind, kinds.SQLKind}, kind):
		return nil
	case !h.o.Commands:
		return &access.RefusedError{
			Status: http.StatusForbidden, Problem: "this server makes and changes no work of the kind " + kind,
			Remedy: "define it in a file of the node, or with the program hourbell; a node with --commands any and users (--auth) lets admins do it here",
		}
	}
	return access.Require(ctx, access.Admin, "make or change work of the kind "+kind)
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
