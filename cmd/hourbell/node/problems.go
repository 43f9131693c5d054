package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/files/watch"
	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// mostOfMistake is how many bytes of the mistakes of a file are reported.
const mostOfMistake = 500

// reportFiles reports files that are refused as problems of the node, until ctx ends.
func (n *Node) reportFiles(ctx context.Context, client *hourbell.Client) {
	tick := time.NewTicker(watch.Every)
	defer tick.Stop()
	var reported []store.NodeProblem
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := n.refusedFiles(n.Watch.States()); !slices.Equal(now, reported) && client.Nodes.ReportProblems(now...) {
			reported = now
		}
	}
}

// refusedFiles returns the problems of the files that are refused.
func (n *Node) refusedFiles(states []watch.FileState) (found []store.NodeProblem) {
	for _, f := range states {
		if !f.Refused {
			continue
		}
		stays := "; none of it is used"
		if f.Owner != "" {
			stays = "; its last good version stays in effect"
		}
		found = append(found, store.NodeProblem{
			Name: findings.FileRefused, Subject: f.Path,
			Text: fmt.Sprintf("file %s of host %s is refused: %s%s", f.Path, n.host(), plain.Cut(plain.OneLine(f.Problem), mostOfMistake), stays),
		})
	}
	return found
}
