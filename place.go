package hourbell

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/fire"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Place selects the nodes that run the jobs of a schedule. At most one of Host and Label is given, and Host only without Every;
// the zero value is any node.
//
// The jobs of a place have a queue of their own, whose name is the name of the schedule's queue, @, and the host or the
// label. A node with the queue serves the queues of its host and of its labels too, each with as many workers. The jobs of
// hooks are not part of the place: any node that has the schedule's queue runs them.
//
// The slots of a place are left to its nodes. If none of them lives, a slot is missed, or made up for, as if no node lived.
//
// A schedule with Every has no slots and no jobs of its own. Each host has a schedule that is made from it, whose name is its
// name, @ and the host, and whose place is the host: with slots, a mark, overlaps, failures and pauses of its own. Nodes and
// this client keep these schedules equal to the schedule with Every; see ScheduleService.OnHosts. A host is expected, and its slots
// are accounted for, for eight days after its last node ended, or until NodeService.Forget. Count counts instants of the rule from
// the anchor on, whether or not they fire on a host.
type Place struct {
	// Host is the name of a host: nodes with this Config.Host.
	Host string
	// Label is a label, KEY=VALUE: one of the nodes that have it among Config.Labels; with Every, each host that has such nodes.
	Label string
	// Every is each host.
	Every bool
}

const (
	anyPlace   = "one"
	hostPlace  = "host"
	labelPlace = "label"
	everyPlace = "every"
)

// IsZero reports whether the place is any node.
func (p Place) IsZero() bool { return p == Place{} }

// String returns the place as ParsePlace reads it.
func (p Place) String() string {
	switch {
	case p.Every && p.Label != "":
		return everyPlace + ":" + labelPlace + "=" + p.Label
	case p.Every:
		return everyPlace
	case p.Host != "":
		return hostPlace + "=" + p.Host
	case p.Label != "":
		return labelPlace + "=" + p.Label
	}
	return anyPlace
}

// ParsePlace reads a place: one (any node), every (each host), host=NAME, label=KEY=VALUE or every:label=KEY=VALUE. The error is a
// *check.FieldError.
func ParsePlace(text string) (Place, error) {
	sort, value, _ := strings.Cut(text, "=")
	switch {
	case text == everyPlace:
		return Place{Every: true}, nil
	case sort == everyPlace+":"+labelPlace:
		return Place{Every: true, Label: value}, check.Label("on", value)
	case text == anyPlace:
		return Place{}, nil
	case sort == hostPlace:
		return Place{Host: value}, check.Host("on", value)
	case sort == labelPlace:
		return Place{Label: value}, check.Label("on", value)
	}
	return Place{}, &check.FieldError{
		Field: "on", Value: check.Shorten(text), Problem: "is not a place",
		Remedy: "write one, every, host=NAME, label=KEY=VALUE or every:label=KEY=VALUE",
	}
}

// mostWithHost is the greatest length, in bytes, of the name of a schedule or a queue to which the name of any host can be added.
const mostWithHost = 136

// checkOn returns what is wrong with the place of the schedule.
func (s Schedule) checkOn() error {
	p := s.On
	if !p.Every {
		return p.check(s.Queue)
	}
	switch {
	case p.Host != "":
		return &check.FieldError{Field: "on", Problem: "is every host and a host", Remedy: "give one of them"}
	case len(s.Name) > mostWithHost:
		return &check.FieldError{
			Field: "name", Value: check.Shorten(s.Name),
			Problem: "is too long for a schedule on every host",
			Remedy:  fmt.Sprintf("use a name of at most %d bytes, because the name of the host is added", mostWithHost),
		}
	case s.Count > plan.MaxInstants:
		return &check.FieldError{
			Field: "count", Value: fmt.Sprint(s.Count),
			Problem: "is too great for a schedule on every host, whose instants are counted",
			Remedy:  fmt.Sprintf("give at most %d, or an end with stop", plan.MaxInstants),
		}
	case len(s.Queue) > mostWithHost:
		return &check.FieldError{
			Field: "queue", Value: check.Shorten(s.Queue),
			Problem: "is too long for a schedule on every host", Remedy: fmt.Sprintf("use a name of at most %d bytes", mostWithHost),
		}
	case p.Label != "":
		return check.Label("on", p.Label)
	}
	return nil
}

