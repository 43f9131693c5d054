package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Register adds a node; see store.Nodes.
func (s *Store) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	now, err := s.beginWrite(ctx, "register node", req.Now)
	if err != nil {
		return store.RegisterResult{}, err
	}
	defer s.mu.Unlock()
	if req.Continue != 0 {
		node, err := s.livingNode(req.Continue)
		if err != nil {
			return store.RegisterResult{}, fmt.Errorf("register node: %w", err)
		}
		node.Version, node.Lease, node.SeenAt = req.Version, req.Lease, now
		node.Host, node.Labels = req.Host, slices.Clone(req.Labels)
		node.Queues, node.Kinds = slices.Clone(req.Queues), slices.Clone(req.Kinds)
		node.Zones, node.Problems = slices.Clone(req.Zones), slices.Clone(req.Problems)
		s.beats[node.ID]++
		return store.RegisterResult{Node: node.ID, Now: now, Position: s.position()}, nil
	}
	s.lastNode++
	s.nodes[s.lastNode] = &store.NodeInfo{
		ID:        s.lastNode,
		Name:      req.Name,
		Version:   req.Version,
		Host:      req.Host,
		Labels:    slices.Clone(req.Labels),
		Queues:    slices.Clone(req.Queues),
		Kinds:     slices.Clone(req.Kinds),
		Zones:     slices.Clone(req.Zones),
		Problems:  slices.Clone(req.Problems),
		Lease:     req.Lease,
		StartedAt: now,
		SeenAt:    now,
	}
	return store.RegisterResult{Node: s.lastNode, Now: now, Position: s.position()}, nil
}

// livingNode returns a node that has neither been declared dead nor left. Its
// lease may have expired.
func (s *Store) livingNode(id int64) (*store.NodeInfo, error) {
	node := s.nodes[id]
	if node == nil || !node.EndedAt.IsZero() {
		return nil, store.NodeGone(id)
	}
	return node, nil
}

// Heartbeat extends a lease; see store.Nodes.
func (s *Store) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	now, err := s.beginWrite(ctx, "heartbeat", req.Now)
	if err != nil {
		return store.HeartbeatResult{}, err
	}
	defer s.mu.Unlock()
	node, err := s.livingNode(req.Node)
	if err != nil {
		return store.HeartbeatResult{}, fmt.Errorf("heartbeat: %w", err)
	}
	node.SeenAt = now
	s.beats[req.Node]++
	out := store.HeartbeatResult{Now: now, Beat: s.beats[req.Node], Position: s.position()}
	for _, other := range s.nodes {
		if other != node && other.EndedAt.IsZero() {
			out.NextExpiry = earliest(out.NextExpiry, expiry(other))
		}
	}
	for _, at := range s.lookAt {
		out.NextExpiry = earliest(out.NextExpiry, at)
	}
	return out, nil
}

// expiry returns when a node's lease expires.
func expiry(node *store.NodeInfo) time.Time { return node.SeenAt.Add(node.Lease) }

// Claims lists the claims of a node; see store.Nodes.
func (s *Store) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	now, err := s.begin(ctx, "read claims", req.Now)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.ClaimRef
	for _, j := range s.held(req.Node) {
		if _, asked := s.cancels[j.ID]; (asked || !req.Cancelled) && (!req.Paused || s.jobPaused(j, now)) {
			out = append(out, store.ClaimRef{ID: j.ID, Token: j.Token})
		}
	}
	return out, nil
}

