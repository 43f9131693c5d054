package view

import (
	"context"
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// OutputRecord is a part of the output of an attempt at a job.
type OutputRecord struct {
	Job     int64  `json:"job"`
	State   string `json:"state"`   // of the job in the store: ready is also the word for scheduled and retrying
	Token   *int64 `json:"token"`   // of the attempt's claim; null: the job was never claimed
	Last    *int64 `json:"last"`    // the token of the job's last claim
	Attempt *int16 `json:"attempt"` // null: the attempt has ended and left no record
	Running bool   `json:"running"` // the attempt runs, and may print more
	// From is how many bytes of the output come before this part, and End how many
	// there are with it.
	From   int64  `json:"from"`
	End    int64  `json:"end"`
	Output string `json:"output"`
	// OutputBase64 has the bytes of an output that is not valid UTF-8.
	OutputBase64 string `json:"output_base64,omitempty"`
}

// NewOutputRecord returns the record of a part of the output of a job.
func NewOutputRecord(job int64, o store.JobOutput) OutputRecord {
	r := OutputRecord{
		Job: job, State: o.State.String(), Token: orNull(o.Token), Last: orNull(o.Last), Attempt: orNull(o.Attempt), Running: o.Running,
		From: o.From, End: o.End(), Output: validText(o.Data),
	}
	if !utf8.Valid(o.Data) {
		r.OutputBase64 = base64.StdEncoding.EncodeToString(o.Data)
	}
	return r
}

// AddOutput reads what the attempt at a job prints that runs now, if any does.
func AddOutput(ctx context.Context, client *hourbell.Client, j *Job) error {
	if j.State != store.StateRunning {
		return nil
	}
	out, err := client.Jobs.Output(ctx, store.ReadOutputRequest{ID: j.ID, Token: j.Token})
	if err == nil && out.Running && len(out.Data) > 0 {
		j.Printing = out.Printed
	}
	return err
}

// LeftOut returns a line about the bytes that were printed before the output that is
// kept; empty: there are none.
func LeftOut(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return "… " + plain.Plural(int(bytes), "byte") + " left out …"
}

// KeptOutput returns the output of an attempt, with a line about what is not kept.
func KeptOutput(p store.Printed) string {
	text := string(p.Data)
	if gap := LeftOut(p.From); gap != "" && text != "" {
		return gap + "\n" + text
	}
	return text
}

// followGap is the time between two reads of the output of a job that is followed.
const followGap = 500 * time.Millisecond

// Output is the next part of the output of a job that is followed.
type Output struct {
	store.JobOutput
	Begins bool  // it is the first part of its attempt
	Missed int64 // so many bytes before it are not kept
	Over   bool  // the job has ended, and all of its output has been read
}

// FollowOutput calls show with the output of a job as it comes, from the attempt that
// runs, or ran last, until the job has ended. An attempt that takes less than half a
// second may be passed over if the job runs again at once. Characters are not cut.
func FollowOutput(ctx context.Context, client *hourbell.Client, id int64, show func(Output) error) error {
	var token, at int64
	for {
		found, err := client.Jobs.Output(ctx, store.ReadOutputRequest{ID: id, Token: token, From: at})
		if err != nil {
			return err
		}
		part := Output{JobOutput: found, Begins: at == 0, Missed: found.From - at}
		if found.Running {
			part.Data = found.Data[:len(found.Data)-unfinished(found.Data)]
		}
		next := !found.Running && found.Last != found.Token
		part.Over = found.State.Finished() && !next
		if len(part.Data) > 0 || part.Over {
			if err := show(part); err != nil || part.Over {
				return err
			}
		}
		token, at = found.Token, part.End()
		if next {
			token, at = found.Last, 0
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followGap):
		}
	}
}

// unfinished returns how many bytes at the end of a text are an incomplete character or
// an incomplete line end (\r of \r\n), which the next bytes may complete.
func unfinished(text []byte) int {
	if n := len(text); n > 0 && text[n-1] == '\r' {
		return 1
	}
	for n := 1; n <= min(len(text), utf8.UTFMax-1); n++ {
		if rest := text[len(text)-n:]; utf8.RuneStart(rest[0]) {
			if !utf8.FullRune(rest) {
				return n
			}
			break
		}
	}
	return 0
}