// check returns what is wrong with a place without Every of a schedule with this queue.
func (p Place) check(queue string) error {
	switch {
	case p.IsZero():
		return nil
	case p.Host != "" && p.Label != "":
		return &check.FieldError{Field: "on", Problem: "has a host and a label", Remedy: "give one of them"}
	case p.Host != "":
		if err := check.Host("on", p.Host); err != nil {
			return err
		}
	default:
		if err := check.Label("on", p.Label); err != nil {
			return err
		}
	}
	if check.Name("queue", plan.Place(p).Queue(queue)) != nil && check.Name("queue", queue) == nil {
		return &check.FieldError{
			Field: "queue", Value: check.Shorten(queue),
			Problem: "is too long for a schedule with a place", Remedy: "use a name of at most 72 bytes",
		}
	}
	return nil
}

// OnHosts returns the schedules of hosts that are made from a schedule on every host, by name: On.Host is the host. The result is
// empty for any other schedule.
func (s *ScheduleService) OnHosts(ctx context.Context, name string) ([]ScheduleInfo, error) {
	if err := check.StoredName("name", name); err != nil {
		return nil, fmt.Errorf("read the schedules of hosts: %w", err)
	}
	owner := store.EveryOwner(name)
	req := store.ListRequest{Owner: &owner, Limit: maxPage}
	var all []ScheduleInfo
	for {
		page, err := s.list(ctx, req)
		if err != nil {
			return nil, fmt.Errorf("read the schedules of hosts: %w", err)
		}
		if all = append(all, page...); len(page) < req.Limit {
			return all, nil
		}
		req.After = page[len(page)-1].Name
	}
}

// ofHosts returns the conditions of a filter on a schedule: its name, or, if it is on every host, hostsOf, which also selects what belongs
// to the schedules of hosts. An empty name is no condition.
func (c *Client) ofHosts(ctx context.Context, name string) (schedule, hostsOf string, err error) {
	if name == "" {
		return "", "", nil
	}
	rows, err := c.settler(nil).Find(ctx, []string{name})
	if err != nil {
		return "", "", err
	}
	if row := rows[name]; row != nil && plan.Spreads(row.Definition) {
		return "", name, nil
	}
	return name, "", nil
}

// maxPage is how many rows one call reads that needs all of them.
const maxPage = 1000

// TriggerAll is Trigger for a schedule that may be on every host: it makes a job for each host, by the names of the hosts, all or
// none. For any other schedule it makes one job.
func (s *ScheduleService) TriggerAll(ctx context.Context, name string, options ...Option) ([]int64, error) {
	tx, err := onlyTx(options)
	if err != nil {
		return nil, fmt.Errorf("trigger: %w", err)
	}
	if err := s.client.checkTx(tx); err != nil {
		return nil, fmt.Errorf("trigger schedule %q: %w", check.Shorten(name), err)
	}
	id, definition, err := s.triggered(ctx, tx, name)
	if err != nil {
		return nil, err
	}
	jobs := []store.NewJob{definition.Job(id, store.OriginTrigger)}
	if definition.On.Every {
		if jobs, err = s.triggeredOnHosts(ctx, tx, name); err != nil {
			return nil, fmt.Errorf("trigger schedule %q: %w", name, err)
		}
	}
	req := insertRequest(tx, jobs)
	req.By, req.Of = s.client.actor(ctx), name
	inserted, err := s.client.insert(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("trigger schedule %q: %w", check.Shorten(name), err)
	}
	return inserted.IDs(), nil
}

