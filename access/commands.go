package access

import (
	"context"
	"net/http"
)

// RequireCommands returns nil if the caller may make and change work of a kind that runs whatever its arguments name, such as
// commands: the caller must be an admin, and allowed is the consent of the server. A caller who may define a command can do what
// the user of the node can do. The error is a *RefusedError.
func RequireCommands(ctx context.Context, kind string, allowed bool) error {
	if !allowed {
		return &RefusedError{
			Status: http.StatusForbidden, Problem: "this server makes and changes no work of the kind " + kind,
			Remedy: "define it in a file of the node, or with the program hourbell; a node with --commands any and users (--auth) lets admins do it here",
		}
	}
	return Require(ctx, Admin, "make or change work of the kind "+kind)
}
