package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Register enters a node; see store.Nodes.
func (b *Backend) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	return rowwise.InTx(b.Write(ctx, "register node", nil), func(s *session) (out store.RegisterResult, err error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return out, err
		}
		out.Now = now
		entry := args{
			"version": req.Version, "host": req.Host, "labels": sqlrows.JSONList(req.Labels),
			"queues": sqlrows.JSONList(req.Queues), "kinds": sqlrows.JSONList(req.Kinds),
			"zones": sqlrows.JSONList(req.Zones), "problems": store.EncodeProblems(req.Problems),
			"lease": req.Lease.Microseconds(), "now": sqlrows.Micros(now),
		}
		if req.Continue == 0 {
			entry["name"] = req.Name
			err = s.One(ctx, insertNode, entry, &out.Node)
		} else {
			entry["node"] = req.Continue
			err = s.Each(ctx, updateNode, entry, func(r row) error { return r.Scan(&out.Node) })
			if err == nil && out.Node == 0 {
				err = store.NodeGone(req.Continue)
			}
		}
		if err != nil {
			return out, err
		}
		out.Position, err = s.Position(ctx)
		return out, err
	})
}

// Heartbeat prolongs a lease; see store.Nodes. There are no batches to forget.
func (b *Backend) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	return rowwise.InTx(b.writeFirst(ctx, "heartbeat"), func(s *session) (out store.HeartbeatResult, err error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return out, err
		}
		out.Now = now
		err = s.Each(ctx, extendLease, args{"node": req.Node, "now": sqlrows.Micros(now)}, func(r row) error { return r.Scan(&out.Beat) })
		if err != nil {
			return out, err
		}
		if out.Beat == 0 {
			return out, store.NodeGone(req.Node)
		}
		if out.Position, err = s.Position(ctx); err != nil {
			return out, err
		}
		if err := s.One(ctx, sqlrows.FindRelease, nil, &out.Releases); err != nil {
			return out, err
		}
		err = s.One(ctx, sqlrows.FindNextExpiry, args{"node": req.Node}, sqlrows.IntoTime(&out.NextExpiry))
		return out, err
	})
}

// Claims lists what a node holds; see store.Nodes.
func (b *Backend) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	return rowwise.InTx(b.read(ctx, "read claims"), func(s *session) ([]store.ClaimRef, error) { return s.ListClaims(ctx, req) })
}