// triggeredOnHosts returns a job for each host of a schedule on every host.
func (s *ScheduleService) triggeredOnHosts(ctx context.Context, tx store.Tx, name string) (jobs []store.NewJob, err error) {
	rows, err := s.client.settler(tx).OnHosts(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		d, err := plan.DecodeDefinition(row.Definition)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, d.Job(row.ID, store.OriginTrigger))
	}
	if len(jobs) == 0 {
		return nil, errors.New("it is on every host, and has no host yet; start a node, and trigger it again")
	}
	return jobs, nil
}

// onEveryHost returns the error of a call for one schedule about a schedule on every host.
func (s Schedule) onEveryHost(remedy string) error {
	return &check.FieldError{Field: "schedule", Value: check.Shorten(s.Name), Problem: "is on every host", Remedy: remedy}
}

// spread gives hosts their schedules after schedules were put. Where a schedule was on every host before and is not now, it deletes
// the schedules of the hosts. In a caller's transaction the hosts get their schedules from a node, after the commit.
func (s *ScheduleService) spread(ctx context.Context, tx store.Tx, edited []string, every func(name string) bool) error {
	if len(edited) == 0 {
		return nil
	}
	settler := s.client.settler(tx)
	if tx != nil {
		return s.deleteOnHosts(ctx, settler, slices.DeleteFunc(slices.Clone(edited), every))
	}
	known, err := s.known(ctx, edited)
	if err != nil {
		return err
	}
	var names, changed []string
	for _, name := range edited {
		if known[name] || every(name) {
			names = append(names, name)
		}
		if known[name] != every(name) {
			changed = append(changed, name)
		}
	}
	if len(changed) > 0 {
		followers, err := s.followersOnHosts(ctx, changed)
		if err != nil {
			return fmt.Errorf("the change is made; for each host: %w", err)
		}
		names = append(names, followers...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return s.spreadNow(ctx, settler, names)
}

// known returns which schedules are, or were, on every host before an edit.
func (s *ScheduleService) known(ctx context.Context, edited []string) (map[string]bool, error) {
	found := map[string]bool{}
	for part := range slices.Chunk(edited, maxPage) {
		owners := make([]string, len(part))
		for i, name := range part {
			owners[i] = store.EveryOwner(name)
		}
		rows, err := store.List[store.Owner](ctx, s.client.backend, store.ListRequest{Names: owners, Limit: len(owners)})
		if err != nil {
			return nil, err
		}
		for _, owner := range rows {
			found[store.EveryOf(owner.Name)] = true
		}
	}
	return found, nil
}

// deleteOnHosts deletes, in a caller's transaction, the schedules that hosts have from schedules of these names.
func (s *ScheduleService) deleteOnHosts(ctx context.Context, settler fire.Settler, names []string) error {
	for _, name := range names {
		rows, err := settler.OnHosts(ctx, name)
		if err != nil {
			return err
		}
		gone := scheduleNames(rows)
		req := store.ChangeSchedulesRequest{Tx: settler.Tx, Action: store.DeleteSchedules, Names: gone}
		err = settler.Change(ctx, gone, func() ([]string, error) { return gone, s.client.backend.ChangeSchedules(ctx, req) })
		if err != nil {
			return err
		}
	}
	return nil
}

func scheduleNames(rows []store.Schedule) []string {
	return converted(rows, func(row store.Schedule) string { return row.Name })
}

// spreadNow spreads schedules.
func (s *ScheduleService) spreadNow(ctx context.Context, settler fire.Settler, names []string) error {
	problems, err := settler.Spread(ctx, names)
	if err != nil {
		return fmt.Errorf("the change is made; for each host: %w", err)
	}
	var errs []error
	if err := settler.AwaitHosts(ctx, names); err != nil {
		errs = append(errs, err)
	}
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		errs = append(errs, fmt.Errorf("the change of schedule %q is made; for each host: %w", name, problems[name]))
	}
	return errors.Join(errs...)
}

// followersOnHosts returns the schedules on every host that follow one of these schedules, which have begun or ceased to be on every
// host: the schedules of their hosts then follow other schedules. It reads all schedules.
func (s *ScheduleService) followersOnHosts(ctx context.Context, names []string) (followers []string, err error) {
	req := store.ListRequest{Limit: maxPage}
	for {
		rows, err := store.List[store.Schedule](ctx, s.client.backend, req)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if !plan.Spreads(row.Definition) || slices.Contains(names, row.Name) {
				continue
			}
			d, err := plan.DecodeDefinition(row.Definition)
			if err == nil && slices.ContainsFunc(d.Predecessors(), func(name string) bool { return slices.Contains(names, name) }) {
				followers = append(followers, row.Name)
			}
		}
		if len(rows) < req.Limit {
			return followers, nil
		}
		req.After = rows[len(rows)-1].Name
	}
}

