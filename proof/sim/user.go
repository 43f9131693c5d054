package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// do carries out an event of the plan.
func (c *cluster) do(i int, e event) {
	c.trace.add("event %d: %v", i, e)
	if e.Trap != "" && e.Node <= len(c.nodes) {
		c.nodes[e.Node-1].port.setTrap(e.Trap, func() {
			e.Trap = ""
			if c.real { // another goroutine than the driver's
				c.gate.at(time.Now(), fmt.Sprintf("event %d", i), func() { c.do(i, e) })
				c.gate.ring()
				return
			}
			c.do(i, e)
		})
		return
	}
	var n *node
	if e.Node > len(c.nodes) { // the plan was shortened
		return
	}
	if e.Node > 0 {
		n = c.nodes[e.Node-1]
	}
	until := time.Now().Add(e.For)
	fails := func(node string, until time.Time) {
		c.witness.faults = append(c.witness.faults, fault{Kind: e.Verb, Node: node, From: time.Now(), To: until, By: e.For})
	}
	switch e.Verb {
	case "kill":
		fails(n.name, time.Now())
		c.kill(n)
	case "stop":
		fails(n.name, time.Now().Add(10*time.Second))
		c.witness.gone[n.name] = true
		go func() { _ = n.client.Stop(context.Background()) }()
	case "start":
		if n.over() {
			c.start(n.number)
		}
	case "freeze":
		fails(n.name, until)
		n.port.freeze(until)
	case "cut":
		fails(n.name, until)
		n.port.cut(time.Now().Add(brownOut), until)
	case "away":
		fails("", until)
		c.awayUntil = until
	case restore:
		c.makeBackup(e.For)
	case "clock":
		fails("", time.Now())
		c.ahead += e.For
	default:
		begins := func() {
			c.before(e)
			c.witness.changing[e.about()]++
		}
		if !c.real {
			begins()
		}
		c.asks(fmt.Sprintf("%d", i), func(ctx context.Context) {
			if c.real {
				begins()
			}
			c.ask(ctx, e)
		})
	}
}

// about returns what an event changes that can be put in force, such as the limit of a name; empty: nothing.
func (e event) about() string {
	switch e.Verb {
	case "put":
		return "schedule " + e.Sched.Name
	case "pause schedule", "resume schedule", "delete schedule", resetSchedule, pauseFor:
		return "schedule " + e.Name
	case "limit":
		return "limit " + e.Limit.Name
	case "end limit":
		return "limit " + e.Name
	case "handler", "end handler", "calendar":
		return strings.TrimPrefix(e.Verb, "end ") + " " + strings.TrimPrefix(e.Name, "of ")
	case "pause", "resume":
		return e.Of + " " + e.Name
	case "cancel", "retry", "delete", "reprioritise", moveJob, retryFrom:
		return "job " + e.Name
	}
	return ""
}

