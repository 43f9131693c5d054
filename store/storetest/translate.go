package storetest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hourbell/hourbell/store"
)

// numbers pairs the numbers of the store under test with the numbers of the
// reference. Stores may leave gaps, so numbers are paired when they are made;
// for tokens and revisions only the order is promised.
type numbers struct {
	jobs, schedules, nodes pairs
	tokens                 map[int64]*pairs // by job
	revisions              map[int64]*pairs // by schedule
	lastToken              map[int64]int64  // of the store, by job
	lastScheduleToken      map[int64]int64  // of the store, by schedule
	lastRevision           map[int64]int64  // of the store, by schedule
	scheduleByName         map[string]int64
}

// pairs is a mapping in both directions.
type pairs struct{ toReal, toModel map[int64]int64 }

func newPairs() pairs {
	return pairs{toReal: map[int64]int64{}, toModel: map[int64]int64{}}
}

func (p pairs) add(real, model int64) {
	p.toReal[model] = real
	p.toModel[real] = model
}

// unknown is added to a number that has no counterpart, so that neither store
// has it.
const unknown = 1 << 40

func (p pairs) real(model int64) int64 {
	if real, ok := p.toReal[model]; ok || model == 0 {
		return real
	}
	return model + unknown
}

func (p pairs) model(real int64) int64 {
	if model, ok := p.toModel[real]; ok || real == 0 {
		return model
	}
	return -real // causes a mismatch
}

func newNumbers() numbers {
	return numbers{
		jobs: newPairs(), schedules: newPairs(), nodes: newPairs(),
		tokens: map[int64]*pairs{}, revisions: map[int64]*pairs{}, lastToken: map[int64]int64{},
		lastScheduleToken: map[int64]int64{}, lastRevision: map[int64]int64{}, scheduleByName: map[string]int64{},
	}
}

// of returns the pairs for a key.
func of(m map[int64]*pairs, key int64) *pairs {
	if m[key] == nil {
		p := newPairs()
		m[key] = &p
	}
	return m[key]
}

func (n numbers) realRef(ref store.ClaimRef) store.ClaimRef {
	return store.ClaimRef{ID: n.jobs.real(ref.ID), Token: of(n.tokens, ref.ID).real(ref.Token)}
}

// modelToken translates a token of a job; a token that was never given becomes
// 0.
func (n numbers) modelToken(job, token int64) int64 {
	if model, ok := of(n.tokens, job).toModel[token]; ok {
		return model
	}
	return 0
}

// modelRefs translates and sorts claims, including claims that were never made.
func (n numbers) modelRefs(refs []store.ClaimRef, asked map[store.ClaimRef]store.ClaimRef) []store.ClaimRef {
	var out []store.ClaimRef
	for _, ref := range refs {
		if model, ok := asked[ref]; ok {
			out = append(out, model)
			continue
		}
		job := n.jobs.model(ref.ID)
		out = append(out, store.ClaimRef{ID: job, Token: n.modelToken(job, ref.Token)})
	}
	return sortRefs(out)
}

func sortRefs(refs []store.ClaimRef) []store.ClaimRef {
	slices.SortFunc(refs, func(a, b store.ClaimRef) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Token, b.Token)) })
	return refs
}

// modelJob translates a listed job. want is the reference's job, for fields
// that may differ: headers may be formatted differently, and the name of a node
// may be missing if the node is not listed.
func (n numbers) modelJob(got, want store.JobInfo, listed map[string]bool) store.JobInfo {
	got.ID = n.jobs.model(got.ID)
	got.Token = n.modelToken(got.ID, got.Token)
	got.Schedule = n.schedules.model(got.Schedule)
	got.Headers = n.modelHeaders(got.Headers, want.Headers)
	if got.Node == "" && !listed[want.Node] {
		got.Node = want.Node
	}
	if len(got.Args) == 0 {
		got.Args = nil
	}
	if len(got.Result) == 0 {
		got.Result = nil
	}
	for i, e := range got.After {
		got.After[i].Job = n.jobs.model(e.Job)
	}
	attempts := got.Attempts
	got.Attempts = nil
	for i, a := range attempts {
		a.Token = n.modelToken(got.ID, a.Token)
		if len(a.Output) == 0 {
			a.Output = nil
		}
		if a.Node == "" && i < len(want.Attempts) && !listed[want.Attempts[i].Node] {
			a.Node = want.Attempts[i].Node
		}
		got.Attempts = append(got.Attempts, a)
	}
	return got
}

func (n numbers) modelJobs(got, want []store.JobInfo, listed map[string]bool) []store.JobInfo {
	var out []store.JobInfo
	for i, j := range got {
		var model store.JobInfo
		if i < len(want) {
			model = want[i]
		}
		out = append(out, n.modelJob(j, model, listed))
	}
	return out
}

// modelSchedule translates a schedule. Only the promised fields of a tombstone
// are compared.
func (n numbers) modelSchedule(row store.Schedule) store.Schedule {
	row.ID = n.schedules.model(row.ID)
	row.Revision = of(n.revisions, row.ID).model(row.Revision)
	return withoutRemains(row)
}

// withoutRemains clears the fields that a tombstone need not keep.
func withoutRemains(row store.Schedule) store.Schedule {
	if !row.DeletedAt.IsZero() {
		row = store.Schedule{
			ID: row.ID, Name: row.Name, Owner: row.Owner, Mark: row.Mark, NextAt: row.NextAt, Fired: row.Fired,
			CreatedAt: row.CreatedAt, DeletedAt: row.DeletedAt, FailingSince: row.FailingSince, Failures: row.Failures,
		}
	}
	if len(row.Definition) == 0 {
		row.Definition = nil
	}
	return row
}

