package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/recur"
)

// The routes about what a schedule will do, would do, and did not do.

func (h *handler) addTimes() {
	const one = "/api/v1/schedules/{name}"
	add(h, route{access.Viewer, http.MethodGet, one + "/next", "next-slots", "Returns the next slots of a schedule", "schedules", 0, 0}, h.next)
	add(h, route{
		access.Viewer, http.MethodGet, one + "/explain", "explain-schedule",
		"Returns the outcome that every slot would have, and why", "schedules", 0, 0,
	}, h.explain)
	add(h, route{
		access.Operator, http.MethodPost, one + "/backfill", "backfill-schedule",
		"Makes a job for each slot of a past range", "schedules", 0, 0,
	}, h.backfill)
}

type nextInput struct {
	Named
	From  string `query:"from" doc:"Slots strictly after this instant; default: now, by the store's clock." shape:"instant"`
	Count int    `query:"count" minimum:"1" maximum:"1000" default:"5"`
}

type nextOutput struct {
	Body struct {
		Slots   []view.NextRecord `json:"slots" nullable:"false" doc:"Slots that no calendar excludes, on the clock of the rule."`
		Problem *string           `json:"problem" doc:"Why the search ended early."`
	}
}

func (h *handler) next(ctx context.Context, in *nextInput) (*nextOutput, error) {
	info, err := h.usable(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	from, err := instant("from", in.From, info.Rule.Zone)
	if err == nil && from.IsZero() {
		from, err = h.client.Now(ctx)
	}
	if err != nil {
		return nil, err
	}
	rule, err := info.Rule.Rule(info.Anchor)
	if err != nil {
		return nil, err
	}
	calendars := make([]*recur.Calendar, len(info.Exclude))
	for i, c := range info.Exclude {
		if calendars[i], err = c.Calendar(); err != nil {
			return nil, err
		}
	}
	out := &nextOutput{}
	out.Body.Slots = []view.NextRecord{}
	for slot, err := range view.Slots(rule, from, in.Count, info.Rule.Zone, calendars...) {
		if err != nil {
			text := err.Error()
			out.Body.Problem = &text
			break
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out.Body.Slots = append(out.Body.Slots, view.NextRecord{Slot: plain.InZone(slot, info.Rule.Zone)})
	}
	return out, nil
}

// usable returns a schedule that this release can use.
func (h *handler) usable(ctx context.Context, name string) (hourbell.ScheduleInfo, error) {
	info, err := h.client.Schedules.Get(ctx, name)
	if err == nil && info.Problem != "" {
		return info, newProblem(http.StatusConflict, fmt.Sprintf("schedule %q: %s", name, info.Problem))
	}
	return info, err
}

type explainInput struct {
	Named
	From    string   `query:"from" required:"true" doc:"The first instant." shape:"instant"`
	To      string   `query:"to" required:"true" doc:"The instant after the last." shape:"instant"`
	Down    []string `query:"down,explode" maxItems:"100" doc:"FROM..TO: no node lives in this time; may be repeated."`
	RunTime string   `query:"run_time" doc:"How long each job runs." shape:"duration"`
	Limit   int      `query:"limit" minimum:"1" maximum:"1000" default:"200" doc:"How many slots are shown at most."`
	Cron    string   `query:"cron" doc:"Another rule."`
	Every   string   `query:"every" doc:"Another rule."`
	TZ      string   `query:"tz" doc:"Another zone."`
	Gap     string   `query:"gap"`
	Fold    string   `query:"fold"`
	Overlap string   `query:"overlap" doc:"Another policy."`
	Misfire string   `query:"misfire" doc:"Another policy."`
	Grace   string   `query:"grace"`
	Window  string   `query:"window"`
}

type explainOutput struct {
	Body struct {
		Slots []view.ExplainRecord `json:"slots" nullable:"false" doc:"Slots, and changes of the clock (outcome clock), in the order of time."`
		More  bool                 `json:"more" doc:"There are more slots than limit."`
	}
}

func (h *handler) explain(ctx context.Context, in *explainInput) (*explainOutput, error) {
	info, err := h.usable(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	if err := in.change(&info.Schedule); err != nil {
		return nil, err
	}
	req, err := in.request(info.Rule.Zone)
	if err != nil {
		return nil, err
	}
	explained, err := info.Explain(req)
	if err != nil {
		return nil, err
	}
	out := &explainOutput{}
	out.Body.Slots, out.Body.More = view.ExplainRecords(explained, info.Rule.Zone), explained.More
	if out.Body.Slots == nil {
		out.Body.Slots = []view.ExplainRecord{}
	}
	return out, nil
}

// change makes the schedule what the caller asks about.
func (in *explainInput) change(s *hourbell.Schedule) error {
	if in.Cron != "" || in.Every != "" {
		s.Rule.Cron, s.Rule.Every, s.Rule.At, s.Rule.Any = in.Cron, in.Every, "", nil
	}
	if in.TZ != "" {
		s.Rule.Zone = in.TZ
	}
	return errors.Join(
		setKey(s, "gap", in.Gap), setKey(s, "fold", in.Fold), setKey(s, "overlap", in.Overlap),
		setKey(s, "misfire", in.Misfire), setKey(s, "grace", in.Grace), setKey(s, "window", in.Window),
	)
}

// request returns what is to be simulated, with instants on the clock of the zone.
func (in *explainInput) request(zone string) (req hourbell.ExplainRequest, err error) {
	var errs [4]error
	req.Limit = in.Limit
	req.From, errs[0] = instant("from", in.From, zone)
	req.To, errs[1] = instant("to", in.To, zone)
	req.Down, errs[2] = spans(in.Down, zone)
	if in.RunTime != "" {
		req.RunTime, errs[3] = duration("run_time", in.RunTime)
	}
	return req, errors.Join(errs[:]...)
}

// spans reads the times in which no node lives.
func spans(texts []string, zone string) ([]hourbell.Span, error) {
	var all []hourbell.Span
	for _, text := range texts {
		from, to, found := strings.Cut(text, "..")
		if !found || from == "" || to == "" {
			return nil, fieldError("down", text, "is not FROM..TO", "write two instants with two dots between them")
		}
		var span hourbell.Span
		var err error
		if span.From, err = instant("down", from, zone); err != nil {
			return nil, err
		}
		if span.To, err = instant("down", to, zone); err != nil {
			return nil, err
		}
		all = append(all, span)
	}
	return all, nil
}

// Backfill is a past range of a schedule to run again.
type Backfill struct {
	From    string `json:"from" minLength:"1" doc:"The first instant." shape:"instant"`
	To      string `json:"to" minLength:"1" doc:"The instant after the last." shape:"instant"`
	Overlap string `json:"overlap,omitempty" enum:"queue,allow" doc:"queue (default): the jobs run one after the other; allow: all at once."`
	Force   bool   `json:"force,omitempty" doc:"Also run slots that have fired, and ranges older than the records that are kept."`
	// Dependents is BackfillRequest.Dependents.
	Dependents bool `json:"dependents,omitempty" doc:"Let the ends of the jobs start the schedules that follow the schedule."`
	DryRun     bool `json:"dry_run,omitempty" doc:"Return the slots, and make no jobs."`
}

type backfillOutput struct {
	Body struct {
		Slots []view.BackfillRecord `json:"slots" nullable:"false"`
	}
}

func (h *handler) backfill(ctx context.Context, in *struct {
	Named
	Body Backfill
},
) (*backfillOutput, error) {
	req := hourbell.BackfillRequest{Overlap: hourbell.Overlap(in.Body.Overlap), Force: in.Body.Force, Dependents: in.Body.Dependents, DryRun: in.Body.DryRun}
	var fromErr, toErr error
	req.From, fromErr = instant("from", in.Body.From, "")
	req.To, toErr = instant("to", in.Body.To, "")
	if err := errors.Join(fromErr, toErr); err != nil {
		return nil, err
	}
	if _, err := h.usable(ctx, in.Name); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	made, err := h.client.Schedules.Backfill(ctx, in.Name, req)
	if err != nil {
		return nil, err
	}
	out := &backfillOutput{}
	out.Body.Slots = view.BackfillRecords(made)
	return out, nil
}
