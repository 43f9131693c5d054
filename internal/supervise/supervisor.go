//go:build unix

package supervise

import (
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// processName is the first argument of a supervisor, by which an init function
// recognises a supervisor.
const processName = "hourbell-supervisor"

// The descriptors that a supervisor gets in addition to standard error.
const (
	socketFD  = 3
	inheritFD = 4 // the command's standard input; output and error follow
)

// lookAgain is how often the clock is read, because timers do not advance while
// the machine sleeps.
const lookAgain = 200 * time.Millisecond

// init turns the process into a supervisor if it was started as a supervisor.
// It does not return in that case. The package comment explains why this is an
// init function.
func init() {
	if len(os.Args) == 0 || os.Args[0] != processName || !isSocket(socketFD) {
		return
	}
	runtime.LockOSThread()                  // the command dies with the thread that starts it
	_ = syscall.SetNonblock(socketFD, true) // so that waiting for the socket blocks no thread
	superviseOne(os.NewFile(socketFD, "node"))
	// os.Exit would write the coverage data of test binaries.
	syscall.Exit(0)
}

func isSocket(fd int) bool {
	var stat syscall.Stat_t
	return syscall.Fstat(fd, &stat) == nil && stat.Mode&syscall.S_IFMT == syscall.S_IFSOCK
}

// supervisor is the state of the supervising process. It belongs to the main
// goroutine. The package comment has its states.
type supervisor struct {
	task   task
	ending ending
	relay  *relay

	main      int // the command's first process, the leader of its session
	exited    bool
	status    syscall.WaitStatus // valid if exited
	subreaper bool
	childless bool // the system reports that no child is left
	left      int  // number of processes found when the command had ended by itself
	lost      int  // number of processes that cannot be signalled
	kills     int  // how often SIGKILL was sent
}

// superviseOne runs one command for the node at the other end of the socket.
func superviseOne(node *os.File) {
	keepDescriptors()
	rename()
	// The signals are handled, not ignored, because the command would inherit
	// ignored signals. Signals from a terminal are for the node.
	signals := make(chan os.Signal, 1)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTSTP)
	signal.Notify(signals, syscall.SIGTERM)

	s := &supervisor{relay: newRelay(node), subreaper: becomeSubreaper()}
	if !uptime.Shared {
		s.relay.report(report{Clock: uptime.Now()})
	}
	orders := json.NewDecoder(node)
	var first order
	if orders.Decode(&first) != nil || first.Start == nil || first.Claim == nil {
		return // the node died before it sent an order
	}
	s.task, s.ending.claim = *first.Start, *first.Claim
	if now := uptime.Now(); s.ending.termDue(now) || s.ending.killDue(now) {
		s.relay.report(report{Ended: &Result{Why: ClaimOver}})
		return
	}
	if err := s.start(); err != nil {
		s.relay.report(report{Failed: errnoOf(err)})
		return
	}
	s.relay.report(report{Started: s.main})
	go s.relay.stream()
	s.attend(listen(orders), reap(), signals)
	s.relay.finish(s.result())
}

// listen returns the orders of the node; the channel is closed when the node is
// gone.
func listen(from *json.Decoder) <-chan order {
	orders := make(chan order)
	go func() {
		defer close(orders)
		for {
			var next order
			if from.Decode(&next) != nil {
				return
			}
			orders <- next
		}
	}()
	return orders
}

// deaths are the children that were reaped at one time.
type deaths struct {
	children map[int]syscall.WaitStatus
	last     bool // no children are left
}

// reap returns the children that have ended, as many at a time as there are,
// until no children are left.
func reap() <-chan deaths {
	reaped := make(chan deaths)
	go func() {
		for {
			some := reapSome()
			reaped <- some
			if some.last {
				return
			}
		}
	}()
	return reaped
}

// reapSome waits until a child ends, and reaps all children that have ended.
func reapSome() deaths {
	some := deaths{children: map[int]syscall.WaitStatus{}}
	for flags := 0; ; flags = syscall.WNOHANG {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, flags, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			some.last = true
			return some
		case pid == 0:
			return some
		default:
			some.children[pid] = status
		}
	}
}

