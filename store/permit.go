package store

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Permits lets nodes share the permits of limits of whole queues (Limit.WholeQueue). Such a limit moves no rows of jobs: a
// node holds permits across claims, and it never runs more jobs of the queue than it has permits.
//
//   - A claim names the newest limit that the permits of its node are for (ClaimRequest.Permits). If the queue has
//     another newest limit, the claim takes no job, so that a new or changed limit is in force at once.
//   - The permits of a node that died or left are free when its claims are taken, in the same transaction.
//   - A rate (Limit.Rate) of a whole queue needs no permits: the claim itself takes no more jobs than may start, by
//     the store's clock.
//
// The queue of a place within a queue (ClaimRequest.Within) has the limits of that queue.
type Permits interface {
	// ExchangePermits replaces the permits that a node holds for a queue by as many as it wants, or as there are. A node
	// has one such call of a queue under way at a time, and until it has the answer, no more of its jobs of the queue run
	// than InUse. A node that is not registered, or was declared dead, gets ErrNodeGone. A repetition is harmless. No node is
	// woken: a node that has too few permits asks again after a while.
	ExchangePermits(ctx context.Context, req ExchangePermitsRequest) (QueuePermits, error)

	// CloseLanes lets nothing start for a while under all limits that concern some jobs, because their workers have asked for
	// it: in the lane of a job under each of its limits, and in the whole queue if the limit concerns the queue. An instant that is set is
	// never made earlier. Jobs that may start there and that no node has claimed wait again, first of all. What nodes have
	// claimed goes on. Jobs that no limit concerns have no effect.
	CloseLanes(ctx context.Context, req CloseLanesRequest) error

	// RecountPermits is a step of the upkeep of limits. It compares the number of permits in use that each lane counts
	// with the permits that jobs hold, and repairs what differs, which should never happen. It deletes the permits of
	// nodes that do not exist any more. And it takes permits back from jobs that no living node runs, because no living
	// node has their queue and their kind, and lets such jobs at the head of a lane leave it: they get permits again
	// before a claim that may take them. It does the latter only while there is a limit of a kind or of keys. Nodes
	// call it about once a minute; only the oldest living node finds something to do.
	RecountPermits(ctx context.Context, req RecountRequest) (RecountResult, error)
}

// ExchangePermitsRequest asks for the permits of a queue.
type ExchangePermitsRequest struct {
	Now   time.Time
	Node  int64
	Queue string
	InUse int // jobs of the queue that run on the node or are about to begin: it keeps permits for them in any case
	Want  int // permits that the node could use, InUse included
}

// QueuePermits is what the limits of a whole queue allow a node.
type QueuePermits struct {
	Revision int64 // the greatest of the limits; 0: the queue has none
	Bounded  bool  // they bound how many jobs run at a time; otherwise no permits are needed
	// Slack is not zero if they bound how many jobs start per interval: so long after ClaimResult.StartsFrom, a job may still begin. It
	// is the least Rate.Slack.
	Slack   time.Duration
	Permits int  // that the node holds now
	Share   int  // with how many of them it should do, because others want permits; at most Permits
	Scarce  bool // there were fewer permits than all nodes want
}

// Rated reports whether the limits bound how many jobs start per interval.
func (p *QueuePermits) Rated() bool { return p.Slack > 0 }

// NodePermits are the permits of one limit that a node holds.
type NodePermits struct {
	Limit   int64
	Node    int64
	Permits int
	Wants   int // more permits that it could use
}

// QueueLimits are the limits of one whole queue.
type QueueLimits []Limit

// Of returns the limits of a whole queue.
func (l Limits) Of(queue string) (of QueueLimits) {
	for _, limit := range l {
		if limit.Queue == queue && limit.WholeQueue() {
			of = append(of, limit)
		}
	}
	return of
}

// Revision returns the greatest revision of the limits. It grows with each change that allows less.
func (l QueueLimits) Revision() (greatest int64) {
	for i := range l {
		greatest = max(greatest, l[i].Revision)
	}
	return greatest
}

// Exchange decides on a request. held are the rows of all nodes for these limits. own are the rows of the asking node
// afterwards, one for each limit with a Concurrency.
func (l QueueLimits) Exchange(held []NodePermits, req ExchangePermitsRequest, now time.Time) (answer QueuePermits, own []NodePermits) {
	answer = QueuePermits{Revision: l.Revision()}
	want := max(req.Want, req.InUse)
	for i := range l {
		if rate, rated := l[i].Pace(); rated {
			answer.Slack = rate.SlackWith(answer.Slack)
		}
		if l[i].Concurrency == 0 {
			continue
		}
		entitled, scarce := share(l[i].Concurrency, others(held, l[i].ID, req.Node), req.Node, want, now)
		if !answer.Bounded || entitled < answer.Share {
			answer.Share = entitled
		}
		answer.Bounded, answer.Scarce = true, answer.Scarce || scarce
	}
	if !answer.Bounded {
		return answer, nil
	}
	answer.Permits = max(answer.Share, req.InUse)
	for i := range l {
		if l[i].Concurrency == 0 {
			continue
		}
		own = append(own, NodePermits{Limit: l[i].ID, Node: req.Node, Permits: answer.Permits, Wants: max(want-answer.Permits, 0)})
	}
	return answer, own
}

// shareTurn is how long a node keeps what is left when permits are divided by the number of nodes. Then another node has its
// turn, so that each node gets permits at times.
const shareTurn = time.Minute

// share returns how many permits a node should have of a limit whose other permits other nodes hold, and whether there are too few
// for all that want permits.
func share(concurrency int, others []NodePermits, node int64, want int, now time.Time) (permits int, scarce bool) {
	free, wanted, nodes, before := concurrency, 0, 1, 0
	for _, other := range others {
		free -= other.Permits
		wanted += other.Wants
		if other.Permits+other.Wants > 0 {
			nodes++
			if other.Node < node {
				before++
			}
		}
	}
	free = max(free, 0)
	if want+wanted <= free {
		return want, false
	}
	fair := concurrency / nodes
	if turn := int(now.Unix() / int64(shareTurn/time.Second) % int64(nodes)); (before+turn)%nodes < concurrency%nodes {
		fair++
	}
	return min(want, free, max(fair, free-wanted)), true
}

// others returns the rows of a limit without the rows of a node.
func others(held []NodePermits, limit, node int64) (rows []NodePermits) {
	for _, row := range held {
		if row.Limit == limit && row.Node != node {
			rows = append(rows, row)
		}
	}
	return rows
}

// rowOf returns the row of a node for a limit; zero: it has none.
func rowOf(held []NodePermits, limit, node int64) NodePermits {
	for _, row := range held {
		if row.Limit == limit && row.Node == node {
			return row
		}
	}
	return NodePermits{}
}

// Seed returns the rows of nodes that have fewer permits than jobs of the queue running, with as many permits.
func (l QueueLimits) Seed(held []NodePermits, running map[int64]int) (rows []NodePermits) {
	for i := range l {
		if l[i].Concurrency == 0 {
			continue
		}
		for node, jobs := range running {
			if row := rowOf(held, l[i].ID, node); row.Permits < jobs {
				rows = append(rows, NodePermits{Limit: l[i].ID, Node: node, Permits: jobs, Wants: row.Wants})
			}
		}
	}
	slices.SortFunc(rows, func(a, b NodePermits) int { return cmp.Or(cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Node, b.Node)) })
	return rows
}
