package hourbell_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// everyOption has every option of the package, with a value that is the default where there is such a value.
var everyOption = map[string]hourbell.Option{
	"After":            hourbell.After(1, hourbell.OnSuccess, 0),
	"AfterAny":         hourbell.AfterAny(),
	"At":               hourbell.At(time.Unix(0, 0)),
	"Backoff":          hourbell.Backoff("default"),
	"DryRun":           hourbell.DryRun(),
	"EachBatch":        hourbell.EachBatch(nil),
	"FromStep":         hourbell.FromStep("s"),
	"Group":            hourbell.Group("g"),
	"In":               hourbell.In(0),
	"InBatch":          hourbell.InBatch(1),
	"InTx":             hourbell.InTx(struct{ store.Tx }{}),
	"Key":              hourbell.Key("k"),
	"Limits":           hourbell.Limits(),
	"MaxAttempts":      hourbell.MaxAttempts(25),
	"NotifyInTx":       hourbell.NotifyInTx(),
	"OnConflict":       hourbell.OnConflict(hourbell.KeepOnConflict),
	"OnLoss":           hourbell.OnLoss(hourbell.RetryOnLoss),
	"OutliveParent":    hourbell.OutliveParent(),
	"Priority":         hourbell.Priority(5),
	"PushAtMost":       hourbell.PushAtMost(time.Second),
	"Queue":            hourbell.Queue("default"),
	"RunOnStart":       hourbell.RunOnStart(),
	"Timeout":          hourbell.Timeout(0),
	"Unique":           hourbell.Unique("u"),
	"UniqueArgs":       hourbell.UniqueArgs(),
	"UniqueFor":        hourbell.UniqueFor(time.Second),
	"UniqueUntilStart": hourbell.UniqueUntilStart(),
}

// TestEveryOptionIsListed finds the functions of the package that return an option.
func TestEveryOptionIsListed(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Type.Results == nil || len(f.Type.Results.List) != 1 {
				continue
			}
			if result, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && result.Name == "Option" {
				found++
				if everyOption[f.Name.Name] == nil {
					t.Errorf("everyOption lacks %s", f.Name.Name)
				}
			}
		}
	}
	if found != len(everyOption) {
		t.Errorf("the package has %d options, and everyOption %d", found, len(everyOption))
	}
}

