package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (h *handler) addGroups() {
	const all, one = "/api/v1/groups", "/api/v1/groups/{name}"
	add(h, route{access.Viewer, http.MethodGet, all, "list-groups", "Lists the groups of schedules and of jobs that have not finished", "groups", 0, 0}, h.listGroups)
	add(h, route{access.Viewer, http.MethodGet, one, "get-group", "Returns a group", "groups", 0, 0}, h.getGroup)
	add(h, route{access.Operator, http.MethodPost, one + "/pause", "pause-group", "Pauses a group: none of its jobs begins, and its slots are recorded as skipped", "groups", 0, 0}, h.pauseGroup)
	add(h, route{access.Operator, http.MethodPost, one + "/resume", "resume-group", "Ends the pause of a group", "groups", 0, 0}, h.resumeGroup)
	add(h, route{access.Operator, http.MethodPost, one + "/trigger", "trigger-group", "Makes a job for each schedule of a group, to run now", "groups", 0, 0}, h.triggerGroup)
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
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	after, err := decodeCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	groups, err := h.client.Groups.Estimate(ctx)
	if err != nil {
		return nil, err
	}
	groups = slices.DeleteFunc(groups, func(g hourbell.GroupInfo) bool { return g.Name <= after && after != "" })
	return newPage(in.Limit, groups, func(g hourbell.GroupInfo) string { return g.Name }, view.NewGroupRecord), nil
}

type groupOutput struct{ Body view.GroupRecord }

func (h *handler) getGroup(ctx context.Context, in *Named) (*groupOutput, error) {
	group, err := h.client.Groups.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return &groupOutput{view.NewGroupRecord(group)}, nil
}

// GroupPause is how long and why a group is paused.
type GroupPause struct {
	Until  string `json:"until,omitempty" minLength:"1" doc:"When the pause ends by itself, by the store's clock; default: when it is resumed." shape:"instant"`
	Reason string `json:"reason,omitempty" minLength:"1" maxLength:"1024" doc:"Why, in words."`
}

func (h *handler) pauseGroup(ctx context.Context, in *struct {
	Named
	Body *GroupPause
},
) (*groupOutput, error) {
	id, _ := access.FromContext(ctx)
	pause := hourbell.GroupPause{Actor: id.Name}
	if in.Body != nil {
		var err error
		if pause.Until, err = instant("until", in.Body.Until, ""); err != nil {
			return nil, err
		}
		pause.Reason = in.Body.Reason
	}
	if err := h.client.Groups.Pause(ctx, in.Name, pause); err != nil {
		return nil, err
	}
	return h.getGroup(ctx, &in.Named)
}

func (h *handler) resumeGroup(ctx context.Context, in *Named) (*groupOutput, error) {
	group, err := h.client.Groups.Get(ctx, in.Name) // before the end of the pause, after which a group may be nowhere
	if err != nil {
		return nil, err
	}
	if _, err := h.client.Groups.Resume(ctx, in.Name); err != nil {
		return nil, err
	}
	group.Pause = store.Pause{}
	return &groupOutput{view.NewGroupRecord(group)}, nil
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

func (h *handler) changeGroup(ctx context.Context, in *groupInput, do func(context.Context, string, ...hourbell.Option) (hourbell.JobChanges, error)) (*changesOutput, error) {
	if _, err := h.client.Groups.Get(ctx, in.Name); err != nil { // a misspelt name is an error, a group without such jobs is not
		return nil, err
	}
	return h.counted(in.DryRun, func(options ...hourbell.Option) (hourbell.JobChanges, error) { return do(ctx, in.Name, options...) })
}
