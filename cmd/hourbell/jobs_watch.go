package main

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// watchGap is the time between two reads of a job that is watched.
const watchGap = 500 * time.Millisecond

// jobsWatch shows how far a job has come until the job has ended, and then the
// job: on a terminal as a bar, elsewhere as a line for each change. In the formats
// for machines each change is a record.
func (p *program) jobsWatch(ctx context.Context, client *hourbell.Client, f format, secrets bool, id int64) error {
	bar := p.newBar(1)
	defer bar.clear()
	for last := ""; ; {
		job, err := client.Jobs.Get(ctx, id)
		if err != nil {
			return err
		}
		now, err := client.Now(ctx)
		if err != nil {
			return err
		}
		ended, text := job.State.Finished(), watchedState(job, now)
		switch changed := text != last; {
		case ended || f != asTable && changed:
			bar.clear()
			if err := p.showJob(ctx, client, f, secrets, job, now); err != nil {
				return err
			}
		case bar.out != nil:
			bar.show(text, view.ProgressPart(job.Progress))
		case changed:
			if err := p.printLine(text); err != nil {
				return err
			}
		}
		if ended {
			return nil
		}
		last = text
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchGap):
		}
	}
}

// watchedState returns the state of a job and how far it has come, as text.
func watchedState(job store.JobInfo, now time.Time) string {
	text := view.JobState(job, now)
	if progress := view.ShownProgress(job.Progress); progress != "" {
		text += "  " + plain.Clean(progress)
	}
	return text
}

// printLine prints a line to the standard output at once.
func (p *program) printLine(text string) error {
	out := bufio.NewWriter(p.stdout)
	fmt.Fprintln(out, text)
	return out.Flush()
}
