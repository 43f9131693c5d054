package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// EnterNode implements sqlrows.Tx.
func (s *session) EnterNode(ctx context.Context, node int64, entry args, now time.Time) (id int64, err error) {
	entry["now"] = sqlrows.Micros(now)
	if node == 0 {
		err = s.One(ctx, insertNode, entry, &id)
		return id, err
	}
	entry["node"] = node
	err = s.Each(ctx, updateNode, entry, func(r row) error { return r.Scan(&id) })
	if err == nil && id == 0 {
		err = store.NodeGone(node)
	}
	return id, err
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
