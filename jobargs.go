package hourbell

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/jsons"
	"github.com/hourbell/hourbell/store"
)

// ArgsCondition is a value in the arguments of a job.
type ArgsCondition struct {
	// Path leads to the value: names of fields and, in arrays, places from 0, separated by dots, such as customer or
	// order.items.0.sku.
	Path string // with Value and "=" at most 200 bytes
	// Value is the text that is there, the number as it is written there, true, false or null. An array has the value if an
	// element of the array is the value.
	//
	// The database finds jobs by what encoders of JSON never escape in a Value, such as ASCII letters and digits. Arguments in which
	// these are escaped nevertheless, as in \u0061 for a, are not found.
	Value string
}

// ParseArgsCondition reads a condition that is written as in customer=42. The error is a *check.FieldError of the field args.
func ParseArgsCondition(text string) (ArgsCondition, error) {
	path, value, found := strings.Cut(text, "=")
	c := ArgsCondition{path, value}
	if !found {
		return c, argsError(text, "has no value", "write the name of a field and its value, such as customer=42")
	}
	return c, c.validate()
}

func (c ArgsCondition) validate() error {
	text := c.Path + "=" + c.Value
	if slices.Contains(strings.Split(c.Path, "."), "") {
		return argsError(text, "has an empty name", "write names separated by dots, such as order.customer=42")
	}
	return check.StoredName("args", text)
}

func argsError(value, problem, remedy string) error {
	return &check.FieldError{Field: "args", Value: check.Shorten(value), Problem: problem, Remedy: remedy}
}

// meets reports whether a value that was decoded with json.Number, or a value in it, meets the condition.
func (c ArgsCondition) meets(value any) bool {
	for name := range strings.SplitSeq(c.Path, ".") {
		switch of := value.(type) {
		case map[string]any:
			inner, found := of[name]
			if !found {
				return false
			}
			value = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(of) {
				return false
			}
			value = of[i]
		default:
			return false
		}
	}
	if elements, is := value.([]any); is {
		return slices.ContainsFunc(elements, c.is)
	}
	return c.is(value)
}

// is reports whether a value is the text, number, truth or null of the condition.
func (c ArgsCondition) is(value any) bool {
	switch v := value.(type) {
	case string:
		return v == c.Value
	case json.Number:
		return v.String() == c.Value
	case bool:
		return strconv.FormatBool(v) == c.Value
	case nil:
		return c.Value == "null"
	}
	return false
}

// meetsArgs reports whether the arguments of a job meet the conditions of a filter.
func (f JobFilter) meetsArgs(j store.JobInfo) bool {
	args := j.Args
	if f.ShownArgs != nil {
		args = f.ShownArgs(j.Kind, args)
	}
	var value any
	if jsons.Numbers(args).Decode(&value) != nil {
		return false
	}
	return !slices.ContainsFunc(f.Args, func(c ArgsCondition) bool { return !c.meets(value) })
}

// argsText returns a text that arguments contain if they meet all conditions: the longest that no encoder escapes. It is empty if
// there is no such text.
func argsText(conditions []ArgsCondition) (longest string) {
	escapable := func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\/<>&'`, r) }
	consider := func(text string) {
		for _, part := range strings.FieldsFunc(text, escapable) {
			if len(part) > len(longest) {
				longest = part
			}
		}
	}
	for _, c := range conditions {
		consider(c.Value)
	}
	if longest != "" { // names of fields are in the arguments of most jobs of a kind
		return longest
	}
	for _, c := range conditions {
		for name := range strings.SplitSeq(c.Path, ".") {
			if _, err := strconv.Atoi(name); err != nil { // it may be a place in an array
				consider(name)
			}
		}
	}
	return longest
}

// argsRead is how many jobs are read at a time to look at their arguments.
const argsRead = 200

// matching yields the jobs that a request selects, and that meet the conditions of a filter on the arguments. If the time of
// the request is over, the last error is store.ErrSlow.
func (s *JobService) matching(ctx context.Context, f JobFilter, req store.ListJobsRequest) iter.Seq2[store.JobInfo, error] {
	return func(yield func(store.JobInfo, error) bool) {
		began, part := time.Now(), req
		part.Attempts, part.Limit = true, argsRead
		for {
			jobs, err := s.client.backend.ListJobs(ctx, part)
			for _, j := range jobs {
				if err != nil || !f.meetsArgs(j) {
					continue
				}
				if !req.Attempts {
					j.Args, j.Headers, j.After, j.Progress, j.Result, j.Attempts = nil, nil, nil, store.Progress{}, nil, nil
				}
				if !yield(j, nil) {
					return
				}
			}
			if err == nil && len(jobs) < argsRead {
				return
			}
			if err == nil && req.Within > 0 {
				if part.Within = req.Within - time.Since(began); part.Within <= 0 {
					err = store.ErrSlow
				}
			}
			if err != nil {
				yield(store.JobInfo{}, err)
				return
			}
			if last := jobs[len(jobs)-1].ID; req.OldestFirst {
				part.After = last
			} else {
				part.Before = last
			}
		}
	}
}

// listed reads the jobs that a request selects, and that meet the conditions of a filter on the arguments.
func (s *JobService) listed(ctx context.Context, f JobFilter, req store.ListJobsRequest) (jobs []store.JobInfo, err error) {
	if len(f.Args) == 0 {
		return s.client.backend.ListJobs(ctx, req)
	}
	for j, err := range s.matching(ctx, f, req) {
		if err != nil {
			return nil, err
		}
		if jobs = append(jobs, j); len(jobs) == req.Limit {
			break
		}
	}
	return jobs, nil
}

// counted counts the jobs that a request selects, and that meet the conditions of a filter on the arguments.
func (s *JobService) counted(ctx context.Context, f JobFilter, req store.CountJobsRequest) (n int64, err error) {
	if len(f.Args) == 0 {
		return s.client.backend.CountJobs(ctx, req)
	}
	list := store.ListJobsRequest{JobFilter: req.JobFilter, Now: req.Now, Before: req.Before, After: req.After, Within: req.Within}
	for _, err := range s.matching(ctx, f, list) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}
