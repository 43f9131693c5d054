package store

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestShare(t *testing.T) {
	row := func(node int64, permits, wants int) NodePermits {
		return NodePermits{Limit: 1, Node: node, Permits: permits, Wants: wants}
	}
	for _, c := range []struct {
		name        string
		concurrency int
		others      []NodePermits
		node        int64
		want        int
		turn        int64
		permits     int
		scarce      bool
	}{
		{"alone", 5, nil, 1, 3, 0, 3, false},
		{"alone, wants more", 5, nil, 1, 9, 0, 5, true},
		{"others want none", 5, []NodePermits{row(2, 2, 0)}, 1, 3, 0, 3, false},
		{"others hold most", 5, []NodePermits{row(2, 4, 0)}, 1, 3, 0, 1, true},
		{"others hold all", 5, []NodePermits{row(2, 5, 0)}, 1, 3, 0, 0, true},
		{"others hold more than all", 5, []NodePermits{row(2, 9, 0)}, 1, 3, 0, 0, true},
		{"a half each", 6, []NodePermits{row(2, 0, 6)}, 1, 6, 0, 3, true},
		{"others want little", 6, []NodePermits{row(2, 0, 1)}, 1, 6, 0, 5, true},
		{"the rest by turns: the first", 7, []NodePermits{row(2, 0, 7)}, 1, 7, 0, 4, true},
		{"the rest by turns: the second", 7, []NodePermits{row(1, 0, 7)}, 2, 7, 0, 3, true},
		{"the next turn: the first", 7, []NodePermits{row(2, 0, 7)}, 1, 7, 1, 3, true},
		{"the next turn: the second", 7, []NodePermits{row(1, 0, 7)}, 2, 7, 1, 4, true},
		{"more nodes than permits", 1, []NodePermits{row(1, 1, 3), row(2, 0, 3)}, 3, 3, 0, 0, true},
		{"nodes without permits or wishes", 4, []NodePermits{row(2, 0, 0), row(3, 0, 4)}, 1, 4, 0, 2, true},
	} {
		now := time.Unix(c.turn*int64(shareTurn/time.Second), 0)
		if permits, scarce := share(c.concurrency, c.others, c.node, c.want, now); permits != c.permits || scarce != c.scarce {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, permits, scarce, c.permits, c.scarce)
		}
	}
}

// TestExchanges lets nodes exchange permits in random order, with jobs that begin and end, and checks that the jobs in use
// never exceed the limit, that all permits are used if all nodes want them, and that each node gets permits at times.
func TestExchanges(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 100 {
		nodes, limits := 1+r.IntN(6), QueueLimits{{ID: 1, Revision: 3, Queue: "q", Concurrency: 1 + r.IntN(12)}, {ID: 2, Revision: 4, Queue: "q", Concurrency: 1 + r.IntN(12)}}
		most := min(limits[0].Concurrency, limits[1].Concurrency)
		held := map[NodePermits]NodePermits{} // by limit and node
		shares, used, got := make([]int, nodes), make([]int, nodes), make([]int, nodes)
		rows := func() (all []NodePermits) {
			for _, row := range held {
				all = append(all, row)
			}
			return all
		}
		exchange := func(i, want int, now time.Time) {
			answer, own := limits.Exchange(rows(), ExchangePermitsRequest{Node: int64(i), Queue: "q", InUse: used[i], Want: used[i] + want}, now)
			if answer.Revision != 4 || !answer.Bounded || answer.Rated() || answer.Permits < used[i] {
				t.Fatalf("seed %d: %+v", seed, answer)
			}
			for _, row := range own {
				held[NodePermits{Limit: row.Limit, Node: row.Node}] = row
			}
			shares[i] = answer.Share
			got[i] += answer.Share
		}
		total := func() (n int) {
			for _, jobs := range used {
				n += jobs
			}
			return n
		}
		now := time.Unix(0, 0)
		for range 300 {
			i := r.IntN(nodes)
			switch r.IntN(3) {
			case 0:
				exchange(i, r.IntN(15), now)
			case 1:
				used[i] += r.IntN(max(shares[i]-used[i], 0) + 1)
			case 2:
				used[i] = r.IntN(used[i] + 1)
			}
			if n := total(); n > most {
				t.Fatalf("seed %d: %d jobs under a limit of %d", seed, n, most)
			}
			now = now.Add(time.Duration(r.IntN(3)) * time.Second)
		}
		clear(got)
		for range 20 * nodes { // all want more than there is, and begin what they may
			now = now.Add(shareTurn)
			for range 4 {
				for i := range nodes {
					exchange(i, 20, now)
					used[i] = shares[i]
				}
			}
			if n := total(); n != most {
				t.Fatalf("seed %d: %d jobs under a limit of %d, though there are more", seed, n, most)
			}
		}
		for i := range got {
			if got[i] == 0 {
				t.Fatalf("seed %d: a node of %d got none of %d permits", seed, nodes, most)
			}
		}
	}
}
