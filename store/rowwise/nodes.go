package rowwise

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Rescue declares nodes dead and takes their jobs; see store.Nodes. It locks all
// living nodes, so a driver first looks without locks whether store.Expired
// returns a node.
func Rescue(ctx context.Context, tx Tx, req store.RescueRequest, now time.Time) (store.RescueResult, error) {
	living, err := tx.FindLivingNodes(ctx)
	if err != nil {
		return store.RescueResult{}, err
	}
	expired, err := lockExpired(ctx, tx, living, req, now)
	if err != nil {
		return store.RescueResult{}, err
	}
	var left []store.NodeInfo
	if t, ok := tx.(LeftNodes); ok && store.MayRescue(living, req, now) {
		if left, err = t.LockLeftNodes(ctx, now); err != nil {
			return store.RescueResult{}, err
		}
	}
	return endNodes(ctx, tx, expired, left, true, req.After, now)
}

// lockExpired locks and returns the nodes whose leases have expired. No other node is locked, because the transaction
// may take long, also when the connection of the node that asks fails: heartbeats of living nodes must not wait for it.
func lockExpired(ctx context.Context, tx Nodes, living []store.NodeInfo, req store.RescueRequest, now time.Time) ([]store.NodeInfo, error) {
	expired := store.Expired(living, req, now)
	if len(expired) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(expired))
	for i := range expired {
		ids[i] = expired[i].ID
	}
	locked, err := tx.LockLivingNodes(ctx, ids)
	if err != nil {
		return nil, err
	}
	asking := slices.DeleteFunc(slices.Clone(living), func(n store.NodeInfo) bool { return n.ID != req.Node })
	return store.Expired(append(asking, locked...), req, now), nil // a heartbeat may have come before the lock
}

// LeftNodes is implemented by a Tx whose LockHeldJobs leaves out jobs that other transactions
// have locked.
type LeftNodes interface {
	// LockLeftNodes returns the nodes that have ended whose jobs are to be looked at again now. Nodes
	// that other transactions have locked are left out.
	LockLeftNodes(ctx context.Context, now time.Time) ([]store.NodeInfo, error)

	// SaveLeftNodes records, for each of some nodes that have ended, that it still holds running jobs,
	// which are to be looked at again after store.LookAgain, or that it holds none.
	SaveLeftNodes(ctx context.Context, nodes []int64, now time.Time) error
}

// Leave ends the registration of a node; see store.Nodes.
func Leave(ctx context.Context, tx Tx, req store.LeaveRequest, now time.Time) (store.RescueResult, error) {
	leaving, err := tx.LockLivingNodes(ctx, []int64{req.Node})
	if err != nil {
		return store.RescueResult{}, err
	}
	return endNodes(ctx, tx, leaving, nil, false, req.After, now)
}

// endNodes ends nodes and takes their jobs, and what is left of the jobs of other nodes, which
// ended before. after, if not nil, returns the follow-up of each lost job.
func endNodes(ctx context.Context, tx Tx, nodes, left []store.NodeInfo, died bool,
	after func(store.LostJob) *store.FollowUp, now time.Time,
) (store.RescueResult, error) {
	var out store.RescueResult
	for i := range nodes {
		nodes[i].EndedAt, nodes[i].Died, nodes[i].Beats, nodes[i].Running = now, died, 0, 0
	}
	ended := slices.Concat(nodes, left)
	if len(ended) == 0 {
		return out, nil
	}
	ids, known := make([]int64, len(ended)), make(map[int64]store.NodeInfo, len(ended))
	for i := range ended {
		ids[i], known[ended[i].ID] = ended[i].ID, ended[i]
	}
	if len(nodes) > 0 {
		out.Nodes = nodes
		if err := tx.EndNodes(ctx, ids[:len(nodes)], died, now); err != nil {
			return out, err
		}
	}
	held, err := tx.LockHeldJobs(ctx, ids)
	if err != nil {
		return out, err
	}
	for i := range held {
		held[i].Loss.Died = known[held[i].Node].Died
	}
	groups, err := lockGroups(ctx, tx, lostGroups(held))
	if err != nil {
		return out, err
	}
	var plan lossPlan
	for i := range held {
		held[i].Loss.Waits = groups[held[i].Loss.Group].Waits()
		out.Jobs = append(out.Jobs, plan.add(&held[i], known[held[i].Node].Name))
	}
	if err := plan.write(ctx, tx, after, now); err != nil {
		return out, err
	}
	if t, ok := tx.(LeftNodes); ok {
		return out, t.SaveLeftNodes(ctx, ids, now)
	}
	return out, nil
}

