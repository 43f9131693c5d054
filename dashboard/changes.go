package dashboard

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// changeTime bounds a change that a form asks for.
const changeTime = 2 * time.Minute

// mostChanged is how many jobs are looked at before a change.
const mostChanged = 10_000

// changer makes the change that a form asks for. It returns what happened, in words, and
// the page to show next.
type changer func(ctx context.Context, form url.Values) (done, next string, err error)

// posted answers a form: it makes the change, and leads to the next page.
func (p *pages) posted(change changer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := access.Require(r.Context(), access.Operator, "change anything here"); err != nil {
			p.refuse(w, r, err)
			return
		}
		if err := r.ParseForm(); err != nil {
			p.refuse(w, r, &check.FieldError{Field: "form", Problem: "cannot be read", Remedy: fmt.Sprintf("send at most %d bytes", maxForm)})
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), changeTime) // half a change is worse than an answer without a reader
		defer cancel()
		for _, values := range r.PostForm {
			for i := range values { // browsers end the lines of a field with both
				values[i] = strings.ReplaceAll(values[i], "\r\n", "\n")
			}
		}
		id, _ := access.FromContext(ctx)
		done, next, err := change(hourbell.WithActor(ctx, hourbell.Actor{Name: id.Who(), Source: id.Address}), r.PostForm)
		var again *againError
		if errors.As(err, &again) {
			again.page.Caller, again.page.Changes = id, true
			p.write(w, r, again.status, again.page)
			return
		}
		p.summary.forget()
		p.changes.wake()
		if err != nil {
			p.refuse(w, r, err)
			return
		}
		if done != "" {
			setFlash(w, r, done)
		}
		w.Header().Set("Location", next) // relative, so not http.Redirect, which knows only the path below the prefix
		w.WriteHeader(http.StatusSeeOther)
	}
}

// forget makes the next viewer see a new overview.
func (s *shared) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Time{}
}

// changeSchedule makes, changes, deletes, pauses, resumes, triggers or backfills a schedule.
func (p *pages) changeSchedule(ctx context.Context, form url.Values) (done, next string, err error) {
	if form.Get("action") == "put" { // the form is shown again with what is wrong
		return p.putSchedule(ctx, form)
	}
	name := form.Get("name")
	if err := check.StoredName("name", name); err != nil {
		return "", "", err
	}
	names, next := []string{name}, link("schedule", "name", name)
	switch action := form.Get("action"); action {
	case "pause":
		return p.pause(ctx, name, form.Get("until"))
	case "resume":
		return "The schedule is active again.", next, p.client.Schedules.Resume(ctx, names)
	case "trigger":
		ids, err := p.client.Schedules.TriggerAll(ctx, name)
		if err != nil {
			return "", next, err
		}
		if len(ids) > 1 {
			return plain.Plural(len(ids), "job") + " made, to run now on each host.", next, nil
		}
		return fmt.Sprintf("Job %d was made, to run now.", ids[0]), next, nil
	case "delete":
		return p.deleteSchedule(ctx, name)
	case "rule":
		return "The rule is in force, for the slots to come.", next, p.changeRule(ctx, name, form)
	case "backfill":
		req, err := backfillRequest(form.Get, "", time.Time{}) // instants of the form are absolute
		if err != nil {
			return "", "", err
		}
		made, err := p.client.Schedules.Backfill(ctx, name, req)
		return plain.Plural(len(made.Jobs), "job") + " made for past slots.", next, err
	default:
		return "", "", fieldError("action", action, "is unknown", "use the forms of the page")
	}
}

// changeRule replaces the rule of a schedule that is as it was when the form was made. As in the API, work that runs whatever its
// arguments name needs an admin and the consent of the server.
func (p *pages) changeRule(ctx context.Context, name string, form url.Values) error {
	revision, err := strconv.ParseInt(form.Get("revision"), 10, 64)
	if err != nil || revision <= 0 {
		return fieldError("revision", form.Get("revision"), "is no revision", "use the forms of the page")
	}
	info, err := p.client.Schedules.Get(ctx, name)
	switch {
	case err != nil:
		return err
	case info.Owner != "":
		return fieldError("name", name, fmt.Sprintf("belongs to %q, which would undo the change", info.Owner), "change it there")
	case info.Problem != "" || !editable(info.Rule):
		return fieldError("name", name, "has no rule that this page can change", "use `hourbell schedules edit`")
	}
	if err := p.mayDefineAll(ctx, info.Schedule); err != nil {
		return err
	}
	edited := info.Schedule
	edited.Revision = revision
	edited.Rule.Cron, edited.Rule.Every, edited.Rule.Zone = form.Get("cron"), form.Get("every"), form.Get("tz")
	_, err = p.client.Schedules.Put(ctx, edited)
	return err
}

