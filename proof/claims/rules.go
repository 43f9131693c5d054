package claims

import (
	"fmt"
	"strings"
)

// Rules returns which rule a state breaks; empty: none.
func (w World) Rules(s State) string {
	used, works := int8(0), int8(0)
	for j, job := range s.Jobs {
		var owner int
		for n, node := range s.Nodes {
			run := node.Runs[j]
			if run.Token > job.Token {
				return fmt.Sprintf("committed claims: node %d has a claim of job %d that was not committed", n+1, j+1)
			}
			if run.Phase != Works {
				continue
			}
			works++
			switch {
			case owner != 0:
				return fmt.Sprintf("one owner: nodes %d and %d both work on job %d", owner, n+1, j+1)
			case !node.trusts():
				return fmt.Sprintf("one owner: node %d works on job %d after its lease", n+1, j+1)
			}
			owner = n + 1
		}
		if owner != 0 && !job.Held(int16(owner), s.Nodes[owner-1].Runs[j].Token) {
			return fmt.Sprintf("one owner: node %d works on job %d, which is not its own in the store", owner, j+1)
		}
		if owner != 0 && !job.Begun {
			return fmt.Sprintf("recorded begins: node %d works on job %d, which has not begun in the store", owner, j+1)
		}
		if job.FailOnLoss && job.Starts > 1 {
			return fmt.Sprintf("no second start: job %d must not start twice, and has", j+1)
		}
		if job.Permit {
			used++
		}
		if job.Permit != (job.State == Running) {
			return fmt.Sprintf("permits are held by jobs that run: job %d", j+1)
		}
		if job.Attempt < 0 || job.Attempt > max(job.Most, 0) {
			return fmt.Sprintf("attempts are counted: job %d has %d of %d", j+1, job.Attempt, job.Most)
		}
	}
	switch {
	case s.Used != used:
		return fmt.Sprintf("permits are counted: %d are in use, and jobs hold %d", s.Used, used)
	case used > w.Limit || works > w.Limit:
		return fmt.Sprintf("the limit: %d jobs hold permits, and %d work, of %d", used, works, w.Limit)
	}
	return ""
}

// StepRules returns which rule a step breaks; empty: none. Tokens before and after a step cannot be compared, because
// they were numbered again.
func (w World) StepRules(from State, step Step) string {
	for j, before := range from.Jobs {
		after := step.To.Jobs[j]
		claimed := before.State == Ready && after.State == Running
		for n, node := range step.To.Nodes {
			sent := node.Mail[j].Result != NoResult && node.Mail[j].Token >= after.Token
			had := node.Runs[j].Token >= after.Token && n+1 != step.Node
			if claimed && (sent || had) {
				return fmt.Sprintf("tokens grow: job %d is claimed under a token that was given before", j+1)
			}
		}
		if step.Job != j+1 || step.Node == 0 {
			continue
		}
		mail := from.Nodes[step.Node-1].Mail[j]
		if strings.HasPrefix(step.Does, outcomeArrives) && mail.Token != before.Token && (after.State != before.State || after.Node != before.Node) {
			return fmt.Sprintf("only the last token counts: an outcome of an earlier claim changes job %d", j+1)
		}
		if before.Ended() && after.State != before.State {
			return fmt.Sprintf("an end is an end: job %d goes on", j+1)
		}
	}
	return ""
}
