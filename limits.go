package hourbell

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// Limit bounds how many jobs of its scope run at a time in the whole cluster, and how many start per interval. At least
// one bound is given: Concurrency, Rate, or both.
//
// The scope is a queue, a kind, or both, and with ByKey each key for itself: the jobs with the key "a" and the jobs with
// the key "b" do not count together, and jobs without a key are not limited. A limit by key with a Concurrency of 1
// runs the jobs of a key one after the other. A job that several limits concern starts when all of them allow it.
type Limit struct {
	Name string // 1 to 200 bytes
	// Owner is the label of the file or program that declares the limit, as of a schedule; empty: none.
	Owner string
	// Queue and Kind are the scope, if they are not empty: jobs of this queue, jobs of this kind. ByKey limits each
	// key for itself (see the option Key). At least one of the three is given.
	Queue, Kind string
	ByKey       bool
	// Concurrency is how many jobs run at a time, at most 1,000,000; 0: no bound.
	Concurrency int
	// Rate is how many jobs start per interval, of each key with ByKey; zero: no bound.
	Rate Rate
	// Burst is how many jobs start at once after a rest, at most 1,000,000; 0 means 1. Only with a Rate.
	Burst int
	// Weights multiply Concurrency for some keys, by key: 1 to 1000 for at most 1,000 keys; other keys have the weight
	// 1. Only with ByKey and Concurrency.
	Weights map[string]int
	// Strict lets a job whose attempt failed keep its permit until its next attempt, so that no later job of its
	// key overtakes it; a job that is also under a rate keeps none. Only with a Concurrency and without a Rate, and not for a limit
	// of a whole queue.
	Strict bool
}

// Rate is a number of jobs per interval. The zero value is no rate.
type Rate struct {
	Jobs int           // 1 to 1,000,000
	Per  time.Duration // 1 ms to 365 days
}

// The greatest values of a limit.
const (
	maxLimit   = 1_000_000
	maxWeight  = 1000
	maxRatePer = 365 * 24 * time.Hour
)

// String returns the rate as ParseRate reads it; empty for the zero value.
func (r Rate) String() string {
	if r == (Rate{}) {
		return ""
	}
	return store.RateText(r.Jobs, r.Per)
}

// ParseRate reads a rate: a number of jobs and an interval, as in 10/s, 100/m or 5000/24h. The error is a
// *check.FieldError.
func ParseRate(text string) (Rate, error) {
	jobs, per, found := strings.Cut(text, "/")
	wrong := &check.FieldError{
		Field: "rate", Value: check.Shorten(text), Problem: "is not a rate",
		Remedy: "write a number of jobs and an interval, as in 10/s, 100/m or 5000/24h",
	}
	n, err := strconv.Atoi(jobs)
	if !found || err != nil {
		return Rate{}, wrong
	}
	if per != "" && strings.Trim(per, "0123456789") == per {
		per = "1" + per
	}
	d, err := time.ParseDuration(per)
	if err != nil {
		return Rate{}, wrong
	}
	rate := Rate{Jobs: n, Per: d}
	return rate, rate.validate(check.Shorten(text))
}

// validate returns what is wrong with the rate, which was written as text.
func (r Rate) validate(text string) error {
	if r == (Rate{}) || r.Jobs > 0 && r.Jobs <= maxLimit && r.Per >= time.Millisecond && r.Per <= maxRatePer && r.Per/time.Duration(r.Jobs) >= time.Microsecond {
		return nil
	}
	return &check.FieldError{
		Field: "rate", Value: text, Problem: "is out of range",
		Remedy: "use 1 to 1000000 jobs per interval from 1ms to 8760h, and at most one job per microsecond",
	}
}

// Validate returns everything that is wrong with the limit, together a *InvalidError, or
// nil. It needs no store.
func (l Limit) Validate() error {
	errs := []error{
		check.Name("name", l.Name), checkIfGivenName("owner", l.Owner), checkIfGivenName("queue", l.Queue),
		checkIfGivenName("kind", l.Kind), l.Rate.validate(l.Rate.String()),
		wrongIf(l.Queue == "" && l.Kind == "" && !l.ByKey, "queue", "", "is missing: the limit would concern all jobs",
			"give a queue, a kind, or that it limits each key"),
	}
	errs = append(errs, l.checkBounds()...)
	errs = append(errs, l.checkWeights()...)
	errs = append(errs, l.checkStrict()...)
	return check.Join(errs...)
}

// wrongIf returns an error about a field if a condition holds.
func wrongIf(is bool, field, value, problem, remedy string) error {
	if !is {
		return nil
	}
	return &check.FieldError{Field: field, Value: value, Problem: problem, Remedy: remedy}
}