// ask does what a user does, and records the answer. What an answer puts in force is not recorded if another call that changes
// the same thing had begun and had no answer yet: the store may have carried out that call last.
func (c *cluster) ask(ctx context.Context, e event) {
	what := e.about()
	alone := what == "" || c.witness.changing[what] == 1
	defer func() { c.witness.changing[what]-- }()
	record := func() {}
	var err error
	switch e.Verb {
	case "enqueue":
		if e.For > 0 { // the caller does not wait longer
			var leave context.CancelFunc
			ctx, leave = context.WithTimeout(ctx, e.For)
			defer leave()
		}
		record, err = c.enqueue(ctx, e.Jobs, e.For > 0)
	case "batch":
		record, err = c.enqueueBatch(ctx, e)
	case "graph":
		record, err = c.enqueueGraph(ctx, e.Jobs)
	case "handler":
		in := putInForce(&c.witness.handlers, e.Of)
		_, err = c.user.Handlers.Put(ctx, hourbell.EventHandler{
			Name: e.Name, On: []string{hourbell.HookSuccess, hourbell.HookFailure}, Kind: e.Of, Job: rawArgs(kindNote, e.Name),
		})
		record = func() { in.answered(err, c.moment()) }
	case "end handler":
		err = c.user.Handlers.Delete(ctx, e.Name)
	case "calendar":
		in := putInForce(&c.witness.calendars, e.Seconds)
		_, err = c.user.Calendars.Put(ctx, calendar(e), 0)
		record = func() { in.answered(err, c.moment()) }
	case "bad":
		err = c.enqueueBadly(ctx, e.Jobs[0])
	case "put":
		in := putInForce(&c.witness.rules, *e.Sched)
		_, err = c.user.Schedules.Put(ctx, e.Sched.schedule())
		record = func() { in.answered(err, c.moment()) }
	case "pause schedule":
		in := putInForce(&c.witness.halts, e.Name)
		err = c.user.Schedules.Pause(ctx, []string{e.Name})
		record = func() { in.answered(err, c.moment()) }
	case "resume schedule":
		err = c.user.Schedules.Resume(ctx, []string{e.Name})
	case "delete schedule":
		err = c.user.Schedules.Delete(ctx, []string{e.Name})
	case "trigger":
		_, err = c.user.Schedules.Trigger(ctx, e.Name)
	case "limit":
		in := putInForce(&c.witness.limits, *e.Limit)
		_, err = c.user.Limits.Put(ctx, *e.Limit, 0)
		record = func() { in.answered(err, c.moment()) }
	case "end limit":
		err = c.user.Limits.Delete(ctx, e.Name)
	case "pause":
		in := putInForce(&c.witness.pauses, subject{e.Of, e.Name})
		err = c.pause(ctx, subject{e.Of, e.Name})
		record = func() { in.answered(err, c.moment()) }
	case "resume":
		err = c.resume(ctx, subject{e.Of, e.Name})
	case "cancel":
		in := putInForce(&c.witness.cancels, c.ids[e.Name])
		err = c.change(ctx, e)
		record = func() { in.answered(err, c.moment()) }
	case "retry", "delete", "reprioritise", moveJob:
		err = c.change(ctx, e)
	default:
		var known bool
		if record, err, known = c.askByHand(ctx, e); known {
			break
		}
		record = func() {}
		if known, err = c.askOfSteps(ctx, e); !known {
			panic("unknown verb " + e.Verb)
		}
	}
	c.answered(ctx)
	if alone {
		record()
	}
	c.trace.add("%v: %v", e, err)
}

// answered lets one caller after another go on.
func (c *cluster) answered(ctx context.Context) {
	_ = c.gate.await(context.Background(), &stop{key: fmt.Sprint("user ", ctx.Value(caller{}), " has an answer")})
}

func same[T comparable](a, b T) bool { return a == b }

func sameLimit(a, b hourbell.Limit) bool { return a.Name == b.Name }

// endInForce records that what was in force is about to be changed.
func endInForce[T any](list []*inForce[T], what T, same func(a, b T) bool, now moment) {
	for _, one := range list {
		if same(one.What, what) && one.To.Real.IsZero() {
			one.To = now
		}
	}
}

// never is later than all that happens.
var never = moment{time.Unix(1<<40, 0), time.Unix(1<<40, 0)}

// putInForce records that a call is made that puts something in force, with its answer.
func putInForce[T any](list *[]*inForce[T], what T) *inForce[T] {
	in := &inForce[T]{What: what, From: never}
	*list = append(*list, in)
	return in
}

// answered records the answer: what was asked for is in force from now on. A call that changes it, and has begun since, has ended it.
func (in *inForce[T]) answered(err error, now moment) {
	if err == nil {
		in.From = now
	}
}

// enqueue enqueues one or several jobs; leaves: the caller may leave before the answer. record records the answer.
func (c *cluster) enqueue(ctx context.Context, jobs []job, leaves bool) (record func(), err error) {
	requests, all := c.requests(jobs)
	for _, a := range all {
		a.Leaves = leaves
	}
	var answers []hourbell.Enqueued
	switch len(requests) {
	case 0:
		return func() {}, nil
	case 1:
		var one hourbell.Enqueued
		one, err = c.user.Enqueue(ctx, requests[0].Args, requests[0].Options...)
		answers = []hourbell.Enqueued{one}
	default:
		answers, err = c.user.EnqueueMany(ctx, requests)
	}
	return func() { c.record(all, answers, err) }, err
}

