package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

func (p *program) jobsShowCommand(f *storeFlags) *cobra.Command {
	var o format
	var secrets bool
	c := &cobra.Command{
		Use: "show ID", Short: "Shows a job with its arguments, attempts and output", Args: takes(false, "ID"),
		Example: "  hourbell jobs show 17\n  hourbell jobs show 17 --output json",
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error { return p.jobsShow(c.Context(), client, o, secrets, ids[0]) })
		},
	}
	addSecrets(c, &secrets)
	o.addTo(c)
	return c
}

func (p *program) jobsShow(ctx context.Context, client *hourbell.Client, f format, secrets bool, id int64) error {
	job, err := client.Jobs.Get(ctx, id)
	if err != nil {
		return err
	}
	now, err := client.Now(ctx)
	if err != nil {
		return err
	}
	views, err := viewJobs(ctx, client, secrets, job)
	if err != nil {
		return err
	}
	return p.show(f, newJobRecord(views[0]), func(out *bufio.Writer) { printJob(out, views[0], now) })
}

// jobRecord is a job in machine-readable output. Fields are only ever added.
type jobRecord struct {
	ID          int64  `json:"id"`
	Kind        string `json:"kind"`
	Queue       string `json:"queue"`
	State       string `json:"state"`
	Priority    int16  `json:"priority"`
	Attempt     int16  `json:"attempt"`
	MaxAttempts int16  `json:"max_attempts"`
	// Losses is how many nodes in succession died while the job ran, or when it
	// was about to begin.
	Losses     int16           `json:"losses"`
	Token      *int64          `json:"token"`
	RunAt      *time.Time      `json:"run_at"`
	CreatedAt  *time.Time      `json:"created_at"`
	StartedAt  *time.Time      `json:"started_at"`
	FinishedAt *time.Time      `json:"finished_at"`
	Node       *string         `json:"node"`
	Schedule   *string         `json:"schedule"`
	Slot       *time.Time      `json:"slot"`
	Origin     string          `json:"origin"`
	Args       json.RawMessage `json:"args"`
	Timeout    *string         `json:"timeout"`
	OnLoss     string          `json:"on_loss"`
	Unique     *string         `json:"unique"`
	Reason     *string         `json:"reason"`
	// Waits is why no living node takes the job, although it is due.
	Waits *string `json:"waits"`
	// Hook describes, for a hook's job, the event that caused it.
	Hook            json.RawMessage `json:"hook,omitempty"`
	CancelRequested bool            `json:"cancel_requested"`
	Errors          []errorRecord   `json:"errors"`
	Output          *string         `json:"output"`
	// OutputBase64 has the bytes of an output that is not valid UTF-8.
	OutputBase64 string `json:"output_base64,omitempty"`
}

// errorRecord is a failed attempt.
type errorRecord struct {
	Attempt    int16      `json:"attempt"`
	Token      int64      `json:"token"`
	Node       *string    `json:"node"`
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	Error      string     `json:"error"`
	Trace      *string    `json:"trace"`
}

func newJobRecord(j jobView) jobRecord {
	r := jobRecord{
		ID: j.ID, Kind: j.Kind, Queue: j.Queue, State: j.State.String(),
		Priority: j.Priority, Attempt: j.Attempt, MaxAttempts: j.MaxAttempts, Losses: j.Losses, Token: orNull(j.Token),
		RunAt: timeOrNull(j.RunAt), CreatedAt: timeOrNull(j.CreatedAt),
		StartedAt: timeOrNull(j.StartedAt), FinishedAt: timeOrNull(j.FinishedAt),
		Node: orNull(jobNode(j.JobInfo)), Schedule: orNull(j.ScheduleName), Slot: timeOrNull(j.Slot), Origin: j.Origin.String(),
		Args: rawJSON(j.Args), Timeout: durationOrNull(j.Timeout), OnLoss: j.OnLoss.String(), Unique: orNull(j.Unique),
		Reason: orNull(j.Reason), Waits: orNull(j.waits), Hook: aboutHook(j.JobInfo), CancelRequested: j.CancelAsked, Errors: []errorRecord{},
	}
	for _, a := range j.Attempts {
		if a.Error != "" {
			r.Errors = append(r.Errors, errorRecord{
				Attempt: a.Attempt, Token: a.Token, Node: orNull(a.Node),
				StartedAt: timeOrNull(a.StartedAt), FinishedAt: timeOrNull(a.FinishedAt),
				Error: a.Error, Trace: orNull(a.Trace),
			})
		}
	}
	if output := lastOutput(j.JobInfo); len(output) > 0 {
		text := validText(output)
		r.Output = &text
		if !utf8.Valid(output) {
			r.OutputBase64 = base64.StdEncoding.EncodeToString(output)
		}
	}
	return r
}

// printJob prints a job as text, with the errors and outputs of its attempts.
func printJob(out *bufio.Writer, j jobView, now time.Time) {
	printFacts(out, []fact{
		{"job", fmt.Sprint(j.ID)},
		{"state", shownState(j.JobInfo, now)},
		{"reason", j.Reason},
		{"waits", j.waits},
		{"kind", j.Kind},
		{"args", string(j.Args)},
		{"hook", string(aboutHook(j.JobInfo))},
		{"queue", j.Queue},
		{"priority", fmt.Sprint(j.Priority)},
		{"attempt", fmt.Sprintf("%d of %d", j.Attempt, j.MaxAttempts)},
		{"losses", losses(j.Losses)},
		{"on_loss", j.OnLoss.String()},
		{"unique", j.Unique},
		{"timeout", shownTimeout(j.Timeout)},
		{"origin", j.Origin.String()},
		{"schedule", j.ScheduleName},
		{"slot", plain.Stamp(j.Slot)},
		{"created_at", plain.Stamp(j.CreatedAt)},
		{"run_at", plain.Stamp(j.RunAt)},
		{"started_at", plain.Stamp(j.StartedAt)},
		{"finished_at", plain.Stamp(j.FinishedAt)},
		{"took", took(j.JobInfo)},
		{"node", jobNode(j.JobInfo)},
	})
	for _, a := range j.Attempts {
		printAttempt(out, a)
	}
}

// losses returns the text for the number of times in succession that a job was
// lost; empty for 0.
func losses(n int16) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d in a row", n)
}

func printAttempt(out *bufio.Writer, a hourbell.Attempt) {
	fmt.Fprintf(out, "\nattempt %d, %s to %s on %s\n", a.Attempt, plain.Stamp(a.StartedAt), plain.Stamp(a.FinishedAt), plain.Dash(plain.Clean(a.Node)))
	for _, part := range []fact{{"error", a.Error}, {"trace", a.Trace}, {"output", string(a.Output)}} {
		if part.value != "" {
			fmt.Fprintf(out, "  %s:\n%s", part.name, plain.CleanLines(part.value, "    "))
		}
	}
}

// aboutHook returns, for a hook's job, the event that caused it, as JSON.
func aboutHook(j hourbell.JobInfo) json.RawMessage {
	var headers map[string]string
	if json.Unmarshal(j.Headers, &headers) != nil || headers[hourbell.HookHeader] == "" {
		return nil
	}
	return rawJSON([]byte(headers[hourbell.HookHeader]))
}
