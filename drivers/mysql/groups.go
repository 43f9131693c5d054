package mysql

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// groupColumns are the columns that ListGroups scans.
const groupColumns = "name schedules ready scheduled running waiting"

// ListGroups counts what is in groups; see store.Groups.
func (b *Backend) ListGroups(ctx context.Context, req store.ListGroupsRequest) ([]store.GroupInfo, error) {
	var out []store.GroupInfo
	err := b.read(ctx, "list groups", func(s *session) error {
		out = nil
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		var given []string
		a := args{"now": micros(now)}
		if req.Name != "" {
			given, a["name"] = append(given, "name"), req.Name
		}
		return s.list(ctx, listGroups, given, a, func(r row) error {
			var g store.GroupInfo
			err := r.Scan(&g.Name, &g.Schedules, &g.Ready, &g.Scheduled, &g.Running, &g.Waiting)
			out = append(out, g)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
