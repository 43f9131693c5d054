package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// permitKey is a node and a limit of a whole queue.
type permitKey struct{ node, limit int64 }

// ExchangePermits replaces the permits of a node; see store.Permits.
func (s *Store) ExchangePermits(ctx context.Context, req store.ExchangePermitsRequest) (store.QueuePermits, error) {
	const what = "exchange permits"
	now, err := s.beginWrite(ctx, what, req.Now)
	if err != nil {
		return store.QueuePermits{}, err
	}
	defer s.mu.Unlock()
	if _, err := s.livingNode(req.Node); err != nil {
		return store.QueuePermits{}, fmt.Errorf("%s: %w", what, err)
	}
	out, own := s.queueLimits(req.Queue).Exchange(s.nodePermits(), req, now)
	for _, row := range own {
		s.permits[permitKey{row.Node, row.Limit}] = row
	}
	return out, nil
}

// queueLimits returns the limits of a whole queue.
func (s *Store) queueLimits(queue string) store.QueueLimits {
	var all store.Limits
	for _, limit := range s.limits {
		all = append(all, limit)
	}
	return all.Of(queue)
}

// nodePermits returns the permits of all nodes.
func (s *Store) nodePermits() (rows []store.NodePermits) {
	for _, row := range s.permits {
		rows = append(rows, row)
	}
	return rows
}

// adjustPermits forgets the permits of limits that have ended, and gives nodes permits for what they run already.
func (s *Store) adjustPermits() {
	for key := range s.permits {
		if !s.hasLimit(key.limit) {
			delete(s.permits, key)
		}
	}
	for _, limit := range s.limits {
		if !limit.WholeQueue() || limit.Concurrency == 0 {
			continue
		}
		running := map[int64]int{}
		for _, j := range s.live {
			if j.State == store.StateRunning && store.InQueue(j.Queue, limit.Queue) {
				running[j.node]++
			}
		}
		for node, jobs := range running {
			key := permitKey{node, limit.ID}
			row := s.permits[key]
			row.Limit, row.Node, row.Permits = limit.ID, node, max(row.Permits, jobs)
			s.permits[key] = row
		}
	}
}

func (s *Store) hasLimit(id int64) bool {
	for _, limit := range s.limits {
		if limit.ID == id {
			return true
		}
	}
	return false
}

// dropPermits deletes the permits of a node whose claims were taken.
func (s *Store) dropPermits(node int64) {
	for key := range s.permits {
		if key.node == node {
			delete(s.permits, key)
		}
	}
}

// startable returns how many jobs the limits of a whole queue let start now, at most most.
func (s *Store) startable(limits store.QueueLimits, now time.Time, most int) int {
	for i := range limits {
		lane := s.lanes[store.LaneKey{Limit: limits[i].ID}]
		if rate, ok := limits[i].Pace(); ok {
			most = rate.Room(lane.tat, now, most)
		}
	}
	return most
}

// closedUntil returns until when a worker has asked that nothing of a whole queue starts; zero: nothing keeps jobs from starting.
func (s *Store) closedUntil(limits store.QueueLimits, now time.Time) (until time.Time) {
	for i := range limits {
		if at := s.lanes[store.LaneKey{Limit: limits[i].ID}].notBefore; at.After(now) && at.After(until) {
			until = at
		}
	}
	return until
}

// started records starts of jobs of a queue, and returns when the next job may start.
func (s *Store) started(limits store.QueueLimits, now time.Time, jobs int) (next time.Time) {
	for i := range limits {
		rate, ok := limits[i].Pace()
		if !ok {
			continue
		}
		key := store.LaneKey{Limit: limits[i].ID}
		lane := s.lanes[key]
		if jobs > 0 {
			lane.tat = rate.After(lane.tat, now, jobs)
			s.lanes[key] = lane
		}
		if at := rate.Next(lane.tat, now); at.After(now) && at.After(next) {
			next = at
		}
	}
	return next
}
