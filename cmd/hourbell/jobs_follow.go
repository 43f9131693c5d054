package main

import (
	"context"
	"fmt"
	"io"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
)

// jobsFollow prints the output of a job as it comes, until the job has ended: on the
// standard output only the output, made safe for a terminal, and on standard error
// which attempt begins and how the job ended. In the formats for machines each part
// is a record.
func (p *program) jobsFollow(ctx context.Context, client *hourbell.Client, f format, id int64) error {
	open := false // the last line has no end
	return view.FollowOutput(ctx, client, id, func(part view.Output) error {
		if f != asTable {
			return p.show(f, view.NewOutputRecord(id, part.JobOutput), nil)
		}
		text := followedText(part, open)
		if part.Begins && part.Attempt > 1 && text != "" {
			fmt.Fprintf(p.stderr, "attempt %d\n", part.Attempt)
		}
		if _, err := io.WriteString(p.stdout, text); err != nil {
			return err
		}
		if text != "" {
			open = text[len(text)-1] != '\n'
		}
		if part.Over {
			_, err := fmt.Fprintf(p.stderr, "%sjob %d: %v\n", endOf(open), id, part.State)
			return err
		}
		return nil
	})
}

// followedText returns the text of a part, on a line of its own where output is missing or an attempt begins. open: the last line has no end.
func followedText(part view.Output, open bool) string {
	text := plain.CleanPart(string(part.Data))
	if text == "" {
		return ""
	}
	if gap := view.LeftOut(part.Missed); gap != "" {
		return endOf(open) + gap + "\n" + text
	}
	if part.Begins {
		return endOf(open) + text
	}
	return text
}

// endOf returns what ends a line, if a line is open.
func endOf(open bool) string {
	if open {
		return "\n"
	}
	return ""
}
