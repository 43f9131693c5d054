package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/watch"
	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// mostOfMistake is how many bytes of the mistakes of a file are reported.
const mostOfMistake = 500

// limitsEvery is how often a node examines whether the store has connections left for it, and gives statements enough time.
const limitsEvery = time.Minute

// reportProblems reports files that are refused, calls that the server of the store has ended, and limits of the store that are too
// low, as problems of the node, until ctx ends.
func (n *Node) reportProblems(ctx context.Context, client *hourbell.Client) {
	limits := make(chan []store.NodeProblem)
	var examining sync.WaitGroup
	defer examining.Wait()
	examining.Go(func() { n.examineLimits(ctx, limits) })
	tick := time.NewTicker(watch.Every)
	defer tick.Stop()
	var low, reported []store.NodeProblem
	for {
		select {
		case <-ctx.Done():
			return
		case low = <-limits:
		case <-tick.C:
		}
		if now := slices.Concat(n.refusedFiles(n.Watch.States()), n.ended.problems(), low); !slices.Equal(now, reported) && client.Nodes.ReportProblems(now...) {
			reported = now
		}
	}
}

// examineLimits sends what is wrong with the limits of the store, until ctx ends. While the store does not answer, it sends nothing.
func (n *Node) examineLimits(ctx context.Context, found chan<- []store.NodeProblem) {
	for {
		bounded, cancel := context.WithTimeout(ctx, limitsEvery)
		limits, err := n.backend.ExamineLimits(bounded)
		cancel()
		if err == nil {
			select {
			case <-ctx.Done():
				return
			case found <- lowLimits(limits):
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(limitsEvery):
		}
	}
}

// lowLimits returns the problems of a node of what was found about limits.
func lowLimits(limits []store.Finding) (found []store.NodeProblem) {
	for _, one := range limits {
		subject, _, _ := strings.Cut(one.Found, " is ") // the name of a setting
		if one.Check == findings.FewConnections {
			subject = "" // the number changes
		}
		found = append(found, store.NodeProblem{Name: one.Check, Subject: subject, Text: one.Found})
	}
	return found
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
