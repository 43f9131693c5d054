//go:build unix

package supervise

import (
	"crypto/rand"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// A command that runs as the node's user can stop its supervisor by a signal,
// as in kill -STOP $PPID. A stopped supervisor ends nothing, so the node
// watches it, and ends the command itself if the end is overdue.

// overdue is how long after the end of a grace the node acts. The supervisor
// learns about Stop later than the node, and should act first. Both know the
// end of a claim in advance, so the node does not wait longer in that case.
const overdue = lookAgain

// lastWord is how long a supervisor may take to report after the last process
// that can be killed has ended.
const lastWord = 2 * time.Second

// guard keeps the supervisor running until the run is over, and kills the
// command if its end is overdue.
func (p *Process) guard() {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	for {
		timer.Reset(p.untilDue())
		select {
		case <-p.done:
			return
		case <-timer.C:
		}
		_ = p.resume() // if the supervisor has ended, listen notices it
		if p.isOverdue() {
			p.takeOver()
		}
	}
}

// resume continues a supervisor that was stopped. An error means that the
// supervisor has been reaped, so that its process number may belong to another
// process.
func (p *Process) resume() error { return p.supervisor.Signal(syscall.SIGCONT) }

// expect stores until when the claim may be trusted, on the node's clock.
func (p *Process) expect(claim Claim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending.claim = claim
}

// expectStart is expect for the time until the supervisor has reported the
// start of the command; the supervisor has orderLimit for this report.
func (p *Process) expectStart(claim Claim) {
	limit := uptime.Now().Add(orderLimit)
	if claim == (Claim{}) || claim.Kill > limit {
		claim = Claim{Term: limit, Kill: limit}
	}
	p.expect(claim)
}

// isOverdue reports whether the whole command should have been killed by now.
func (p *Process) isOverdue() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := uptime.Now()
	return p.ending.claimOver(now) || p.ending.killDue(now.Add(-overdue))
}

// untilDue returns how long the node may leave the supervisor alone.
func (p *Process) untilDue() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.ending.next(uptime.Now(), lookAgain), lookAgain/20)
}

// takeOver kills the command repeatedly until the run is over. When nothing is
// left to kill, it kills the supervisor too.
func (p *Process) takeOver() {
	began := time.Now()
	for round := 0; ; round++ {
		left := family(p.supervisor.Pid, p.Pid())
		if p.resume() != nil {
			return // the processes found may belong to another command; listen does the rest
		}
		p.noteKill()
		living, reached := signalAll(left, syscall.SIGKILL)
		if reached == 0 && time.Since(began) > lastWord {
			p.force(living)
		}
		select {
		case <-p.done:
			return
		case <-time.After(killAgain(round)):
		}
	}
}

// noteKill records that the node kills the command, and the reason.
func (p *Process) noteKill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending.begin(ClaimOver, uptime.Now(), 0) // only if no other reason has begun the end
	p.killed = true
}

// reported corrects the result that the supervisor reports. A supervisor that
// has just been continued sees a command that the node killed, and reports that
// the command ended by itself.
func (p *Process) reported(result Result) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed && result.Why == Itself {
		result.Why, result.Forced = p.ending.why, true
	}
	return result
}

// force kills the supervisor, and stores a result in place of the supervisor's
// report.
func (p *Process) force(living int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forced = &Result{Why: p.ending.why, Signal: syscall.SIGKILL, Unreachable: living, Forced: true}
	_ = p.supervisor.Kill() // it may be dead already
}

// wasForced returns the result that force stored, or nil.
func (p *Process) wasForced() *Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forced
}

// killAgain returns how long to wait before the next round of SIGKILL: first no
// time, because the processes left may have been forked during the last round,
// then longer, because they may wait for a disk and end when it answers.
func killAgain(round int) time.Duration {
	return min(time.Duration(round)*time.Millisecond/4, lookAgain)
}

// signalAll sends a signal to processes by their groups: the whole group gets
// the signal at once, so that no process of the group can fork in between. It
// returns the number of processes, and the number of processes that it was
// allowed to signal.
func signalAll(left []process, sig syscall.Signal) (living, reached int) {
	done := map[int]error{}
	for _, p := range left {
		err, known := done[p.group]
		if !known {
			err = syscall.Kill(-p.group, sig)
			done[p.group] = err
		}
		living++
		if err != syscall.EPERM {
			reached++
		}
	}
	return living, reached
}

// markName is a variable in the environment of each command. Its value
// identifies the remaining processes of the command after its supervisor was
// killed.
const markName = "HOURBELL_RUN="

// marked returns the environment with a new mark, and the mark.
func marked(env []string) (with []string, mark string) {
	mark = markName + rand.Text()
	others := slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasPrefix(pair, markName) })
	return append(others, mark), mark
}

// killOrphans kills all processes that can be found of a command whose
// supervisor has ended.
func (p *Process) killOrphans() {
	deadline := time.Now().Add(time.Second)
	for round := 0; time.Now().Before(deadline); round++ {
		left := orphans(p.Pid(), p.mark)
		if len(left) == 0 {
			return
		}
		signalAll(left, syscall.SIGKILL)
		time.Sleep(killAgain(round))
	}
}