// requests returns the requests for jobs. It leaves out jobs that follow a job which the user does not know.
func (c *cluster) requests(jobs []job) (requests []hourbell.Request, all []*asked) {
	for _, j := range jobs {
		if options, known := c.options(j); known {
			requests = append(requests, hourbell.Request{Args: rawArgs(j.Kind, j.Label), Options: options})
			all = append(all, &asked{Job: j, At: c.moment()})
		}
	}
	c.witness.asked = append(c.witness.asked, all...)
	return requests, all
}

// record records the answers to requests.
func (c *cluster) record(all []*asked, answers []hourbell.Enqueued, err error) {
	for i, a := range all {
		a.Never = err != nil && !errors.Is(err, store.ErrUnknown) && strings.Contains(err.Error(), "was not stored")
		if a.Err, a.To = err, c.moment(); err == nil && c.witness.back.knows(a) {
			a.ID, a.Existed = answers[i].ID, answers[i].Existed
			c.ids[a.Job.Label] = a.ID
		}
	}
}

// enqueueBatch enqueues the jobs of an event as a batch, whose last job runs last.
func (c *cluster) enqueueBatch(ctx context.Context, e event) (record func(), err error) {
	last := e.Jobs[len(e.Jobs)-1]
	requests, all := c.requests(e.Jobs)
	finally := requests[len(requests)-1]
	res, err := c.user.EnqueueBatch(ctx, requests[:len(requests)-1], &hourbell.Finally{
		Args: finally.Args, Options: finally.Options, On: hourbell.FinallyAlways,
	})
	return func() {
		for _, a := range all {
			a.Batch, a.Last = last.Label, a.Job.Label == last.Label
		}
		c.record(all, append(res.Jobs, hourbell.Enqueued{ID: res.Finally}), err)
	}, err
}

// enqueueGraph enqueues jobs that follow each other.
func (c *cluster) enqueueGraph(ctx context.Context, jobs []job) (record func(), err error) {
	graph := hourbell.Graph{Jobs: map[string]hourbell.GraphJob{}}
	var all []*asked
	for _, j := range jobs {
		one := j
		one.After = nil
		options, _ := c.options(one)
		after := map[string]hourbell.GraphEdge{}
		for _, e := range j.After {
			if _, has := graph.Jobs[e.Of]; has { // the plan was not shortened by it
				after[e.Of] = hourbell.GraphEdge{On: e.On, Delay: e.Delay}
			}
		}
		graph.Jobs[j.Label] = hourbell.GraphJob{Args: rawArgs(j.Kind, j.Label), Options: options, After: after}
		all = append(all, &asked{Job: j, At: c.moment()})
	}
	c.witness.asked = append(c.witness.asked, all...)
	res, err := c.user.EnqueueGraph(ctx, graph)
	return func() {
		var answers []hourbell.Enqueued
		for _, j := range jobs {
			answers = append(answers, hourbell.Enqueued{ID: res.IDs[j.Label]})
		}
		c.record(all, answers, err)
	}, err
}

// calendar returns the calendar of an event as the client takes it.
func calendar(e event) hourbell.Calendar {
	c := hourbell.Calendar{Name: e.Name}
	c.Rules = []recur.Spec{recur.Cron(secondsOf(e.Seconds))}
	return c
}

// secondsOf returns the rule whose instants are some seconds of each minute.
func secondsOf(seconds []int) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(seconds), "[]")), ",") + " * * * * *"
}