// checkCircle refuses schedules on every host that would follow each other in a circle, also by way of other schedules. The store
// refuses all other circles; it has no edges of schedules on every host, only of the schedules of their hosts.
func (s *ScheduleService) checkCircle(ctx context.Context, tx store.Tx, names []string, definitions []plan.Definition) error {
	edges := map[string][]string{}
	var from, next []string
	for i, d := range definitions {
		if edges[names[i]] = d.Predecessors(); d.Follows() {
			from, next = append(from, names[i]), append(next, d.Predecessors()...)
		}
	}
	for {
		next = slices.DeleteFunc(next, func(name string) bool { _, known := edges[name]; return known })
		if len(next) == 0 {
			return store.CheckCycle(edges, from)
		}
		rows, err := s.client.settler(tx).Find(ctx, next)
		if err != nil {
			return err
		}
		for _, name := range next {
			edges[name] = nil
		}
		next = nil
		for name, row := range rows {
			if d, err := plan.DecodeDefinition(row.Definition); err == nil {
				edges[name] = d.Predecessors()
				next = append(next, edges[name]...)
			}
		}
	}
}

// withHosts returns the names of schedules that are to be changed, with the names of the schedules of hosts for each schedule on
// every host. every has the schedules on every host. The deletion of the schedule of one host is refused, because the schedule
// would come back.
func (s *ScheduleService) withHosts(ctx context.Context, tx store.Tx, action store.ScheduleAction, names []string) (all, every []string, err error) {
	settler := s.client.settler(tx)
	rows, err := settler.Find(ctx, names)
	if err != nil {
		return nil, nil, err
	}
	all = slices.Clone(names)
	for _, name := range names {
		row := rows[name]
		switch {
		case row == nil: // the store refuses it
		case plan.Spreads(row.Definition):
			hosts, err := settler.OnHosts(ctx, name)
			if err != nil {
				return nil, nil, err
			}
			all, every = append(all, scheduleNames(hosts)...), append(every, name)
		case action == store.DeleteSchedules && !slices.Contains(names, store.EveryOf(row.Owner)):
			if err := refuseOfHost(ctx, settler, row); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(every) > 0 {
		slices.Sort(all)
		all = slices.Compact(all)
	}
	return all, every, nil
}

// refuseOfHost returns an error if a schedule belongs to a schedule on every host.
func refuseOfHost(ctx context.Context, settler fire.Settler, row *store.Schedule) error {
	every := store.EveryOf(row.Owner)
	if every == "" {
		return nil
	}
	of, err := settler.Find(ctx, []string{every})
	if err != nil || len(of) == 0 {
		return err
	}
	return &check.FieldError{
		Field: "schedule", Value: check.Shorten(row.Name), Problem: "is made from a schedule on every host, and would come back",
		Remedy: fmt.Sprintf("delete schedule %q, pause this schedule, or forget the host with hourbell nodes forget", check.Shorten(every)),
	}
}