// checkBounds checks the concurrency and the burst.
func (l Limit) checkBounds() []error {
	return []error{
		wrongIf(l.Concurrency == 0 && l.Rate == (Rate{}), "concurrency", "", "is missing: the limit would bound nothing", "give a concurrency, a rate, or both"),
		wrongIf(l.Concurrency < 0 || l.Concurrency > maxLimit, "concurrency", strconv.Itoa(l.Concurrency), "is out of range", "use 1 to 1000000"),
		wrongIf(l.Burst < 0 || l.Burst > maxLimit, "burst", strconv.Itoa(l.Burst), "is out of range", "use 1 to 1000000"),
		wrongIf(l.Burst != 0 && l.Rate == (Rate{}), "burst", strconv.Itoa(l.Burst), "is given without a rate", "give a rate, or leave the burst out"),
	}
}

// checkWeights checks the weights of keys.
func (l Limit) checkWeights() []error {
	errs := []error{
		wrongIf(len(l.Weights) > 0 && (!l.ByKey || l.Concurrency == 0), "weights", "",
			"are given for a limit without a concurrency of each key", "limit each key, with a concurrency, or leave the weights out"),
		wrongIf(len(l.Weights) > store.MaxWeights, "weights", "", fmt.Sprintf("are given for %d keys", len(l.Weights)),
			fmt.Sprintf("use at most %d; other keys have the weight 1", store.MaxWeights)),
	}
	for key, weight := range l.Weights {
		errs = append(errs, check.Name("weights", key),
			wrongIf(weight < 1 || weight > maxWeight, "weights", fmt.Sprintf("%s=%d", check.Shorten(key), weight),
				"is out of range", fmt.Sprintf("use a weight from 1 to %d", maxWeight)))
	}
	return errs
}

// checkStrict checks whether jobs can keep their permits.
func (l Limit) checkStrict() []error {
	whole := l.Queue != "" && l.Kind == "" && !l.ByKey
	return []error{
		wrongIf(l.Strict && (l.Concurrency == 0 || whole), "strict", "", "is given for a limit whose jobs keep no permit",
			"give a concurrency, and a kind or that it limits each key, or leave strict out"),
		wrongIf(l.Strict && !whole && l.Rate != (Rate{}), "strict", "", "is given with a rate, under which each attempt needs a start",
			"leave strict or the rate out"),
	}
}

// checkIfGivenName checks a name that may be empty.
func checkIfGivenName(field, name string) error {
	if name == "" {
		return nil
	}
	return check.Name(field, name)
}

// row returns the limit as a driver stores it.
func (l Limit) row() store.Limit {
	row := store.Limit{
		Name: l.Name, Owner: l.Owner, Queue: l.Queue, Kind: l.Kind, ByKey: l.ByKey, Concurrency: l.Concurrency, Rate: l.Rate.Jobs,
		Per: l.Rate.Per.Truncate(time.Microsecond), Weights: l.Weights, Strict: l.Strict,
	}
	if row.Rate > 0 {
		row.Burst = cmp.Or(l.Burst, 1)
	}
	return row
}

// LimitInfo is a limit of the store with what it holds at present. The counts are a snapshot.
type LimitInfo struct {
	Limit
	// Revision changes with the limit, always to a greater number.
	Revision             int64
	CreatedAt, UpdatedAt time.Time
	// InUse is how many permits are in use: of jobs that run or may start at once or, for a limit of a whole queue,
	// of nodes.
	InUse int64
	// Waiting is how many due jobs wait for a permit, at most store.MostCounted. For a limit of a whole queue it is how many
	// due jobs of the queue no node has taken.
	Waiting int64
	// Keys is how many keys have permits in use or waiting jobs, with ByKey.
	Keys int64
	// Fullest are the keys with the most waiting jobs, then with the most permits in use. Get returns 100, List returns 10.
	Fullest []KeyUse
}

// KeyUse is what a limit holds for one key; the key of a limit that is not by key is empty.
type KeyUse struct {
	Key     string
	InUse   int64
	Most    int       // Concurrency times the weight of the key; 0: no bound
	Waiting int64     // at most store.MostCounted
	Until   time.Time // no job of the key starts before, because a worker asked for it; zero: no such instant
}

// LimitService keeps the limits of the store: Client.Limits. Concurrent calls are allowed.
type LimitService struct{ client *Client }

// Put creates or replaces a limit. When Put has returned, no node takes a job by the earlier
// limit. Jobs that run go on: a lower Concurrency holds from when enough of them have ended. If ifRevision is not 0, the call
// is refused (ErrConflict) if the limit was changed after that revision was read; OnlyNew: if a limit has the name. A store has at most 200 limits;
// a limit by key counts once.
func (s *LimitService) Put(ctx context.Context, limit Limit, ifRevision int64) (saved Saved[Limit], err error) {
	if err := limit.Validate(); err != nil {
		return saved, fmt.Errorf("put limit %q: %w", check.Shorten(limit.Name), err)
	}
	row := limit.row()
	res, err := s.client.backend.Put(ctx, store.PutRequest{Limits: []store.PutLimit{{Limit: row, IfRevision: ifRevision}}, By: s.client.actor(ctx)})
	if err != nil {
		return saved, puttingOne("limit", limit.Name, err)
	}
	return Saved[Limit]{newLimitInfo(store.LimitInfo{Limit: row}).Limit, res.Revisions[0], res.Changed > 0}, nil
}