// attend watches the command until no process of it is left that must end.
func (s *supervisor) attend(orders <-chan order, reaped <-chan deaths, signals <-chan os.Signal) {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	for !s.over() {
		timer.Reset(s.pause())
		select {
		case next, ok := <-orders:
			if !ok {
				orders = nil
				s.end(NodeGone, s.task.Grace)
				continue
			}
			s.obey(next)
		case some := <-reaped:
			s.bury(some)
		case <-signals:
			s.end(Signalled, s.task.Grace)
		case <-timer.C:
		}
	}
}

// obey executes an order of the node.
func (s *supervisor) obey(o order) {
	switch {
	case o.Claim != nil:
		s.ending.claim = *o.Claim
	case o.Stop != nil:
		s.end(Stopped, *o.Stop)
	case o.Signal != 0:
		_ = syscall.Kill(-s.main, o.Signal) // the group may be empty
	case o.TakeOver != "" && o.TakeOver != s.task.Mark:
		s.end(NodeGone, s.task.Grace) // the other end of the socket is not the node of this run
	}
}

func (s *supervisor) bury(some deaths) {
	s.childless = some.last
	if status, ok := some.children[s.main]; ok {
		s.exited, s.status = true, status
	}
}

// over reads the clock and the processes, does what is due, and reports whether
// the run is over.
func (s *supervisor) over() bool {
	now := uptime.Now()
	if os.Getppid() != s.task.Node { // another process may have inherited the node's end of the socket and hold it open
		s.end(NodeGone, s.task.Grace)
	}
	if s.ending.termDue(now) {
		s.end(ClaimOver, s.task.Grace) // the end of the claim shortens this grace
	}
	if s.ending.killDue(now) {
		s.end(ClaimOver, 0) // only if no other reason has begun the end
		return s.gone() || !s.kill()
	}
	if !s.exited {
		return false
	}
	if s.ending.begun {
		return s.gone()
	}
	return s.gone() || s.sessionOver()
}

// gone reports whether no descendant is left.
func (s *supervisor) gone() bool {
	return s.childless && (s.subreaper || len(s.family()) == 0)
}

// sessionOver reports whether a command that ended by itself counts as over. If
// only its daemons are left, it begins to end them.
func (s *supervisor) sessionOver() bool {
	left := s.family()
	if slices.ContainsFunc(left, func(p process) bool { return p.session == s.main }) {
		return false
	}
	if s.task.KeepDetached {
		return true
	}
	s.left = len(left)
	s.end(leftovers, s.task.Grace)
	return false
}

// end sends SIGTERM to all processes unless it was sent before; SIGKILL follows
// after grace.
func (s *supervisor) end(why Why, grace time.Duration) {
	if !s.ending.begin(why, uptime.Now(), grace) || grace <= 0 {
		return
	}
	signalAll(s.family(), syscall.SIGTERM)
	signalAll(s.family(), syscall.SIGCONT) // a stopped process does not handle SIGTERM until it continues
}

// kill sends SIGKILL to all processes, and reports whether another round is
// useful: not if every process left is out of reach.
func (s *supervisor) kill() (hope bool) {
	s.kills++
	living, reached := signalAll(s.family(), syscall.SIGKILL)
	if living > 0 && reached == 0 {
		s.lost = living
		return false
	}
	return true
}

func (s *supervisor) family() []process { return family(os.Getpid(), s.main) }

// pause returns how long the supervisor waits if nothing happens.
func (s *supervisor) pause() time.Duration {
	now := uptime.Now()
	if s.ending.killDue(now) {
		return killAgain(s.kills)
	}
	return s.ending.next(now, lookAgain)
}

// result returns the result of the run.
func (s *supervisor) result() Result {
	result := Result{Why: s.ending.why, LeftBehind: s.left, Unreachable: s.lost}
	if result.Why == leftovers {
		result.Why = Itself
	}
	if s.exited && s.status.Exited() {
		result.Code = s.status.ExitStatus()
	} else if s.exited {
		result.Signal = s.status.Signal()
	}
	return result
}