// held returns the jobs that a node has claimed, by number.
func (s *Store) held(node int64) []*job {
	var out []*job
	for _, j := range s.live {
		if j.State == store.StateRunning && j.node == node {
			out = append(out, j)
		}
	}
	slices.SortFunc(out, func(a, b *job) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Rescue declares nodes dead; see store.Nodes.
func (s *Store) Rescue(ctx context.Context, req store.RescueRequest) (store.RescueResult, error) {
	now, err := s.beginWrite(ctx, "rescue", req.Now)
	if err != nil {
		return store.RescueResult{}, err
	}
	defer s.mu.Unlock()
	var out store.RescueResult
	if !s.mayRescue(req, now) {
		return out, nil
	}
	for _, node := range s.sortedNodes() {
		at, left := s.lookAt[node.ID]
		switch {
		case node.ID != req.Node && node.EndedAt.IsZero() && !expiry(node).After(now):
			node.Died = true
			s.endNode(node, req.After, now, &out)
		case left && !at.After(now):
			s.takeJobs(node, req.After, now, &out)
		}
	}
	return out, nil
}

// mayRescue reports whether the last heartbeat of the node that asks is recent, and the one
// whose answer it knows.
func (s *Store) mayRescue(req store.RescueRequest, now time.Time) bool {
	node, err := s.livingNode(req.Node)
	return err == nil && s.beats[req.Node] == req.Beat && now.Sub(node.SeenAt).Abs() <= node.Lease/2
}

// Leave ends a registration; see store.Nodes.
func (s *Store) Leave(ctx context.Context, req store.LeaveRequest) (store.RescueResult, error) {
	now, err := s.beginWrite(ctx, "leave", req.Now)
	if err != nil {
		return store.RescueResult{}, err
	}
	defer s.mu.Unlock()
	var out store.RescueResult
	if node, err := s.livingNode(req.Node); err == nil {
		s.endNode(node, req.After, now, &out)
	}
	return out, nil
}

// endNode ends a node and takes its jobs back.
func (s *Store) endNode(node *store.NodeInfo, after func(store.LostJob) *store.FollowUp, now time.Time, out *store.RescueResult) {
	node.EndedAt = now
	s.takeJobs(node, after, now, out)
	out.Nodes = append(out.Nodes, s.nodeInfo(node))
}

// takeJobs takes the jobs of a node that has ended, except the jobs that open
// transactions end.
func (s *Store) takeJobs(node *store.NodeInfo, after func(store.LostJob) *store.FollowUp, now time.Time, out *store.RescueResult) {
	delete(s.lookAt, node.ID)
	defer func() {
		if _, left := s.lookAt[node.ID]; !left {
			s.dropPermits(node.ID)
		}
	}()
	for _, j := range s.held(node.ID) {
		if s.locked[j.ID] != nil {
			s.lookAt[node.ID] = now.Add(store.LookAgain)
			continue
		}
		s.takeBack(j, node.Died, now)
		if j.State == store.StateFailed {
			for _, a := range s.allHandlers().AfterLosses([]store.LostJob{s.lostJob(j)}, after) {
				s.follow(a, now)
			}
		}
		out.Jobs = append(out.Jobs, store.RescuedJob{
			ID: j.ID, Token: j.Token, Kind: j.Kind, Queue: j.Queue, Node: node.ID, State: j.State, Begun: j.begun,
		})
	}
}

// takeBack decides the new state of a job whose node has died, or left.
func (s *Store) takeBack(j *job, died bool, now time.Time) {
	reason, asked := s.cancels[j.ID]
	if died && j.begun {
		j.Losses++
	}
	s.recordLoss(j, died, asked, now)
	switch {
	case asked:
		s.end(j, store.StateCancelled, reason, now)
	case !j.begun:
		j.Attempt--
		s.ready(j, now)
	case j.OnLoss == store.OnLossFail || j.Attempt >= j.MaxAttempts:
		s.end(j, store.StateFailed, store.LostReason, now)
	case died && s.gives(j):
		s.end(j, store.StateCancelled, store.SupersededReason, now)
	case died:
		s.ready(j, now.Add(store.LossDelay(j.Losses)))
	default:
		j.Attempt--
		s.ready(j, now)
	}
}

// recordLoss stores the record of an attempt whose node has died, or left.
func (s *Store) recordLoss(j *job, died, asked bool, now time.Time) {
	a := store.Attempt{Outcome: store.AttemptLost}
	switch {
	case !j.begun:
		return
	case died:
		a.Error = "lost: its node " + j.Node + " died while it ran, or when it was about to begin"
	case asked:
		a.Outcome, a.Error = store.AttemptCancelled, "cancelled: its node "+j.Node+" left while it ran"
	case j.OnLoss == store.OnLossFail || j.Attempt >= j.MaxAttempts:
		a.Error = "lost: its node " + j.Node + " left while it ran"
	default:
		a.Outcome, a.Error = store.AttemptReleased, "handed back: its node "+j.Node+" left while it ran"
	}
	if kept := s.output[j.ID]; kept.token == j.Token {
		p := kept.printed()
		a.Output, a.Printed = p.Data, p.End()
	}
	delete(s.output, j.ID)
	s.addAttempt(j, a, now)
}

// lostJob returns what After gets about a job that fails as lost.
func (s *Store) lostJob(j *job) store.LostJob {
	spec := j.JobSpec.Clone()
	spec.Args = nil
	return store.LostJob{
		JobSpec:      spec,
		ID:           j.ID,
		Token:        j.Token,
		Attempt:      j.Attempt,
		Origin:       j.Origin,
		Schedule:     j.Schedule,
		ScheduleName: s.scheduleName(j.Schedule),
		Slot:         j.Slot,
	}
}

// sortedNodes returns all nodes by number.
func (s *Store) sortedNodes() []*store.NodeInfo {
	var out []*store.NodeInfo
	for _, node := range s.nodes {
		out = append(out, node)
	}
	slices.SortFunc(out, func(a, b *store.NodeInfo) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (s *Store) nodeInfo(node *store.NodeInfo) store.NodeInfo {
	out := *node
	out.Labels, out.Queues, out.Kinds = slices.Clone(node.Labels), slices.Clone(node.Queues), slices.Clone(node.Kinds)
	out.Zones, out.Problems = slices.Clone(node.Zones), slices.Clone(node.Problems)
	if out.EndedAt.IsZero() {
		out.Beats = s.beats[node.ID]
	}
	out.Running = int64(len(s.held(node.ID)))
	return out
}

// forgetHosts deletes what is known of hosts.
func (s *Store) forgetHosts(hosts []string) error {
	for _, host := range hosts {
		living, known := 0, 0
		for _, node := range s.nodes {
			_, left := s.lookAt[node.ID]
			switch {
			case node.Host != host:
			case node.EndedAt.IsZero() || left:
				living++
			default:
				known++
			}
		}
		for _, owner := range s.owners {
			if slices.ContainsFunc(owner.Copies, func(c store.Copy) bool { return c.Host == host }) {
				known++
			}
		}
		if err := store.CheckForgotten(host, living, known); err != nil {
			return err
		}
	}
	maps.DeleteFunc(s.nodes, func(_ int64, node *store.NodeInfo) bool { return slices.Contains(hosts, node.Host) })
	for name, owner := range s.owners {
		owner.Copies = slices.DeleteFunc(slices.Clone(owner.Copies), func(c store.Copy) bool { return slices.Contains(hosts, c.Host) })
		s.owners[name] = owner
	}
	return nil
}

func (s *Store) listNodes() (out []store.NodeInfo) {
	for _, node := range s.sortedNodes() {
		out = append(out, s.nodeInfo(node))
	}
	slices.Reverse(out)
	return out
}

func (s *Store) listQueues(now time.Time) []store.QueueInfo {
	return s.countJobs(now, func(j *job) string { return j.Queue })
}

func (s *Store) listKinds(now time.Time) (out []store.KindInfo) {
	for _, c := range s.countJobs(now, func(j *job) string { return j.Kind }) {
		out = append(out, store.KindInfo(c))
	}
	return out
}

// countJobs counts live jobs by a name.
func (s *Store) countJobs(now time.Time, nameOf func(*job) string) []store.QueueInfo {
	counts := map[string]store.QueueInfo{}
	for _, j := range s.live {
		c := counts[nameOf(j)]
		c.Name = nameOf(j)
		switch {
		case j.State == store.StateRunning:
			c.Running++
		case j.State == store.StateWaiting:
			c.Waiting++
		case j.RunAt.After(now):
			c.Scheduled++
		default:
			c.Ready++
			if c.Oldest.IsZero() || j.RunAt.Before(c.Oldest) {
				c.Oldest = j.RunAt
			}
		}
		counts[c.Name] = c
	}
	return slices.SortedFunc(maps.Values(counts), func(a, b store.QueueInfo) int { return cmp.Compare(a.Name, b.Name) })
}
