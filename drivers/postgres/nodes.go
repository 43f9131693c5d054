package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Register enters a node; see store.Nodes.
func (b *Backend) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	const what = "register node"
	if b.invalid == nil {
		if err := b.openNodePools(req.Lease); err != nil {
			return store.RegisterResult{}, b.explain(what, err)
		}
	}
	return rowwise.InTx(b.work(ctx, leaseConns, what), func(tx pgx.Tx) (out store.RegisterResult, err error) {
		now, lease := when(req.Now), req.Lease.Microseconds()
		labels, queues := append([]string{}, req.Labels...), append([]string{}, req.Queues...)
		kinds, zones := append([]string{}, req.Kinds...), append([]string{}, req.Zones...)
		problems := store.EncodeProblems(req.Problems)
		if req.Continue == 0 {
			err = tx.QueryRow(ctx, b.q(insertNode), now, req.Name, req.Version, req.Host, labels, queues, kinds, zones, problems, lease).Scan(&out.Node, into(&out.Now))
		} else {
			err = tx.QueryRow(ctx, b.q(updateNode), now, req.Continue, req.Version, req.Host, labels, queues, kinds, zones,
				problems, lease).Scan(&out.Node, into(&out.Now))
			err = nodeAlive(req.Continue, err)
		}
		if err != nil {
			return out, err
		}
		out.Position, err = b.position(ctx, tx)
		return out, err
	})
}

// Heartbeat prolongs a lease; see store.Nodes.
func (b *Backend) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	return rowwise.InTx(b.pipeline(ctx, leaseConns, "heartbeat"), func(s sender) (out store.HeartbeatResult, err error) {
		var batch pgx.Batch
		batch.Queue(b.q(extendLease), when(req.Now), req.Node).QueryRow(func(row pgx.Row) error {
			err := row.Scan(append(append([]any{into(&out.Now), &out.Beat}, positionTargets(&out.Position)...), &out.Releases)...)
			if err == nil {
				err = out.Position.Check()
			}
			return nodeAlive(req.Node, err)
		})
		if len(req.EndedBatches) > 0 {
			batch.Queue(b.q(deleteClaimBatches), req.Node, req.EndedBatches)
		}
		batch.Queue(b.q(findNextExpiry), req.Node).QueryRow(func(row pgx.Row) error { return row.Scan(into(&out.NextExpiry)) })
		err = send(ctx, s, &batch)
		return out, err
	})
}

// Claims lists what a node holds; see store.Nodes.
func (b *Backend) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	text, args := b.q(listClaims), []any{req.Node}
	switch {
	case req.Cancelled:
		text = b.q(listCancelledClaims)
	case req.Paused:
		text, args = b.q(listPausedClaims), []any{when(req.Now), req.Node}
	}
	return rowwise.InTx(b.pipeline(ctx, leaseConns, "read claims"), func(s sender) (out []store.ClaimRef, err error) {
		var batch pgx.Batch
		queueCollect(&batch, &out, scanClaimRef, text, args...)
		err = send(ctx, s, &batch)
		return out, err
	})
}

// Rescue declares nodes dead and takes their jobs; see store.Nodes. The jobs
// are looked for in a statement of its own, after the heartbeats are gone: from
// then on those nodes can claim nothing more. It also takes the jobs that were
// left to transactions which have ended since.
func (b *Backend) Rescue(ctx context.Context, req store.RescueRequest) (store.RescueResult, error) {
	return b.endNodes(ctx, "rescue", req.Now, req.After, func(tx pgx.Tx) (ended []store.NodeInfo, left []endedNode, err error) {
		if ended, err = collect(ctx, tx, scanNode, b.q(expireNodes), when(req.Now), req.Node, req.Beat); err == nil {
			left, err = collect(ctx, tx, pgx.RowToStructByPos[endedNode], b.q(lockLeftNodes), when(req.Now), req.Node, req.Beat)
		}
		return ended, left, err
	})
}

// Leave ends a registration; see store.Nodes.
func (b *Backend) Leave(ctx context.Context, req store.LeaveRequest) (store.RescueResult, error) {
	b.scans.forget(req.Node)
	return b.endNodes(ctx, "leave", req.Now, req.After, func(tx pgx.Tx) (ended []store.NodeInfo, _ []endedNode, err error) {
		ended, err = collect(ctx, tx, scanNode, b.q(leaveNode), when(req.Now), req.Node)
		return ended, nil, err
	})
}

// endedNode is a node that has ended.
type endedNode struct {
	ID   int64
	Name string
	Died bool
}