// TestOptionsOfOtherCalls passes each option to each kind of call: a call that does not take the option refuses it,
// whatever its value is.
func TestOptionsOfOtherCalls(t *testing.T) {
	t.Parallel()
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	schedule := hourbell.Schedule{Name: "s", Rule: recur.Cron("@daily"), Job: hourbell.RawArgs{Name: "k"}}
	job := hourbell.RawArgs{Name: "k"}
	enqueue := strings.Fields("After AfterAny At Backoff Group In Key MaxAttempts OnConflict OnLoss Priority PushAtMost Queue Timeout Unique UniqueArgs UniqueFor UniqueUntilStart")
	forCall := append(slices.Clone(enqueue), "InBatch", "InTx", "NotifyInTx")
	change := []string{"InTx", "DryRun", "EachBatch"}
	inTx := []string{"InTx"}
	ids := hourbell.JobFilter{IDs: []int64{}}
	calls := map[string]struct {
		takes []string
		call  func(o hourbell.Option) error
	}{
		"Enqueue": {forCall, func(o hourbell.Option) error { _, err := client.Enqueue(ctx, job, o); return err }},
		"EnqueueMany": {forCall, func(o hourbell.Option) error {
			_, err := client.EnqueueMany(ctx, []hourbell.Request{{Args: job}}, o)
			return err
		}},
		"EnqueueBatch": {forCall, func(o hourbell.Option) error {
			_, err := client.EnqueueBatch(ctx, []hourbell.Request{{Args: job}}, nil, o)
			return err
		}},
		"EnqueueGraph": {forCall, func(o hourbell.Option) error {
			_, err := client.EnqueueGraph(ctx, hourbell.Graph{Jobs: map[string]hourbell.GraphJob{"a": {Args: job}}}, o)
			return err
		}},
		"Request of EnqueueMany": {enqueue, func(o hourbell.Option) error {
			_, err := client.EnqueueMany(ctx, []hourbell.Request{{Args: job, Options: []hourbell.Option{o}}})
			return err
		}},
		"Finally": {enqueue, func(o hourbell.Option) error {
			_, err := client.EnqueueBatch(ctx, []hourbell.Request{{Args: job}}, &hourbell.Finally{Args: job, Options: []hourbell.Option{o}})
			return err
		}},
		"GraphJob": {enqueue, func(o hourbell.Option) error {
			_, err := client.EnqueueGraph(ctx, hourbell.Graph{Jobs: map[string]hourbell.GraphJob{"a": {Args: job, Options: []hourbell.Option{o}}}})
			return err
		}},
		"Jobs.Cancel":       {change, func(o hourbell.Option) error { _, err := client.Jobs.Cancel(ctx, ids, o); return err }},
		"Jobs.Retry":        {append(slices.Clone(change), "FromStep"), func(o hourbell.Option) error { _, err := client.Jobs.Retry(ctx, ids, o); return err }},
		"Jobs.Delete":       {change, func(o hourbell.Option) error { _, err := client.Jobs.Delete(ctx, ids, o); return err }},
		"Jobs.Move":         {change, func(o hourbell.Option) error { _, err := client.Jobs.Move(ctx, ids, "q", o); return err }},
		"Jobs.Reprioritise": {change, func(o hourbell.Option) error { _, err := client.Jobs.Reprioritise(ctx, ids, 1, o); return err }},
		"Groups.Cancel":     {change, func(o hourbell.Option) error { _, err := client.Groups.Cancel(ctx, "g", o); return err }},
		"Groups.Retry":      {append(slices.Clone(change), "FromStep"), func(o hourbell.Option) error { _, err := client.Groups.Retry(ctx, "g", o); return err }},
		"Schedules.Put":     {[]string{"InTx", "RunOnStart"}, func(o hourbell.Option) error { _, err := client.Schedules.Put(ctx, schedule, o); return err }},
		"Schedules.PutAll": {[]string{"InTx", "Limits"}, func(o hourbell.Option) error {
			_, err := client.Schedules.PutAll(ctx, "o", 0, nil, o)
			return err
		}},
		"Schedules.Sync": {[]string{"InTx", "Limits"}, func(o hourbell.Option) error {
			_, err := client.Schedules.Sync(ctx, "o", 0, nil, o)
			return err
		}},
		"Schedules.SyncCopy": {[]string{"InTx", "Limits"}, func(o hourbell.Option) error {
			_, err := client.Schedules.SyncCopy(ctx, hourbell.HostCopy{Owner: "o", Host: "h"}, o)
			return err
		}},
		"Schedules.Pause": {inTx, func(o hourbell.Option) error { return client.Schedules.Pause(ctx, []string{"s"}, o) }},
		"Schedules.PauseUntil": {inTx, func(o hourbell.Option) error {
			return client.Schedules.PauseUntil(ctx, time.Now().Add(time.Hour), []string{"s"}, o)
		}},
		"Schedules.Resume":     {inTx, func(o hourbell.Option) error { return client.Schedules.Resume(ctx, []string{"s"}, o) }},
		"Schedules.Delete":     {inTx, func(o hourbell.Option) error { return client.Schedules.Delete(ctx, []string{"s"}, o) }},
		"Schedules.ResetAhead": {[]string{"DryRun"}, func(o hourbell.Option) error { _, err := client.Schedules.ResetAhead(ctx, o); return err }},
		"Schedules.Reset":      {inTx, func(o hourbell.Option) error { return client.Schedules.Reset(ctx, []string{"s"}, o) }},
		"Schedules.Trigger":    {inTx, func(o hourbell.Option) error { _, err := client.Schedules.Trigger(ctx, "s", o); return err }},
		"Schedules.TriggerAll": {inTx, func(o hourbell.Option) error { _, err := client.Schedules.TriggerAll(ctx, "s", o); return err }},
		"Schedules.CancelJobs": {inTx, func(o hourbell.Option) error { _, err := client.Schedules.CancelJobs(ctx, "s", o); return err }},
		"Schedules.RunOnce": {[]string{"InTx", "Unique", "UniqueFor"}, func(o hourbell.Option) error {
			_, err := client.Schedules.RunOnce(ctx, schedule, o)
			return err
		}},
	}
	for name, c := range calls {
		for option, value := range everyOption {
			err := c.call(value)
			refused := false
			for wrong := err; wrong != nil; wrong = errors.Unwrap(wrong) {
				if joined, ok := wrong.(interface{ Unwrap() []error }); ok {
					for _, one := range joined.Unwrap() {
						refused = refused || isOfOtherCalls(one, option)
					}
					break
				}
				refused = refused || isOfOtherCalls(wrong, option)
			}
			if takes := slices.Contains(c.takes, option); refused == takes {
				t.Errorf("%s with %s answered %v; it takes this option: %t", name, option, err, takes)
			}
		}
	}
}

// isOfOtherCalls reports whether an error refuses an option because the call does not take it.
func isOfOtherCalls(err error, option string) bool {
	var field *check.FieldError
	return errors.As(err, &field) && field.Field == "options" && field.Value == option && (strings.Contains(field.Problem, "other calls") || strings.Contains(field.Problem, "one job"))
}
