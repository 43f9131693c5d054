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
// as in kill -STOP $PPID. While that stands it ends nothing: so the node
// watches, and ends the command itself where that is overdue.

// overdue is how long after the end of a grace the node acts: the supervisor
// hears of Stop later than the node, and should be the one to act. Both know
// the end of a claim beforehand, so there the node does not wait.
const overdue = lookAgain

// lastWord is how long a supervisor may then take to report, once nothing
// lives that can be killed.
const lastWord = 2 * time.Second

// guard keeps the supervisor going until the run is over.
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
		_ = p.resume() // if it has ended, listen knows
		if p.isOverdue() {
			p.takeOver()
		}
	}
}

// resume has a supervisor go on that was stopped. The error says that it has
// been reaped, so that its number may be another's.
func (p *Process) resume() error { return p.supervisor.Signal(syscall.SIGCONT) }

// expect notes until when the claim may be trusted, as the node's clock has it.
func (p *Process) expect(claim Claim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending.claim = claim
}

// expectStart is expect while the command is not known to have been started:
// its supervisor has orderLimit to say so.
func (p *Process) expectStart(claim Claim) {
	limit := uptime.Now() + orderLimit
	if claim == (Claim{}) || claim.Kill > limit {
		claim = Claim{Term: limit, Kill: limit}
	}
	p.expect(claim)
}

// isOverdue says whether all of the command should have been killed.
func (p *Process) isOverdue() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := uptime.Now()
	return p.ending.claimOver(now) || p.ending.killDue(now-overdue)
}

// untilDue is how long the supervisor may be left alone.
func (p *Process) untilDue() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.ending.next(uptime.Now(), lookAgain), lookAgain/20)
}

// takeOver kills the command, again and again, until the run is over. When
// nothing is left to kill, the supervisor goes as well.
func (p *Process) takeOver() {
	began := time.Now()
	for round := 0; ; round++ {
		left := family(p.supervisor.Pid, p.Pid())
		if p.resume() != nil {
			return // what was found may be another's; listen does the rest
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

// noteKill notes that the node kills the command, and why.
func (p *Process) noteKill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending.begin(ClaimOver, uptime.Now(), 0) // if nothing else has begun it
	p.killed = true
}

// reported is what the supervisor has to say. One that has just woken up sees a
// command that was killed by the node, and takes it for one that ended by itself.
func (p *Process) reported(result Result) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed && result.Why == Itself {
		result.Why, result.Forced = p.ending.why, true
	}
	return result
}

// force ends the supervisor, and leaves what there is to say in its place.
func (p *Process) force(living int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forced = &Result{Why: p.ending.why, Signal: syscall.SIGKILL, Unreachable: living, Forced: true}
	_ = p.supervisor.Kill() // it may be dead already
}

// wasForced is what force left to say, or nil.
func (p *Process) wasForced() *Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forced
}

// killAgain is how long to wait before a next round of SIGKILL: nothing for
// those that were forked meanwhile, and more for those that wait for a disk and
// end when it answers.
func killAgain(round int) time.Duration {
	return min(time.Duration(round)*time.Millisecond/4, lookAgain)
}

// signalAll sends a signal to processes by their groups: a group gets it at
// once, and nobody in it can fork meanwhile.
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

// markName is a variable in the environment of each command: by its value what
// remains of the command is found when its supervisor has been killed.
const markName = "HOURBELL_RUN="

// marked returns the environment with a new mark, and the mark.
func marked(env []string) (with []string, mark string) {
	mark = markName + rand.Text()
	others := slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasPrefix(pair, markName) })
	return append(others, mark), mark
}

// killOrphans kills what can be found of a command whose supervisor has ended.
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