func (p *pages) pause(ctx context.Context, name, until string) (done, next string, err error) {
	next = link("schedule", "name", name)
	if until == "" {
		return "The schedule is paused until it is resumed.", next, p.client.Schedules.Pause(ctx, []string{name})
	}
	at, err := p.readUntil(ctx, until, func() (string, error) {
		info, err := p.client.Schedules.Get(ctx, name)
		return info.Rule.Zone, err
	})
	if err != nil {
		return "", "", err
	}
	return "The schedule is paused until " + plain.Stamp(at) + ".", next, p.client.Schedules.PauseUntil(ctx, at, []string{name})
}

// verb is a change of jobs.
type verb struct {
	Name, Text string
	Asks       string // the field that it needs besides the filter; empty: none
	done, left string // of jobs that were changed, and of jobs that were not
	from       bool   // its form may have a step from which jobs begin again
	action     store.JobAction
	do         func(ctx context.Context, jobs *hourbell.JobService, f hourbell.JobFilter, value string, options ...hourbell.Option) (hourbell.JobChanges, error)
}

// verbs are the changes of jobs, as the program has them.
var verbs = []verb{
	{
		Name: "retry", Text: "Retry", done: "ready to run again", left: "running; cancel them first", action: store.RetryJobs,
		do: withoutValue((*hourbell.JobService).Retry), from: true,
	},
	{Name: "cancel", Text: "Cancel", done: "cancelled", left: "finished already", action: store.CancelJobs, do: withoutValue((*hourbell.JobService).Cancel)},
	{
		Name: "delete", Text: "Delete", done: "deleted", left: "running; cancel them first", action: store.DeleteJobs,
		do: withoutValue((*hourbell.JobService).Delete),
	},
	{
		Name: "move", Text: "Move to queue …", Asks: "to", done: "moved", left: "running or finished", action: store.MoveJobs,
		do: func(ctx context.Context, jobs *hourbell.JobService, f hourbell.JobFilter, value string, options ...hourbell.Option) (hourbell.JobChanges, error) {
			return jobs.Move(ctx, f, value, options...)
		},
	},
	{
		Name: "reprioritise", Text: "Set priority …", Asks: "to", done: "given the new priority", left: "running or finished", action: store.ReprioritiseJobs,
		do: func(ctx context.Context, jobs *hourbell.JobService, f hourbell.JobFilter, value string, options ...hourbell.Option) (hourbell.JobChanges, error) {
			priority, err := strconv.Atoi(value)
			if err != nil {
				return hourbell.JobChanges{}, fieldError("to", value, "is not a priority", "use 1 (first) to 9 (last)")
			}
			return jobs.Reprioritise(ctx, f, priority, options...)
		},
	},
}

func withoutValue(do func(*hourbell.JobService, context.Context, hourbell.JobFilter,
	...hourbell.Option) (hourbell.JobChanges, error),
) func(context.Context, *hourbell.JobService, hourbell.JobFilter, string, ...hourbell.Option) (hourbell.JobChanges, error) {
	return func(ctx context.Context, jobs *hourbell.JobService, f hourbell.JobFilter, _ string, options ...hourbell.Option) (hourbell.JobChanges, error) {
		return do(jobs, ctx, f, options...)
	}
}

// beginningAt returns the change for jobs that begin again with a step; empty: with their first step that is left.
func (v verb) beginningAt(step string) verb {
	do := v.do
	if step == "" || !v.from {
		return v
	}
	v.do = func(ctx context.Context, jobs *hourbell.JobService, f hourbell.JobFilter, value string, options ...hourbell.Option) (hourbell.JobChanges, error) {
		return do(ctx, jobs, f, value, append(options, hourbell.FromStep(step))...)
	}
	return v
}

// findVerb returns the change with that name.
func findVerb(name string) (verb, error) {
	for _, v := range verbs {
		if v.Name == name {
			return v, nil
		}
	}
	return verb{}, fieldError("action", name, "is unknown", "use retry, cancel, delete, move or reprioritise")
}

// errEnough ends a look at jobs after mostChanged jobs.
var errEnough = errors.New("enough jobs were looked at")

// wouldChange returns what a change would do with the jobs that a filter selects, mostChanged of them at most.
// more reports that there may be more.
func (p *pages) wouldChange(ctx context.Context, v verb, f hourbell.JobFilter, value string) (changes hourbell.JobChanges, more bool, err error) {
	n := 0
	changes, err = v.do(ctx, p.client.Jobs, f, value, hourbell.DryRun(), hourbell.EachBatch(func(jobs []store.JobChange) error {
		if n += len(jobs); n >= mostChanged {
			return errEnough
		}
		return nil
	}))
	if errors.Is(err, errEnough) {
		return changes, true, nil
	}
	return changes, false, err
}

