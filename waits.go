package hourbell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Waits returns the reasons, by number, why due jobs are taken by no living
// node, wait for the end of a pause or for a permit of a limit, and which jobs a waiting job waits for (After), if the given job has
// JobInfo.After. A given job without a reason in the result is not due, is not
// ready, or has nodes that are only busy.
func (s *JobService) Waits(ctx context.Context, jobs ...store.JobInfo) (map[int64]string, error) {
	predecessors, err := s.predecessors(ctx, jobs)
	if err != nil {
		return nil, err
	}
	reasons := waitsForJobs(jobs, predecessors)
	due, now, err := s.due(ctx, jobs)
	if err != nil || len(due) == 0 {
		return reasons, err
	}
	for _, gate := range [...]func(context.Context, []store.JobInfo, map[int64]string) ([]store.JobInfo, error){s.paused, s.limited} {
		if due, err = gate(ctx, due, reasons); err != nil || len(due) == 0 {
			return reasons, err
		}
	}
	nodes, err := s.client.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	nodes = slices.DeleteFunc(nodes, func(n store.NodeInfo) bool { return !n.Alive(now) })
	for _, job := range due {
		if reason := cmp.Or(waits(job.Queue, job.Kind, nodes), suspectText(job)); reason != "" {
			reasons[job.ID] = reason
		}
	}
	return reasons, nil
}

// suspectText describes why a job waits whose runs may have ended nodes; empty: it does not.
func suspectText(job store.JobInfo) string {
	if job.Losses < store.SuspectLosses {
		return ""
	}
	return fmt.Sprintf("%d nodes in a row died while it ran, or when it was about to begin; it begins when no other job runs on its node", job.Losses)
}