// endNodes ends the nodes that choose returns, because they died or because they
// leave, and takes their jobs and the jobs that other ended nodes still hold. after,
// if not nil, returns the follow-up of each lost job.
func (b *Backend) endNodes(ctx context.Context, what string, now time.Time, after func(store.LostJob) *store.FollowUp,
	choose func(tx pgx.Tx) (ended []store.NodeInfo, left []endedNode, err error),
) (store.RescueResult, error) {
	out, err := rowwise.InTx(b.work(ctx, nodeConns, what), func(tx pgx.Tx) (out store.RescueResult, err error) {
		ended, nodes, err := choose(tx)
		out = store.RescueResult{Nodes: ended}
		for _, node := range ended {
			nodes = append(nodes, endedNode{node.ID, node.Name, node.Died})
		}
		if err != nil || len(nodes) == 0 {
			return out, err
		}
		slices.SortFunc(out.Nodes, func(a, b store.NodeInfo) int { return cmp.Compare(a.ID, b.ID) })
		held, err := b.takeJobs(ctx, tx, when(now), nodes, len(nodes) > len(ended))
		if err != nil {
			return out, err
		}
		for i := range held {
			out.Jobs = append(out.Jobs, held[i].rescued())
		}
		lost := lostOf(held)
		if len(lost) == 0 {
			return out, nil
		}
		handlers, err := b.readHandlers(ctx, tx)
		if err != nil {
			return out, err
		}
		return out, b.follow(ctx, tx, now, handlers.AfterLosses(lost, after))
	})
	if err != nil {
		return store.RescueResult{}, err
	}
	if slices.ContainsFunc(out.Jobs, func(job store.RescuedJob) bool { return job.State.Finished() }) {
		b.releaseSoon(ctx, when(now))
	}
	return out, nil
}

// lostOf returns the jobs that failed because their nodes were lost.
func lostOf(held []heldJob) (lost []store.LostJob) {
	for i := range held {
		if held[i].state == store.StateFailed {
			lost = append(lost, held[i].LostJob)
		}
	}
	return lost
}

// heldJob is a running job of a node that has ended.
type heldJob struct {
	store.LostJob
	node  int64
	loss  store.Loss
	state store.State // after the loss
}

// rescued returns the answer for the job.
func (j *heldJob) rescued() store.RescuedJob {
	return store.RescuedJob{ID: j.ID, Token: j.Token, Kind: j.Kind, Queue: j.Queue, Node: j.node, State: j.state, Begun: j.loss.Begun}
}

// takeJobs takes from ended nodes the jobs that they hold, and returns the jobs by
// node and number as they are then. It leaves jobs that other transactions have
// locked, and records when to look at them again. again: some of the nodes were
// recorded before.
func (b *Backend) takeJobs(ctx context.Context, tx pgx.Tx, now *time.Time, nodes []endedNode, again bool) ([]heldJob, error) {
	ids, known := make([]int64, len(nodes)), map[int64]endedNode{}
	for i, node := range nodes {
		ids[i], known[node.ID] = node.ID, node
	}
	held, err := collect(ctx, tx, scanHeld, b.q(lockHeldJobs), ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(held, func(a, b heldJob) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.ID, b.ID)) })
	for i := range held {
		held[i].loss.Died = known[held[i].node].Died
	}
	if err := b.settleHeld(ctx, tx, now, held, known); err != nil {
		return nil, err
	}
	left, err := collect(ctx, tx, pgx.RowTo[int64], b.q(findHoldingNodes), ids)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 || again {
		if _, err := tx.Exec(ctx, b.q(updateLeftNodes), now, store.LookAgain.Microseconds(), left, ids); err != nil {
			return nil, err
		}
	}
	ids = slices.DeleteFunc(ids, func(id int64) bool { return slices.Contains(left, id) })
	_, err = tx.Exec(ctx, b.q(deleteNodeClaims), ids)
	return held, err
}

// settleHeld ends or frees locked jobs whose nodes are gone, and notes which. nodes are
// these nodes by number.
func (b *Backend) settleHeld(ctx context.Context, tx pgx.Tx, now *time.Time, held []heldJob, nodes map[int64]endedNode) error {
	if len(held) == 0 {
		return nil
	}
	ids := make([]int64, len(held))
	for i, job := range held {
		ids[i] = job.ID
	}
	cancels, err := b.cancelsOf(ctx, tx, ids)
	if err != nil {
		return err
	}
	waiting, err := b.waitingFor(ctx, tx, held)
	if err != nil {
		return err
	}
	var s settling
	for i := range held {
		job, loss := &held[i], &held[i].loss
		loss.Waits = waiting[loss.Group] != 0
		loss.Why, loss.Asked = cancels[job.ID]
		s.settle(job, nodes[job.node].Name)
	}
	if err := b.takeOutput(ctx, tx, s.records); err != nil {
		return err
	}
	if err := b.keepAttempts(ctx, tx, now, s.records); err != nil {
		return err
	}
	if err := b.countLosses(ctx, tx, s.lost); err != nil {
		return err
	}
	if err := b.free(ctx, tx, now, s.again); err != nil {
		return err
	}
	return b.endLost(ctx, tx, now, s.over)
}