// enqueueBadly enqueues a job whose input is wrong.
func (c *cluster) enqueueBadly(ctx context.Context, j job) error {
	c.witness.bad[j.Label] = true
	_, err := c.user.Enqueue(ctx, rawArgs(j.Kind, j.Label), hourbell.Queue(j.Queue), hourbell.Priority(12))
	var field *check.FieldError
	if !errors.As(err, &field) {
		c.witness.crash = append(c.witness.crash, fmt.Sprintf("a priority of 12 is answered by %v", err))
	}
	return err
}

// change changes a job by hand.
func (c *cluster) change(ctx context.Context, e event) error {
	id := c.ids[e.Name]
	if id == 0 {
		return nil
	}
	c.witness.changed[id] = true
	f := hourbell.JobFilter{IDs: []int64{id}}
	var err error
	switch e.Verb {
	case "cancel":
		_, err = c.user.Jobs.Cancel(ctx, f)
	case "retry":
		_, err = c.user.Jobs.Retry(ctx, f)
	case "delete":
		c.witness.deleted[id] = true
		_, err = c.user.Jobs.Delete(ctx, f)
	case moveJob:
		_, err = c.user.Jobs.Move(ctx, f, e.Of)
	case "reprioritise":
		_, err = c.user.Jobs.Reprioritise(ctx, f, 1+int(id%9))
	}
	return err
}

// pause pauses a subject.
func (c *cluster) pause(ctx context.Context, s subject) error {
	switch s.Of {
	case "queue":
		return c.user.Queues.Pause(ctx, s.Name, hourbell.Pause{})
	case "kind":
		return c.user.Kinds.Pause(ctx, s.Name, hourbell.Pause{})
	case "key":
		return c.user.Keys.Pause(ctx, s.Name, hourbell.Pause{})
	}
	return c.user.Groups.Pause(ctx, s.Name, hourbell.Pause{})
}

// resume ends the pause of a subject.
func (c *cluster) resume(ctx context.Context, s subject) (err error) {
	switch s.Of {
	case "queue":
		_, err = c.user.Queues.Resume(ctx, s.Name)
	case "kind":
		_, err = c.user.Kinds.Resume(ctx, s.Name)
	case "key":
		_, err = c.user.Keys.Resume(ctx, s.Name)
	default:
		_, err = c.user.Groups.Resume(ctx, s.Name)
	}
	return err
}

// options returns the options of a job; known is false if it follows a job that the user does not know.
func (c *cluster) options(j job) (options []hourbell.Option, known bool) {
	options = []hourbell.Option{hourbell.Queue(j.Queue), hourbell.MaxAttempts(j.MaxAttempts)}
	if j.Key != "" {
		options = append(options, hourbell.Key(j.Key))
	}
	if j.Group != "" {
		options = append(options, hourbell.Group(j.Group))
	}
	if j.Unique != "" {
		options = append(options, hourbell.Unique(j.Unique))
	}
	if j.UniqueFor != 0 {
		options = append(options, hourbell.UniqueFor(j.UniqueFor))
	}
	if j.Priority != 0 {
		options = append(options, hourbell.Priority(j.Priority))
	}
	if j.In != 0 {
		options = append(options, hourbell.In(j.In))
	}
	if j.FailOnLoss {
		options = append(options, hourbell.OnLoss(hourbell.FailOnLoss))
	}
	if j.Timeout != 0 {
		options = append(options, hourbell.Timeout(j.Timeout))
	}
	for _, e := range j.After {
		id := c.ids[e.Of]
		if id == 0 {
			return nil, false
		}
		options = append(options, hourbell.After(id, e.On, e.Delay))
	}
	if j.Any {
		options = append(options, hourbell.AfterAny())
	}
	return options, true
}

