package sqlrows

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// CountLosses implements rowwise.Nodes.
func (s *Session) CountLosses(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, CountLosses)
}

// CountHost implements rowwise.Hosts.
func (s *Session) CountHost(ctx context.Context, host string) (living, known int, err error) {
	var copies int
	err = s.One(ctx, LockHostNodes, Args{"host": host}, &living, &known, &copies)
	return living, known + copies, err
}

// DeleteHost implements rowwise.Hosts.
func (s *Session) DeleteHost(ctx context.Context, host string) error {
	if err := s.Exec(ctx, DeleteHostNodes, Args{"host": host}); err != nil {
		return err
	}
	return s.Exec(ctx, DeleteHostCopies, Args{"host": host})
}

// HeldColumns are the columns that ScanHeld scans.
const HeldColumns = "id token node attempt reason headers schedule_id schedule_name slot origin losses begun {spec}"

// ScanHeld scans a running job of a node that ends.
func ScanHeld(r Row) (rowwise.HeldJob, error) {
	var h rowwise.HeldJob
	var why *string
	l := &h.Loss
	err := r.Scan(append([]any{
		&h.ID, &h.Token, &h.Node, &h.Attempt, &why, &h.Headers, &h.Schedule, &h.ScheduleName, IntoTime(&h.Slot), &h.Origin, &l.Losses, &l.Begun,
	}, SpecTargets(&h.JobSpec)...)...)
	l.SetJob(&h.LostJob)
	if why != nil {
		l.Asked, l.Why = true, *why
	}
	return h, err
}

// NodeColumns are the columns that ReadNodes scans.
const NodeColumns = "id name version host labels queues kinds zones problems lease started_at seen_at ended_at died beats running"

// ReadNodes runs a statement that returns nodes.
func (s *Session) ReadNodes(ctx context.Context, name Statement, a Args) ([]store.NodeInfo, error) {
	var out []store.NodeInfo
	err := s.Each(ctx, name, a, func(r Row) error {
		var n store.NodeInfo
		err := r.Scan(&n.ID, &n.Name, &n.Version, &n.Host, IntoList(&n.Labels), IntoList(&n.Queues), IntoList(&n.Kinds),
			IntoList(&n.Zones), IntoList(&n.Problems), IntoDuration(&n.Lease),
			IntoTime(&n.StartedAt), IntoTime(&n.SeenAt), IntoTime(&n.EndedAt), &n.Died, &n.Beats, &n.Running)
		out = append(out, n)
		return err
	})
	return out, err
}