// countLosses counts one more lost node for jobs.
func (b *Backend) countLosses(ctx context.Context, tx pgx.Tx, lost []int64) error {
	if len(lost) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, b.q(countLosses), lost)
	return err
}

// settling collects what becomes of locked jobs whose nodes are gone.
type settling struct {
	over    ends
	again   frees
	lost    []int64 // jobs that have lost one more node
	records []store.AttemptRecord
}

// settle decides about a job of a node with this name.
func (s *settling) settle(job *heldJob, node string) {
	effect := job.loss.Effect()
	if record, ok := job.loss.Record(job.ID, node); ok {
		s.records = append(s.records, record)
	}
	job.state = effect.State
	if effect.State == store.StateReady {
		s.again.add(job.ID, effect)
		return
	}
	s.over.add(job.ID, job.Token, effect.State, effect.Reason)
	if effect.LossCounts {
		s.lost = append(s.lost, job.ID)
	}
}

// waitingFor returns, by serial group, the jobs that wait for jobs of dead
// nodes, which then give way to the waiting jobs.
func (b *Backend) waitingFor(ctx context.Context, tx pgx.Tx, held []heldJob) (map[store.SerialGroup]int64, error) {
	taken := serialGroups{}
	for i := range held {
		if group := held[i].loss.Group; held[i].loss.Died && group.GivesWay() {
			taken.add(group)
		}
	}
	return b.heads(ctx, tx, taken)
}

func (b *Backend) endLost(ctx context.Context, tx pgx.Tx, now *time.Time, over ends) error {
	if len(over.ids) == 0 {
		return nil
	}
	if err := b.endJobs(ctx, tx, now, over); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, b.q(deleteCancels), over.ids)
	return err
}

// heldColumns are the columns that scanHeld scans.
const heldColumns = "id token node attempt headers schedule_id schedule_name slot origin losses begun {spec}"

func scanHeld(r pgx.CollectableRow) (j heldJob, err error) {
	l := &j.loss
	err = r.Scan(append([]any{
		&j.ID, &j.Token, &j.node, &j.Attempt, &j.Headers, (*number)(&j.Schedule), (*word)(&j.ScheduleName), into(&j.Slot),
		(*int16)(&j.Origin), &l.Losses, &l.Begun,
	}, specTargets(&j.JobSpec)...)...)
	l.SetJob(&j.LostJob)
	return j, err
}

// nodeColumns are the columns that scanNode scans.
const nodeColumns = "id name version host labels queues kinds zones problems lease started_at seen_at ended_at died beats running"

func scanNode(r pgx.CollectableRow) (n store.NodeInfo, err error) {
	err = r.Scan(&n.ID, &n.Name, &n.Version, &n.Host, &n.Labels, &n.Queues, &n.Kinds, &n.Zones, &n.Problems, &n.Lease,
		into(&n.StartedAt), into(&n.SeenAt), into(&n.EndedAt), &n.Died, &n.Beats, &n.Running)
	return n, err
}

// scanLiveNode scans a row of find_live_nodes.sql.
func scanLiveNode(r pgx.CollectableRow) (n store.NodeInfo, err error) {
	err = r.Scan(&n.ID, &n.Host, &n.Labels, &n.Queues, &n.Kinds)
	return n, err
}

// forgetHosts deletes what is known of hosts.
func (b *Backend) forgetHosts(ctx context.Context, req store.DeleteRequest) error {
	return b.within(ctx, req.String(), nil, req.Now)(func(tx querier, now time.Time) error {
		return rowwise.ForgetHosts(ctx, hostsTx{auditTx{b, tx}}, req, now)
	})
}

// hostsTx implements rowwise.Hosts.
type hostsTx struct{ auditTx }

// CountHost implements rowwise.Hosts.
func (t hostsTx) CountHost(ctx context.Context, host string) (living, known int, err error) {
	var copies int
	err = t.tx.QueryRow(ctx, t.b.q(lockHostNodes), host).Scan(&living, &known, &copies)
	return living, known + copies, err
}

// DeleteHost implements rowwise.Hosts.
func (t hostsTx) DeleteHost(ctx context.Context, host string) error {
	for _, name := range []statement{deleteHostNodes, deleteHostCopies} {
		if _, err := t.tx.Exec(ctx, t.b.q(name), host); err != nil {
			return err
		}
	}
	return nil
}

func scanKind(r pgx.CollectableRow) (store.KindInfo, error) {
	q, err := scanQueue(r)
	return store.KindInfo(q), err
}

func scanQueue(r pgx.CollectableRow) (q store.QueueInfo, err error) {
	err = r.Scan(&q.Name, &q.Ready, &q.Scheduled, &q.Running, &q.Waiting, into(&q.Oldest))
	return q, err
}