// The numbers of keys that are listed for a limit.
const (
	listedKeys = 10
	shownKeys  = 100
)

// List returns all limits, by name in byte order.
func (s *LimitService) List(ctx context.Context) ([]LimitInfo, error) {
	return s.list(ctx, store.ListRequest{Lanes: listedKeys})
}

// Get returns the limit with that name, or ErrNotFound.
func (s *LimitService) Get(ctx context.Context, name string) (LimitInfo, error) {
	if err := check.StoredName("name", name); err != nil {
		return LimitInfo{}, fmt.Errorf("read limit: %w", err)
	}
	found, err := s.list(ctx, store.ListRequest{Names: []string{name}, Lanes: shownKeys})
	if err != nil {
		return LimitInfo{}, err
	}
	if len(found) == 0 {
		return LimitInfo{}, fmt.Errorf("limit %q: %w", name, ErrNotFound)
	}
	return found[0], nil
}

func (s *LimitService) list(ctx context.Context, req store.ListRequest) ([]LimitInfo, error) {
	rows, err := store.List[store.LimitInfo](ctx, s.client.backend, req)
	if err != nil {
		return nil, calling("list limits", err)
	}
	return converted(rows, newLimitInfo), nil
}

func newLimitInfo(row store.LimitInfo) LimitInfo {
	l := row.Limit
	info := LimitInfo{
		Limit: Limit{
			Name: l.Name, Owner: l.Owner, Queue: l.Queue, Kind: l.Kind, ByKey: l.ByKey, Concurrency: l.Concurrency, Burst: l.Burst,
			Weights: l.Weights, Strict: l.Strict,
		},
		Revision: l.Revision, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt, InUse: row.InUse, Waiting: row.Waiting,
	}
	if l.Rate > 0 {
		info.Rate = Rate{Jobs: l.Rate, Per: l.Per}
	}
	if l.ByKey {
		info.Keys = row.Keys
	}
	for _, lane := range row.Lanes {
		info.Fullest = append(info.Fullest, KeyUse{Key: lane.Key, InUse: lane.InUse, Most: l.Width(lane.Key), Waiting: lane.Waiting, Until: lane.Until})
	}
	return info
}

// Delete deletes limits, all or none; ErrNotFound for a name that does not exist. Jobs that waited for a permit can start.
func (s *LimitService) Delete(ctx context.Context, names ...string) error {
	return s.remove(ctx, names, 0)
}

// DeleteIf is Delete of one limit, if it still has a revision (LimitInfo.Revision); ErrConflict otherwise. 0: any revision.
func (s *LimitService) DeleteIf(ctx context.Context, name string, revision int64) error {
	return s.remove(ctx, []string{name}, revision)
}

func (s *LimitService) remove(ctx context.Context, names []string, ifRevision int64) error {
	for _, name := range names {
		if err := check.StoredName("name", name); err != nil {
			return fmt.Errorf("delete limit: %w", err)
		}
	}
	req := store.DeleteRequest{Of: store.OfLimits, Names: names, IfRevision: ifRevision, By: s.client.actor(ctx)}
	return s.client.backend.Delete(ctx, req) // it names the call
}

// Limits gives Sync, SyncCopy and PutAll of schedules the limits of the owner, in the same transaction: Sync also deletes the owner's
// other limits. Owner of the limits is the owner of the call. Not together with InTx.
func Limits(limits ...Limit) Option {
	return func(e *enqueuing) {
		e.given |= optLimits
		if limits == nil {
			limits = []Limit{}
		}
		e.limits = limits
	}
}

// limitRows checks the limits of an owner and returns them as a driver stores them.
func limitRows(limits []Limit) ([]store.Limit, error) {
	rows := []store.Limit{} // not nil, which would leave the owner's limits as they are
	seen := map[string]bool{}
	var errs []error
	for _, limit := range limits {
		if err := limit.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("limit %q: %w", check.Shorten(limit.Name), err))
		}
		if seen[limit.Name] {
			errs = append(errs, &check.FieldError{
				Field: "limits", Value: check.Shorten(limit.Name), Problem: "is given twice",
				Remedy: "give each limit a name of its own",
			})
		}
		seen[limit.Name] = true
		rows = append(rows, limit.row())
	}
	return rows, check.Join(errs...)
}
