package hourbell_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// newUnique returns a client of an empty store.
func newUnique(t *testing.T) *hourbell.Client {
	t.Helper()
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func order(args string) hourbell.RawArgs {
	return hourbell.RawArgs{Name: "order", JSON: []byte(args)}
}

func TestUniqueArgs(t *testing.T) {
	client := newUnique(t)
	enqueue := func(args hourbell.Args, options ...hourbell.Option) hourbell.Enqueued {
		t.Helper()
		job, err := client.Enqueue(t.Context(), args, options...)
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	first := enqueue(order(`{"a":1,"b":2}`), hourbell.UniqueArgs())
	if again := enqueue(order(`{ "b":2, "a":1 }`), hourbell.UniqueArgs()); !again.Existed || again.ID != first.ID {
		t.Errorf("equal args: %+v, want job %d", again, first.ID)
	}
	if other := enqueue(order(`{"a":1,"b":3}`), hourbell.UniqueArgs()); other.Existed {
		t.Errorf("other args: %+v", other)
	}
	if part := enqueue(order(`{"a":1,"b":2}`), hourbell.UniqueArgs("a")); part.Existed {
		t.Errorf("a part has another key than all: %+v", part)
	}
	if part := enqueue(order(`{"a":1,"b":9}`), hourbell.UniqueArgs("a")); !part.Existed {
		t.Errorf("an equal part: %+v", part)
	}
	if kind := enqueue(hourbell.RawArgs{Name: "other", JSON: []byte(`{"a":1,"b":2}`)}, hourbell.UniqueArgs()); kind.Existed {
		t.Errorf("another kind: %+v", kind)
	}
	job, err := client.Jobs.Get(t.Context(), first.ID)
	if err != nil || !strings.HasPrefix(job.Unique, "hourbell:args:") || len(job.Unique) > 200 {
		t.Errorf("the key is %q, %v", job.Unique, err)
	}
}

func TestUniqueArgsOfMany(t *testing.T) {
	client := newUnique(t)
	jobs, err := client.EnqueueMany(t.Context(), []hourbell.Request{
		{Args: order(`{"a":1}`)},
		{Args: order(`{"a":2}`)},
		{Args: order(`{"a":1}`)},
		{Args: order(`{"a":1}`), Options: []hourbell.Option{hourbell.Unique("own")}},
		{Args: order(`{"a":1}`), Options: []hourbell.Option{hourbell.UniqueArgs("a")}},
	}, hourbell.UniqueArgs())
	if err != nil {
		t.Fatal(err)
	}
	for i, existed := range []bool{false, false, true, false, false} {
		if jobs[i].Existed != existed {
			t.Errorf("job %d: %+v", i+1, jobs[i])
		}
	}
	if jobs[2].ID != jobs[0].ID {
		t.Errorf("equal args: %+v", jobs)
	}
}

func TestUniqueRefuses(t *testing.T) {
	client := newUnique(t)
	for field, options := range map[string][]hourbell.Option{
		"unique: hourbell:x":       {hourbell.Unique("hourbell:x")},
		"unique_args: ":            {hourbell.UniqueArgs("")},
		"unique_args: a..b":        {hourbell.UniqueArgs("a..b")},
		"unique_args: b is not":    {hourbell.UniqueArgs("b")},
		"unique_args: a is named":  {hourbell.UniqueArgs("a", "a")},
		"unique is given together": {hourbell.Unique("x"), hourbell.UniqueArgs()},
		"unique_for is given":      {hourbell.UniqueFor(time.Hour)},
		"unique_for: no time":      {hourbell.Unique("x"), hourbell.UniqueFor(0)},
		"unique_until is given":    {hourbell.UniqueUntilStart()},
		"unique_until is start":    {hourbell.Unique("x"), hourbell.UniqueUntilStart(), hourbell.UniqueFor(time.Hour)},
		"on_conflict is given":     {hourbell.OnConflict(hourbell.ReplaceOnConflict)},
		"on_conflict is unknown":   {hourbell.Unique("x"), hourbell.OnConflict(9)},
		"push_at_most is given":    {hourbell.Unique("x"), hourbell.PushAtMost(time.Hour)},
		"push_at_most: no time":    {hourbell.Unique("x"), hourbell.OnConflict(hourbell.RescheduleOnConflict), hourbell.PushAtMost(0)},
		"unique_for: out of range": {hourbell.Unique("x"), hourbell.UniqueFor(-time.Hour)},
	} {
		_, err := client.Enqueue(t.Context(), order(`{"a":1}`), options...)
		if err == nil {
			t.Errorf("%s: accepted", field)
			continue
		}
		t.Log(err)
		for word := range strings.FieldsSeq(strings.ReplaceAll(field, ":", " ")) {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
	if jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{}); err != nil || len(jobs) != 0 {
		t.Errorf("bad input stored %d jobs, %v", len(jobs), err)
	}
}

func TestOnConflict(t *testing.T) {
	client := newUnique(t)
	enqueue := func(args string, options ...hourbell.Option) (hourbell.Enqueued, error) {
		return client.Enqueue(t.Context(), order(args), append(options, hourbell.Unique("key"))...)
	}
	first, err := enqueue("1", hourbell.In(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		choice   store.OnConflict
		conflict store.Conflict
		args     string
	}{
		{hourbell.KeepOnConflict, store.ConflictKept, "1"},
		{hourbell.ReplaceOnConflict, store.ConflictReplaced, "2"},
		{hourbell.RescheduleOnConflict, store.ConflictRescheduled, "2"},
	} {
		job, err := enqueue("2", hourbell.OnConflict(want.choice), hourbell.In(2*time.Hour))
		if err != nil || job != (hourbell.Enqueued{ID: first.ID, Existed: true, Conflict: want.conflict}) {
			t.Errorf("%v: %+v, %v", want.choice, job, err)
		}
		if info, err := client.Jobs.Get(t.Context(), first.ID); err != nil || string(info.Args) != want.args {
			t.Errorf("%v: the args are %s, %v", want.choice, info.Args, err)
		}
	}
	_, err = enqueue("3", hourbell.OnConflict(hourbell.ErrorOnConflict))
	var duplicate *store.DuplicateError
	if !errors.Is(err, hourbell.ErrDuplicate) || !errors.As(err, &duplicate) || duplicate.ID != first.ID {
		t.Errorf("an error that names job %d: %v", first.ID, err)
	}
	_, err = client.EnqueueMany(t.Context(), []hourbell.Request{
		{Args: order("4")}, {Args: order("5"), Options: []hourbell.Option{hourbell.Unique("key"), hourbell.OnConflict(hourbell.ErrorOnConflict)}},
	})
	if !errors.As(err, &duplicate) || duplicate.Index != 1 {
		t.Errorf("an error that names the second job: %v", err)
	}
	if jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{}); err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs are stored, %v", len(jobs), err)
	}
}