// modelReason translates the number in the reason of a skipped slot.
func (n numbers) modelReason(reason string) string {
	var job int64
	const prefix = "overlap: job %d "
	if _, err := fmt.Sscanf(reason, prefix, &job); err != nil {
		return reason
	}
	return fmt.Sprintf(prefix, n.jobs.model(job)) + strings.TrimPrefix(reason, fmt.Sprintf(prefix, job))
}

// modelSlots translates records of slots; their own numbers are dropped.
func (n numbers) modelSlots(slots []store.SlotInfo) []store.SlotInfo {
	var out []store.SlotInfo
	for _, s := range slots {
		s.Schedule = n.schedules.model(s.Schedule)
		s.Job = n.jobs.model(s.Job)
		s.Reason = n.modelReason(s.Reason)
		out = append(out, s)
	}
	return sortSlots(out)
}

// sortSlots orders records by all fields except their number.
func sortSlots(slots []store.SlotInfo) []store.SlotInfo {
	for i := range slots {
		slots[i].ID = 0
	}
	slices.SortFunc(slots, func(a, b store.SlotInfo) int {
		return cmp.Or(b.Slot.Compare(a.Slot), cmp.Compare(a.Schedule, b.Schedule), cmp.Compare(a.Job, b.Job),
			cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Reason, b.Reason), a.Last.Compare(b.Last), cmp.Compare(a.Count, b.Count),
			a.RecordedAt.Compare(b.RecordedAt))
	})
	return slots
}

// modelFire translates and sorts the answer to Fire. want is the reference's
// sorted answer; new jobs are paired with its jobs.
func (n numbers) modelFire(got, want store.FireResult) store.FireResult {
	for i := range got.Fired {
		got.Fired[i].Schedule = n.schedules.model(got.Fired[i].Schedule)
	}
	for i := range got.Slots {
		got.Slots[i].Schedule = n.schedules.model(got.Slots[i].Schedule)
		got.Slots[i].Record.Reason = n.modelReason(got.Slots[i].Record.Reason)
	}
	for i := range got.Superseded {
		got.Superseded[i] = n.jobs.model(got.Superseded[i])
	}
	for i := range got.Asked {
		got.Asked[i] = n.jobs.model(got.Asked[i])
	}
	for i := range got.Lost {
		got.Lost[i] = n.schedules.model(got.Lost[i])
	}
	got = sortFire(got)
	for i := range got.Fired {
		if i < len(want.Fired) {
			n.jobs.add(got.Fired[i].Job, want.Fired[i].Job)
		}
		got.Fired[i].Job = n.jobs.model(got.Fired[i].Job)
	}
	return got
}

// sortFire sorts the answer to Fire, and changes empty slices to nil.
func sortFire(res store.FireResult) store.FireResult {
	var out store.FireResult
	out.Fired = append(out.Fired, res.Fired...)
	out.Slots = append(out.Slots, res.Slots...)
	out.Superseded = append(out.Superseded, res.Superseded...)
	out.Asked = append(out.Asked, res.Asked...)
	out.Lost = append(out.Lost, res.Lost...)
	slices.SortFunc(out.Fired, func(a, b store.FiredSlot) int {
		return cmp.Or(cmp.Compare(a.Schedule, b.Schedule), a.Slot.Compare(b.Slot))
	})
	for i := range out.Slots {
		out.Slots[i].Record.Extend = false
	}
	slices.SortFunc(out.Slots, func(a, b store.SkippedSlot) int {
		return cmp.Or(cmp.Compare(a.Schedule, b.Schedule), a.Record.Slot.Compare(b.Record.Slot), cmp.Compare(a.Record.Reason, b.Record.Reason))
	})
	slices.Sort(out.Superseded)
	slices.Sort(out.Asked)
	slices.Sort(out.Lost)
	return out
}

// modelRescue translates and sorts the answer to Rescue or Leave; of the nodes
// it keeps only the promised fields.
func (n numbers) modelRescue(res store.RescueResult) store.RescueResult {
	for i, j := range res.Jobs {
		res.Jobs[i].ID = n.jobs.model(j.ID)
		res.Jobs[i].Token = n.modelToken(res.Jobs[i].ID, j.Token)
		res.Jobs[i].Node = n.nodes.model(j.Node)
	}
	for i := range res.Nodes {
		res.Nodes[i].ID = n.nodes.model(res.Nodes[i].ID)
	}
	return sortRescue(res)
}

func sortRescue(res store.RescueResult) store.RescueResult {
	var out store.RescueResult
	out.Jobs = append(out.Jobs, res.Jobs...)
	for _, node := range res.Nodes {
		out.Nodes = append(out.Nodes, store.NodeInfo{ID: node.ID, Name: node.Name, EndedAt: node.EndedAt, Died: node.Died})
	}
	slices.SortFunc(out.Jobs, func(a, b store.RescuedJob) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(out.Nodes, func(a, b store.NodeInfo) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// sentinel returns the error of package store that err wraps, or nil.
func sentinel(err error) error {
	for _, s := range []error{store.ErrNotFound, store.ErrConflict, store.ErrStale, store.ErrUnsettled, store.ErrInUse, store.ErrNodeGone, store.ErrForeignTx} {
		if errors.Is(err, s) {
			return s
		}
	}
	return nil
}

func sentinelText(err error) string { return fmt.Sprint("refused: ", sentinel(err)) }

// clone copies a request's bytes, because a store may change them.
func clone(b []byte) []byte { return bytes.Clone(b) }