// schedule returns the schedule as the client takes it.
func (s *schedule) schedule() hourbell.Schedule {
	out := hourbell.Schedule{
		Name: s.Name, Job: rawArgs(s.Kind, s.Name), Overlap: s.Overlap, Misfire: s.Misfire, Group: s.Group,
		MaxAttempts: 4, Grace: s.Grace, Count: s.Count, On: s.On,
	}
	if s.Loss {
		out.OnLoss = hourbell.FailOnLoss
	}
	if s.Hooks {
		note := func(event string) hourbell.Args { return rawArgs(kindNote, event+" of "+s.Name) }
		out.Hooks = hourbell.Hooks{OnSuccess: note("success"), OnFailure: note("failure"), OnRetry: note("retry")}
	}
	if s.Excludes {
		out.Exclude = []hourbell.Calendar{hourbell.StoredCalendar(calendarName)}
	}
	switch {
	case s.After != "":
		out.After, out.Misfire = []hourbell.ScheduleEdge{{Schedule: s.After, On: store.OnEither}}, "" // they have no timetable
	case len(s.Seconds) > 0:
		out.Rule = recur.Cron(secondsOf(s.Seconds))
	default:
		out.Rule = recur.Every(s.Every)
	}
	return out
}

// before records what an event is about to change, when the user asks.
func (c *cluster) before(e event) {
	w, now := c.witness, c.moment()
	switch e.Verb {
	case "put":
		endInForce(w.halts, e.Sched.Name, same, now)
		endInForce(w.rules, *e.Sched, func(a, b schedule) bool { return a.Name == b.Name }, now)
		for _, name := range c.plan.namesOf(e.Sched.Name) {
			w.isPut(name, e.Sched)
		}
	case "resume schedule", "pause schedule":
		for _, name := range c.plan.namesOf(e.Name) {
			w.halted[name] = true
		}
		endInForce(w.halts, e.Name, same, now)
	case "delete schedule":
		for _, name := range c.plan.namesOf(e.Name) {
			w.every[name], w.halted[name] = 0, true
		}
		endInForce(w.halts, e.Name, same, now)
	case "cancel", "retry", "delete", "reprioritise", retryFrom:
		endInForce(w.cancels, c.ids[e.Name], same, now)
	case "limit":
		endInForce(w.limits, *e.Limit, sameLimit, now)
	case "end limit":
		endInForce(w.limits, hourbell.Limit{Name: e.Name}, sameLimit, now)
	case "handler", "end handler":
		endInForce(w.handlers, strings.TrimPrefix(e.Name, "of "), same, now)
	case "calendar":
		endInForce(w.calendars, nil, func(a, b []int) bool { return true }, now)
	case "pause", "resume":
		endInForce(w.pauses, subject{e.Of, e.Name}, same, now)
	}
	w.beforeByHand(c.plan, e, now)
}

// isPut records what a put, or an edit, of a schedule means for the slots of a name.
func (w *witness) isPut(name string, s *schedule) {
	w.halted[name] = w.halted[name] || s.Group != "" // with its group
	_, edited := w.follows[name]
	delete(w.skips, name)
	if !edited && s.After == "" && s.Misfire == hourbell.MisfireSkip {
		w.skips[name] = s.Grace
	}
	w.hooked[name] = s.Hooks
	w.follows[name] = s.After != ""
	w.alone[name] = !edited && s.After == "" && s.Overlap != hourbell.OverlapAllow
	w.every[name] = 0
	if !edited && s.After == "" && len(s.Seconds) == 0 {
		w.every[name] = s.Every
	}
}

// tidy ends what keeps work from coming to its end: schedules, and pauses.
func (c *cluster) tidy(ctx context.Context) {
	errs := []error{}
	list, err := c.user.Schedules.List(ctx, hourbell.ScheduleFilter{Limit: 1000})
	errs = append(errs, err)
	for _, s := range list {
		errs = append(errs, c.user.Schedules.Pause(ctx, []string{s.Name}))
	}
	paused := map[subject]bool{}
	for _, e := range c.plan.Events {
		if e.Verb == "pause" && !paused[subject{e.Of, e.Name}] {
			paused[subject{e.Of, e.Name}] = true
			c.before(event{Verb: "resume", Of: e.Of, Name: e.Name})
			errs = append(errs, c.resume(ctx, subject{e.Of, e.Name}))
		}
	}
	c.answered(ctx)
	if err := errors.Join(errs...); err != nil {
		c.witness.crash = append(c.witness.crash, fmt.Sprintf("tidy: %v", err))
	}
}
