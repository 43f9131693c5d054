package api

import (
	"context"
	"net/http"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (h *handler) addGroups() {
	const all, one = "/api/v1/groups", "/api/v1/groups/{name}"
	add(h, route{
		access.Viewer, http.MethodGet, all, "list-groups",
		"Lists the groups of schedules and of jobs that have not finished", "groups", 0, 0,
	}, h.listGroups)
	addPausable(h, pausable[hourbell.GroupInfo, view.GroupRecord]{
		collection: "groups", noun: "group", effect: "none of its jobs begins, and its slots are recorded as skipped",
		get: h.client.Groups.Get, pause: h.client.Groups.Pause, resume: h.client.Groups.Resume, record: view.NewGroupRecord,
		clear: func(g hourbell.GroupInfo) hourbell.GroupInfo { g.Pause = store.Pause{}; return g },
	})
	add(h, route{
		access.Operator, http.MethodPost, one + "/trigger", "trigger-group",
		"Makes a job for each schedule of a group, to run now", "groups", 0, 0,
	}, h.triggerGroup)
	add(h, route{access.Operator, http.MethodPost, one + "/cancel", "cancel-group", "Cancels the jobs of a group that have not finished", "groups", 0, 0},
		func(ctx context.Context, in *groupInput) (*changesOutput, error) {
			return h.changeGroup(ctx, in, h.client.Groups.Cancel)
		})
	add(h, route{access.Operator, http.MethodPost, one + "/retry", "retry-group", "Runs the failed jobs of a group again", "groups", 0, 0},
		func(ctx context.Context, in *groupInput) (*changesOutput, error) {
			return h.changeGroup(ctx, in, h.client.Groups.Retry)
		})
}

// listGroups reads all groups, as the store returns them; there are few.
func (h *handler) listGroups(ctx context.Context, in *struct{ Paging }) (*listed[view.GroupRecord], error) {
	return listCounts(ctx, in.Paging, h.client.Groups.Estimate, func(g hourbell.GroupInfo) string { return g.Name }, view.NewGroupRecord)
}

type triggeredOutput struct {
	Body struct {
		Jobs []view.TriggeredRecord `json:"jobs" nullable:"false"`
	}
}

func (h *handler) triggerGroup(ctx context.Context, in *Named) (*triggeredOutput, error) {
	made, err := h.client.Groups.Trigger(ctx, in.Name)
	if err != nil {
		if len(made) > 0 {
			h.o.Logger.Warn("a trigger of a group through the API ended early", "jobs", len(made), "error", err)
		}
		return nil, err
	}
	out := &triggeredOutput{}
	out.Body.Jobs = []view.TriggeredRecord{}
	for _, one := range made {
		out.Body.Jobs = append(out.Body.Jobs, view.TriggeredRecord{Schedule: one.Schedule, ID: one.Job})
	}
	return out, nil
}

type groupInput struct {
	Named
	DryRun bool `query:"dry_run" doc:"Change nothing, and answer what would be changed."`
}

func (h *handler) changeGroup(ctx context.Context, in *groupInput,
	do func(context.Context, string, ...hourbell.Option) (hourbell.JobChanges, error),
) (*changesOutput, error) {
	if _, err := h.client.Groups.Get(ctx, in.Name); err != nil { // a misspelt name is an error, a group without such jobs is not
		return nil, err
	}
	return h.counted(in.DryRun, func(options ...hourbell.Option) (hourbell.JobChanges, error) { return do(ctx, in.Name, options...) })
}
