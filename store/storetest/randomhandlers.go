package storetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/hourbell/hourbell/store"
)

var handlerNames = []string{"h", "i", "ü"}

// changeHandlers puts or deletes a handler in both stores.
func (w *world) changeHandlers() {
	name, by := pick(w, handlerNames...), w.someone()
	if w.chance(2) {
		req := store.DeleteRequest{Of: store.OfHandlers, Now: w.now, Names: []string{name}, By: by}
		w.agree("DeleteHandlers", req, w.client.Delete(w.ctx, req), w.model.Delete(w.ctx, req), true)
	} else {
		h := store.Handler{Name: name, On: store.HandlerEvents(1 + w.rng.IntN(int(store.HandleRecovery)*2-1)), Job: w.someJob().JobSpec}
		if w.chance(2) {
			h.Kind = pick(w, kinds...)
		}
		if w.chance(3) {
			h.Group = pick(w, groupNames...)
		}
		req := store.PutRequest{Now: w.now, Handlers: []store.PutHandler{{Handler: h}}, By: by}
		want, err := w.model.Put(w.ctx, req)
		w.must(err)
		got, err := w.client.Put(w.ctx, req)
		w.must(err)
		w.compare("PutHandler", req, got, want)
	}
	want, err := store.List[store.Handler](w.ctx, w.model, store.ListRequest{})
	w.must(err)
	got, err := store.List[store.Handler](w.ctx, w.client, store.ListRequest{})
	w.must(err)
	w.handled = len(want) > 0
	w.compare("ListHandlers", nil, got, slices.Clip(want))
	w.auditBoth(by)
}

// remember keeps what a node knows of the jobs that it has claimed.
func (w *world) remember(jobs []store.Claimed) {
	for _, job := range jobs {
		w.known[store.ClaimRef{ID: job.ID, Token: job.Token}] = job
	}
}

// knownJob returns the job of a claim as a node passes it to both stores; nil: without it there are
// no handlers.
func (w *world) knownJob(ref store.ClaimRef) (real, model *store.Claimed) {
	job, known := w.known[ref]
	if !known || w.chance(8) {
		return nil, nil
	}
	w.hooked = w.hooked || w.handled
	theirs := job
	theirs.ID, theirs.Token, theirs.Schedule = w.names.realRef(ref).ID, w.names.realRef(ref).Token, w.names.schedules.real(job.Schedule)
	theirs.JobSpec = job.JobSpec.Clone()
	return &theirs, &job
}

// someStarts returns what the starts of claims make, for both stores.
func (w *world) someStarts(refs []store.ClaimRef) (real, model []store.Start) {
	if w.chance(3) {
		return nil, nil
	}
	for _, ref := range refs {
		var ours, theirs store.Start
		theirs.Job, ours.Job = w.knownJob(ref)
		if w.chance(4) {
			job := w.someHook(0)
			ours.Hooks, theirs.Hooks, w.hooked = []store.NewJob{job}, []store.NewJob{w.realJob(job)}, true
		}
		real, model = append(real, theirs), append(model, ours)
	}
	return real, model
}

// someEvents returns events of a firing.
func (w *world) someEvents(row store.Schedule, slot time.Time) (events []store.HookEvent) {
	for w.chance(4) {
		about := store.HookEvent{
			Event: pick(w, store.HookMissed, store.HookNotStarted), Schedule: row.Name, Kind: pick(w, kinds...), Group: pick(w, "", groupNames[0]),
			First: slot, Last: slot, Count: 1 + w.rng.Int64N(3), Reason: pick(w, "x", "ü"),
		}
		events, w.hooked = append(events, about), w.hooked || w.handled
	}
	return events
}

// modelHeaders translates the number of the job in the cause that hooks and handlers add. The
// result is want if it has the same content.
func (n numbers) modelHeaders(got, want []byte) []byte {
	var headers map[string]string
	var about store.HookEvent
	if len(got) > 0 && json.Unmarshal(got, &headers) == nil && json.Unmarshal([]byte(headers[store.HookHeader]), &about) == nil {
		about.Job = n.jobs.model(about.Job)
		got = about.AddTo(got)
	}
	if sameJSON(got, want) {
		return want
	}
	return got
}

// someone returns who makes a change; half of the changes have no actor.
func (w *world) someone() store.Actor {
	return pick(w, store.Actor{}, store.Actor{}, store.Actor{Name: "ada", Source: "cli"}, store.Actor{Name: "ü'", Source: ""})
}

// auditBoth compares the newest entries of the audit, after a change by someone.
func (w *world) auditBoth(by store.Actor) {
	if by.Recorded() {
		w.compareAudit(3)
	}
}

func (w *world) compareAudit(limit int) {
	req := store.ListRequest{Limit: limit}
	want, err := store.List[store.AuditEntry](w.ctx, w.model, req)
	w.must(err)
	got, err := store.List[store.AuditEntry](w.ctx, w.client, req)
	w.must(err)
	for i := range got {
		for j, subject := range got[i].Subjects {
			if id, err := strconv.ParseInt(subject.Name, 10, 64); err == nil && subject.Kind == store.AuditJob {
				got[i].Subjects[j].Name = fmt.Sprint(w.names.jobs.model(id))
			}
		}
	}
	w.compare("ListAudit", req, withoutNumbers(got), withoutNumbers(want))
}

var revisions = regexp.MustCompile(`revision \d+( to \d+)?`)

// withoutNumbers clears the numbers of entries and of revisions: stores promise only their order.
func withoutNumbers(entries []store.AuditEntry) (out []store.AuditEntry) {
	for _, e := range entries {
		e.ID, e.Detail = 0, revisions.ReplaceAllString(e.Detail, "revision")
		if len(e.Subjects) == 0 {
			e.Subjects = nil
		}
		out = append(out, e)
	}
	return out
}
