package storetest

import (
	"fmt"

	"github.com/hourbell/hourbell/store"
)

var exactTests = []scenario{
	{"KindAndArgs", exactKindAndArgs},
	{"BesideKinds", exactBesideKinds},
	{"Many", exactMany},
}

// claimExact claims up to ten jobs of some kinds, or of exact kinds and args.
func (e *env) claimExact(node int64, kinds []string, exact ...store.ExactJob) []int64 {
	e.t.Helper()
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: kinds, Exact: exact, Limit: 10})
	e.must(err)
	return claimedIDs(res.Jobs)
}

// kindArgs returns a job of a kind with some args.
func kindArgs(kind, args string) store.NewJob {
	return with(func(j *store.NewJob) { j.Kind, j.Args = kind, []byte(args) })
}

func exactly(kind, args string) store.ExactJob { return store.NewExactJob(kind, []byte(args)) }

func exactKindAndArgs(e *env) {
	n := e.node("n")
	const args = `{"command":"ü", "n":1}`
	e.insert(
		kindArgs("l", args), kindArgs("K", args), kindArgs("k ", args), // other kinds
		// other args
		kindArgs("k", `{"command":"ü","n":1}`), kindArgs("k", args+"\n"), kindArgs("k", `{"n":1, "command":"ü"}`), kindArgs("k", `{"command":"Ü", "n":1}`),
		kindArgs("k", `{}`), kindArgs("k", `""`))
	ids := e.insert(kindArgs("k", args), kindArgs("k", ""), kindArgs("l", `[2]`), kindArgs("k", args),
		with(func(j *store.NewJob) { j.Args, j.Queue = []byte(args), "other" }))
	e.want(e.claimExact(n, nil, exactly("k", args)), []int64{ids[0], ids[3]},
		"a claim must take jobs of its queue that are equal to one of Exact byte for byte, blanks too, and no others")
	e.want(e.claimExact(n, nil, exactly("k", `[2]`), exactly("l", `[3]`)), []int64(nil), "kind and args must both equal the same entry of Exact")
	e.want(e.claimExact(n, nil, exactly("k", ""), exactly("l", `[2]`)), ids[1:3], "a claim must take what is equal to any of Exact, also with empty args")
	e.want(e.claimExact(n, nil), []int64(nil), "a claim without kinds and Exact must take nothing")
}

func exactBesideKinds(e *env) {
	n := e.node("n")
	priority := func(priority int16, job store.NewJob) store.NewJob {
		job.Priority = priority
		return job
	}
	ids := e.insert(priority(3, kindArgs("l", "1")), priority(2, kindArgs("k", "1")), priority(1, kindArgs("k", "2")),
		priority(1, kindArgs("l", "2")), priority(1, kindArgs("m", "1")))
	e.want(e.claimExact(n, []string{"k"}, exactly("l", "1"), exactly("k", "2"), exactly("k", "3")), []int64{ids[2], ids[1], ids[0]},
		"a claim must take jobs of its kinds and jobs equal to Exact in one order, each once")
	_, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n + 1000, Queue: "q", Exact: []store.ExactJob{exactly("l", "2")}, Limit: 1})
	e.is(err, store.ErrNodeGone, "a claim by Exact of a node that is gone must give ErrNodeGone")
	e.want(len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateReady}}})), 2, "all others must be left alone")
}

func exactMany(e *env) {
	n := e.node("n")
	const many = 1000
	var exact []store.ExactJob
	var jobs []store.NewJob
	for i := range many {
		args := fmt.Sprintf(`{"command":"run %d"}`, i)
		exact = append(exact, exactly("k", args))
		if i%200 == 0 {
			jobs = append(jobs, kindArgs("k", fmt.Sprintf(`{"command":"run %d"}`, i+many)), kindArgs("k", args))
		}
	}
	ids := e.insert(jobs...)
	e.want(e.claimExact(n, []string{"other"}, exact...), []int64{ids[1], ids[3], ids[5], ids[7], ids[9]}, "a claim must look among a thousand of Exact")
}