// paused adds the reasons of jobs that pauses concern, and returns the other jobs.
func (s *JobService) paused(ctx context.Context, jobs []store.JobInfo, reasons map[int64]string) ([]store.JobInfo, error) {
	pauses, err := store.List[store.Pause](ctx, s.client.backend, store.ListRequest{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(jobs, func(j store.JobInfo) bool {
		concern := concerning(j, pauses)
		if len(concern) > 0 {
			reasons[j.ID] = strings.Join(converted(concern, pauseText), "; ")
		}
		return len(concern) > 0
	}), nil
}

// limited adds the reasons of jobs that limits let wait, and returns the other jobs.
func (s *JobService) limited(ctx context.Context, jobs []store.JobInfo, reasons map[int64]string) ([]store.JobInfo, error) {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	waits, err := store.List[store.LimitWait](ctx, s.client.backend, store.ListRequest{IDs: ids})
	if err != nil {
		return nil, err
	}
	for _, w := range waits {
		if text := limitText(w); text != "" && reasons[w.Job] == "" {
			reasons[w.Job] = text
		}
	}
	return slices.DeleteFunc(jobs, func(j store.JobInfo) bool { return reasons[j.ID] != "" }), nil
}

// limitText describes why a limit lets a job wait; empty: it does not, as far as is known.
func limitText(w store.LimitWait) string {
	what := "limit " + w.Limit.Name
	if w.Limit.ByKey {
		what += ", key " + w.Key
	}
	width := w.Limit.Width(w.Key)
	switch {
	case w.Limit.WholeQueue() && !w.Full() && w.Until.IsZero():
		return ""
	case w.Full():
		what += fmt.Sprintf(": permits in use: %d of %d", w.InUse, width)
	case w.Limit.Rate > 0:
		what += fmt.Sprintf(": at most %s start", Rate{Jobs: w.Limit.Rate, Per: w.Limit.Per})
	case width > 0 && w.Until.IsZero():
		what += fmt.Sprintf(": permits in use: %d of %d", w.InUse, width)
	}
	if !w.Until.IsZero() {
		what += ": nothing starts before " + w.Until.Round(time.Millisecond).Format(time.RFC3339Nano)
	}
	return what + beforeText(w)
}

// beforeText describes how many jobs wait before a job; empty: none, or it is not known.
func beforeText(w store.LimitWait) string {
	switch {
	case w.Limit.WholeQueue():
		return ""
	case w.Before >= store.MostCounted:
		return fmt.Sprintf(", and %d jobs or more wait before it", w.Before)
	case w.Before == 1:
		return ", and 1 job waits before it"
	case w.Before > 0:
		return fmt.Sprintf(", and %d jobs wait before it", w.Before)
	}
	return ""
}

// Pauses returns the active pauses that concern a job, of its group, its queue, its kind and its key.
func (s *JobService) Pauses(ctx context.Context, job store.JobInfo) ([]store.Pause, error) {
	pauses, err := store.List[store.Pause](ctx, s.client.backend, store.ListRequest{})
	return concerning(job, pauses), err
}

// concerning returns the pauses that concern a job.
func concerning(job store.JobInfo, pauses []store.Pause) []store.Pause {
	return slices.DeleteFunc(slices.Clone(pauses), func(p store.Pause) bool { return !p.Concerns(job.JobSpec) })
}

// pauseText describes a pause.
func pauseText(p store.Pause) string {
	text := fmt.Sprintf("%v %s is paused since %s", p.Subject, p.Name, p.At.Format(time.RFC3339))
	if !p.Until.IsZero() {
		text += " until " + p.Until.Format(time.RFC3339)
	}
	if p.Actor != "" {
		text += " by " + p.Actor
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// openEdges returns the edges whose predecessors a waiting job waits for.
func openEdges(job store.JobInfo) (open []store.JobEdge) {
	if job.State != store.StateWaiting {
		return nil
	}
	for _, e := range job.After {
		if e.State == store.EdgeOpen {
			open = append(open, e)
		}
	}
	return open
}

// predecessors returns the jobs that waitsForJobs names, by number.
func (s *JobService) predecessors(ctx context.Context, jobs []store.JobInfo) (map[int64]store.JobInfo, error) {
	var ids []int64
	for _, job := range jobs {
		open := openEdges(job)
		for _, e := range open[:min(len(open), mostNamed)] {
			ids = append(ids, e.Job)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	found, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: len(ids)})
	byID := make(map[int64]store.JobInfo, len(found))
	for _, job := range found {
		byID[job.ID] = job
	}
	return byID, err
}

// waitsForJobs returns which jobs waiting jobs wait for, and which of the predecessors, by number, are being retried.
func waitsForJobs(jobs []store.JobInfo, predecessors map[int64]store.JobInfo) map[int64]string {
	reasons := map[int64]string{}
	for _, job := range jobs {
		var open []string
		for _, e := range openEdges(job) {
			text := fmt.Sprintf("job %d (%v)", e.Job, e.On)
			if p, found := predecessors[e.Job]; found && p.State == store.StateReady && p.Attempt > 0 {
				text = fmt.Sprintf("job %d (%v; attempt %d of %d has ended, the next is due at %s)",
					e.Job, e.On, p.Attempt, p.MaxAttempts, p.RunAt.Round(time.Second).Format(time.RFC3339))
			}
			open = append(open, text)
		}
		if len(open) > 0 {
			reasons[job.ID] = "waits for " + some(open)
		}
	}
	return reasons
}

// due returns the jobs that are ready and due by the store's clock, and the time of the clock.
func (s *JobService) due(ctx context.Context, jobs []store.JobInfo) ([]store.JobInfo, time.Time, error) {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j store.JobInfo) bool { return j.State != store.StateReady })
	if len(jobs) == 0 {
		return nil, time.Time{}, nil
	}
	now, err := s.client.Now(ctx)
	return slices.DeleteFunc(jobs, func(j store.JobInfo) bool { return j.RunAt.After(now) }), now, err
}

// waits returns why no living node takes jobs of a queue and kind, or an empty
// text.
func waits(queue, kind string, living []store.NodeInfo) string {
	if len(living) == 0 {
		return "no node is alive; start one"
	}
	if reason := plan.NoTaker(queue, kind, living, nil); reason != "" {
		return reason
	}
	serving := slices.DeleteFunc(slices.Clone(living), func(n store.NodeInfo) bool { return !n.Serves(queue) })
	switch {
	case len(serving) == 0:
		return fmt.Sprintf("no living node serves queue %q; start one that does", queue)
	case slices.ContainsFunc(serving, func(n store.NodeInfo) bool { return slices.Contains(n.Kinds, kind) }):
		return ""
	}
	return fmt.Sprintf("no living node of queue %q has code for kind %q; start one that has", queue, kind)
}

// mostNamed is how many names a text for people has.
const mostNamed = 3

// some lists the first few names.
func some(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}