// lostGroups returns the serial groups in which jobs of dead nodes may give way to
// waiting jobs.
func lostGroups(held []HeldJob) (groups []store.SerialGroup) {
	for i := range held {
		if group := held[i].Loss.Group; held[i].Loss.Died && group.GivesWay() {
			groups = append(groups, group)
		}
	}
	return groups
}

// lossPlan is what the loss of jobs writes.
type lossPlan struct {
	records []store.AttemptRecord
	counted []int64 // ended jobs with one more loss
	ends    []End
	requeue []Requeue
	freed   []store.SerialGroup
	lost    []store.LostJob // jobs that failed
}

// add decides about a job and returns what has become of it. node is the name of
// the node that has ended.
func (p *lossPlan) add(job *HeldJob, node string) store.RescuedJob {
	effect := job.Loss.Effect()
	if record, ok := job.Loss.Record(job.ID, node); ok {
		p.records = append(p.records, record)
	}
	rescued := store.RescuedJob{
		ID: job.ID, Token: job.Token, Kind: job.Kind, Queue: job.Queue, Node: job.Node, State: effect.State, Begun: job.Loss.Begun,
	}
	if effect.State == store.StateReady {
		p.requeue = append(p.requeue, requeue(job.ID, effect))
		return rescued
	}
	p.ends = append(p.ends, End{ID: job.ID, State: effect.State, Reason: effect.Reason, Asked: job.Loss.Asked})
	p.freed = append(p.freed, job.Loss.Group)
	if effect.LossCounts {
		p.counted = append(p.counted, job.ID)
	}
	if effect.State == store.StateFailed {
		p.lost = append(p.lost, job.LostJob)
	}
	return rescued
}

// write writes the plan. Records and losses come first, while the jobs are live. after, if not
// nil, returns the follow-up of each lost job.
func (p *lossPlan) write(ctx context.Context, tx Tx, after func(store.LostJob) *store.FollowUp, now time.Time) error {
	if err := takeOutput(ctx, tx, p.records); err != nil {
		return err
	}
	if err := insertAttempts(ctx, tx, p.records, now); err != nil {
		return err
	}
	if len(p.counted) > 0 {
		if err := tx.CountLosses(ctx, p.counted); err != nil {
			return err
		}
	}
	if err := endAndRequeue(ctx, tx, p.ends, p.requeue, p.freed, now); err != nil {
		return err
	}
	if len(p.lost) == 0 {
		return nil
	}
	handlers, err := tx.ReadHandlers(ctx)
	if err != nil {
		return err
	}
	return Follow(ctx, tx, handlers.AfterLosses(p.lost, after), now)
}

// Hosts reads and writes what is known of hosts.
type Hosts interface {
	AuditTx

	// CountHost counts the nodes of a host that live or hold jobs, and its other nodes and its copies. It locks the nodes.
	CountHost(ctx context.Context, host string) (living, known int, err error)

	// DeleteHost deletes the nodes of a host that have ended, and its copies.
	DeleteHost(ctx context.Context, host string) error
}

// ForgetHosts deletes what is known of hosts; see store.DeleteRequest.
func ForgetHosts(ctx context.Context, tx Hosts, req store.DeleteRequest, now time.Time) error {
	for _, host := range req.Names {
		living, known, err := tx.CountHost(ctx, host)
		if err == nil {
			err = store.CheckForgotten(host, living, known)
		}
		if err == nil {
			err = tx.DeleteHost(ctx, host)
		}
		if err != nil {
			return err
		}
	}
	return Record(ctx, tx, req.Entry(), now)
}