// saying returns what became of jobs, in words.
func (v verb) saying(c hourbell.JobChanges, more bool) string {
	text := fmt.Sprintf("%s %s.", plain.Plural(c.Changed, "job"), v.done)
	for _, part := range []struct {
		n    int
		text string
	}{
		{c.Requested, "asked to stop, because they run"},
		{c.Unchanged, "left as they are: " + v.left},
		{c.KeyTaken, "left as they are: another live job has their unique key"},
		{c.Missing, "not found"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(" %s %s.", plain.Plural(part.n, "job"), part.text)
		}
	}
	if more {
		text += fmt.Sprintf(" That was found out for %d jobs; more may match, and are changed, too.", mostChanged)
	}
	return text
}

// confirmData is what the page that counts before a change shows.
type confirmData struct {
	Verb   verb
	Value  string
	Filter url.Values
	Would  string
	Any    bool // a job would change
	Table  table
}

// confirmJobs shows what a change would do. It changes nothing.
func (p *pages) confirmJobs(ctx context.Context, r *http.Request) (*page, error) {
	query := r.URL.Query()
	v, err := findVerb(query.Get("action"))
	if err != nil {
		return nil, err
	}
	now, err := p.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	if query.Has("ticked") && !query.Has("id") {
		return nil, fieldError("id", "", "is not given: no job is ticked", "tick jobs in the list, or use the form that changes all jobs that match")
	}
	d := confirmData{Verb: v, Value: query.Get("to"), Filter: atInstants(filterOf(query), now)}
	f, err := p.readFilter(ctx, d.Filter)
	if err != nil {
		return nil, err
	}
	f.All = true // the page says so, and the next page changes them only after another click
	would, more, err := p.wouldChange(ctx, v, f, d.Value)
	if err != nil {
		return nil, err
	}
	d.Would, d.Any = v.saying(would, more), would.Changed+would.Requested > 0
	f = view.Changeable(f, v.action)
	f.Limit = glance
	jobs, err := p.client.Jobs.List(ctx, f)
	if err != nil {
		return nil, err
	}
	if d.Table, err = p.jobTable(ctx, jobs, now); err != nil {
		return nil, err
	}
	d.Table.Caption, d.Table.Empty = "The newest of these jobs", "No job matches."
	return &page{Title: v.Text + ": look first", Template: "confirm", Data: d}, nil
}

// changeJobs changes the jobs that a form selects.
func (p *pages) changeJobs(ctx context.Context, form url.Values) (done, next string, err error) {
	v, err := findVerb(form.Get("action"))
	if err != nil {
		return "", "", err
	}
	filter := filterOf(form)
	f, err := p.readFilter(ctx, filter)
	if err != nil {
		return "", "", err
	}
	f.All = form.Get("all") == "yes"
	next = withQuery("jobs", filter)
	if len(f.IDs) == 1 && v.action != store.DeleteJobs {
		next = jobLink(f.IDs[0])
	} else if len(f.IDs) == 1 {
		next = "jobs"
	}
	b, err := p.begin(ctx, v.beginningAt(form.Get("from")), f, form.Get("to"), next)
	if err != nil {
		return "", "", err
	}
	select {
	case <-b.over:
		return v.saying(b.changes, false), next, b.err
	case <-time.After(patience):
	}
	key, err := p.bulks.add(b)
	if err != nil {
		b.stop(err)
	}
	return "", link("progress", "key", key), err
}

// flashCookie is the cookie with what a form has done; the next page shows it. It has no path,
// so that the browser keeps it for the pages of this handler only.
const flashCookie = "hourbell_flash"

func setFlash(w http.ResponseWriter, r *http.Request, text string) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure with TLS; without TLS a browser would refuse it
		Name: flashCookie, Value: base64.RawURLEncoding.EncodeToString([]byte(plain.Cut(text, 1000))), MaxAge: 60,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// takeFlash returns what the last form has done, once.
func takeFlash(w http.ResponseWriter, r *http.Request) string {
	sent, err := r.Cookie(flashCookie)
	if err != nil {
		return ""
	}
	gone := http.Cookie{Name: flashCookie, MaxAge: -1, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode}
	http.SetCookie(w, &gone) //nolint:gosec // as setFlash
	text, err := base64.RawURLEncoding.DecodeString(sent.Value)
	if err != nil {
		return ""
	}
	return plain.Clean(string(text))
}
