// Command try uses the client that oapi-codegen has generated: see scripts/clients.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	ctx := context.Background()
	client, err := NewClientWithResponses(os.Getenv("HOURBELL_URL"), WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("HOURBELL_TOKEN"))
		return nil
	}))
	must(err == nil, err)

	in, key := "1h", "go"
	job := NewJob{Kind: "client", Args: map[string]any{"customer": 42, "by": "go"}, In: &in}
	made, err := client.EnqueueJobWithResponse(ctx, &EnqueueJobParams{IdempotencyKey: &key}, job)
	must(err == nil && made.JSON201 != nil, err, made)
	id := made.JSON201.Id
	again, err := client.EnqueueJobWithResponse(ctx, &EnqueueJobParams{IdempotencyKey: &key}, job)
	must(err == nil && again.JSON201 != nil && again.JSON201.Id == id, err, again)
	wrong, err := client.EnqueueJobWithResponse(ctx, nil, NewJob{Kind: " "})
	must(err == nil && wrong.StatusCode() == http.StatusUnprocessableEntity, err, wrong)
	args := []string{"by=go", "customer=42"}
	found, err := client.ListJobsWithResponse(ctx, &ListJobsParams{Args: &args})
	must(err == nil && found.JSON200 != nil && len(found.JSON200.Items) == 1 && found.JSON200.Items[0].Id == id, err, found)
	var by any = map[string]any{"by": "ann"}
	for _, status := range []int{http.StatusNoContent, http.StatusConflict} {
		signal, err := client.SendSignalWithResponse(ctx, id, "approval", SignalBody{Value: by})
		must(err == nil && signal.StatusCode() == status, err, signal)
	}
	from := "charge"
	untaken, err := client.RetryJobWithResponse(ctx, id, ChangeTo{From: &from})
	must(err == nil && untaken.StatusCode() == http.StatusUnprocessableEntity, err, untaken)
	cancelled, err := client.CancelJobWithResponse(ctx, id)
	must(err == nil && cancelled.JSON200 != nil && cancelled.JSON200.Change == "changed", err, cancelled)
	got, err := client.GetJobWithResponse(ctx, id, nil)
	must(err == nil && got.JSON200 != nil && got.JSON200.State == "cancelled", err, got)
	steps := got.JSON200.Steps
	must(steps != nil && len(*steps) == 1 && (*steps)[0].Name == "approval", steps)

	const name = "clients/go"
	cron, zone, all := "0 9 * * 1-5", "Europe/Prague", "*"
	definition := Definition{Cron: &cron, Tz: &zone, Kind: "client"}
	stored, err := client.PutScheduleWithResponse(ctx, name, &PutScheduleParams{IfNoneMatch: &all}, definition)
	must(err == nil && stored.JSON200 != nil, err, stored)
	exists, err := client.PutScheduleWithResponse(ctx, name, &PutScheduleParams{IfNoneMatch: &all}, definition)
	must(err == nil && exists.StatusCode() == http.StatusPreconditionFailed, err, exists)
	etag := stored.HTTPResponse.Header.Get("ETag")
	cron = "30 9 * * 1-5"
	for _, status := range []int{http.StatusOK, http.StatusPreconditionFailed} {
		changed, err := client.PutScheduleWithResponse(ctx, name, &PutScheduleParams{IfMatch: &etag}, definition)
		must(err == nil && changed.StatusCode() == status, err, changed)
	}
	deleted, err := client.DeleteScheduleWithResponse(ctx, name)
	must(err == nil && deleted.StatusCode() == http.StatusNoContent, err, deleted)
	stats, err := client.ReadStatsWithResponse(ctx, nil)
	must(err == nil && stats.JSON200 != nil, err, stats)
	fmt.Println("go: done")
}

func must(is bool, about ...any) {
	if !is {
		log.Fatalf("%+v", about)
	}
}
