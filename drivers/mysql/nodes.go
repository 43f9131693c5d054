package mysql

import (
	"context"
	"database/sql"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// EnterNode implements sqlrows.Tx.
func (s *session) EnterNode(ctx context.Context, node int64, entry args, now time.Time) (id int64, err error) {
	beat := sqlrows.Micros(now)
	if node != 0 {
		entry["node"] = node
		if err = s.Exec(ctx, updateNode, entry); err == nil {
			_, err = s.beat(ctx, node, beat)
		}
		return node, err
	}
	if id, err = s.giveNumbers(ctx, "node", 1); err != nil {
		return 0, err
	}
	entry["node"], entry["now"] = id, beat
	if err = s.Exec(ctx, insertNode, entry); err == nil {
		err = s.Exec(ctx, insertHeartbeat, args{"node": id, "now": beat})
	}
	return id, err
}

// Heartbeat prolongs a lease; see store.Nodes. There are no batches to forget. It is two statements without a transaction, on one
// connection: the position is read where the heartbeat was written, also while another server takes over. If the second statement
// fails, the lease was prolonged for a node that does not rely on it, as after every lost answer.
func (b *Backend) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	var out store.HeartbeatResult
	const doing = "heartbeat"
	err := b.explain(ctx, doing, b.again(ctx, func() error {
		return b.leases.on(ctx, func(conn *sql.Conn) (err error) {
			s := b.newSession(conn)
			if out.Beat, err = s.beat(ctx, req.Node, instantOf(req.Now)); err != nil {
				return err
			}
			p := &out.Position
			err = s.One(ctx, readHeartbeat, args{"node": req.Node, "now": instantOf(req.Now)}, &p.Store, &p.Token, &p.Node, &p.Accepted, sqlrows.IntoTime(&p.LostAt),
				sqlrows.IntoTime(&out.Now), &out.Releases, sqlrows.IntoTime(&out.NextExpiry))
			if err == nil {
				err = p.Check()
			}
			return err
		})
	}))
	if err != nil {
		return store.HeartbeatResult{}, err
	}
	return out, nil
}

// beat extends the lease of a node, and returns how many heartbeats the node has sent. The error of a node without a lease is
// store.ErrNodeGone.
func (s *session) beat(ctx context.Context, node int64, now any) (beats int64, err error) {
	result, err := s.Run(ctx, extendLease, args{"node": node, "now": now})
	if err != nil {
		return 0, err
	}
	if beats, err = result.LastInsertId(); err == nil && beats == 0 {
		err = store.NodeGone(node)
	}
	return beats, err
}

// Claims lists what a node holds; see store.Nodes.
func (b *Backend) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	return rowwise.InTx(b.look(ctx, "read claims"), func(s *session) ([]store.ClaimRef, error) {
		return s.ListClaims(ctx, req)
	})
}

// LockLeftNodes implements rowwise.LeftNodes.
func (s *session) LockLeftNodes(ctx context.Context, now time.Time) ([]store.NodeInfo, error) {
	return s.ReadNodes(ctx, lockLeftNodes, args{"now": sqlrows.Micros(now)})
}

// SaveLeftNodes implements rowwise.LeftNodes.
func (s *session) SaveLeftNodes(ctx context.Context, nodes []int64, now time.Time) error {
	var left []int64
	err := s.Each(ctx, findHoldingNodes, args{"nodes": nodes}, func(r row) error {
		var id int64
		err := r.Scan(&id)
		left = append(left, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.Exec(ctx, updateLeftNodes, args{"now": sqlrows.Micros(now), "wait": store.LookAgain.Microseconds(), "left": left, "nodes": nodes})
}

// EndNodes implements rowwise.Nodes.
func (s *session) EndNodes(ctx context.Context, ids []int64, died bool, now time.Time) error {
	if s.cluster { // as each claim does; see TouchJobs
		if _, err := s.raiseTokens(ctx, 1); err != nil {
			return err
		}
	}
	if err := s.Session.EndNodes(ctx, ids, died, now); err != nil {
		return err
	}
	return s.Exec(ctx, deleteHeartbeats, args{"nodes": ids})
}

// HasLeftNodes implements sqlrows.Tx.
func (s *session) HasLeftNodes(ctx context.Context, now time.Time) (some bool, err error) {
	err = s.One(ctx, findLeftNodes, args{"now": sqlrows.Micros(now)}, &some)
	return some, err
}
