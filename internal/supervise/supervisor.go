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

// processName is the first argument of a supervisor, by which it knows itself.
const processName = "hourbell-supervisor"

// The descriptors that a supervisor is given beside standard error.
const (
	socketFD  = 3
	inheritFD = 4 // the command's standard input, then output, then error
)

// lookAgain is how often the clock is looked at: timers stand still while the
// machine sleeps.
const lookAgain = 200 * time.Millisecond

// init turns the process into a supervisor if it was started as one. It never
// returns then. See the package's comment for why it is here.
func init() {
	if len(os.Args) == 0 || os.Args[0] != processName || !isSocket(socketFD) {
		return
	}
	runtime.LockOSThread()                  // the command dies with the thread that starts it
	_ = syscall.SetNonblock(socketFD, true) // so that waiting for it holds no thread
	superviseOne(os.NewFile(socketFD, "node"))
	// Not os.Exit: that would flush what test binaries gather about themselves.
	syscall.Exit(0)
}

func isSocket(fd int) bool {
	var stat syscall.Stat_t
	return syscall.Fstat(fd, &stat) == nil && stat.Mode&syscall.S_IFMT == syscall.S_IFSOCK
}

// supervisor is what the supervising process knows. It belongs to the main
// goroutine.
type supervisor struct {
	task   task
	ending ending
	relay  *relay

	main      int // the command's first process, the leader of its session
	exited    bool
	status    syscall.WaitStatus // once it has exited
	subreaper bool
	childless bool // says the system
	left      int  // processes found when the command had ended by itself
	lost      int  // processes that cannot be signalled
	kills     int  // how often SIGKILL went out
}

// superviseOne serves the node at the other end of the socket: one command.
func superviseOne(node *os.File) {
	keepDescriptors()
	rename()
	// Handled, not ignored: what is ignored would stay so in the command. What
	// a terminal sends is the node's business.
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
		return // the node died before it had told
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

// listen returns what the node orders; the channel is closed when it is gone.
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

// deaths is what was reaped at one time.
type deaths struct {
	children map[int]syscall.WaitStatus
	last     bool // there are no children left
}

// reap returns the children that ended, as many at a time as there are, until
// there are none left.
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

// reapSome waits for a child to end, and takes all that have.
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

// attend stays with the command until nothing of it is left that has to go.
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

// obey does what the node orders.
func (s *supervisor) obey(o order) {
	switch {
	case o.Claim != nil:
		s.ending.claim = *o.Claim
	case o.Stop != nil:
		s.end(Stopped, *o.Stop)
	case o.Signal != 0:
		_ = syscall.Kill(-s.main, o.Signal) // nobody may be left to get it
	}
}

func (s *supervisor) bury(some deaths) {
	s.childless = some.last
	if status, ok := some.children[s.main]; ok {
		s.exited, s.status = true, status
	}
}

// over looks at the clock and at what lives, does what is due, and says whether
// the run is over.
func (s *supervisor) over() bool {
	now := uptime.Now()
	if s.ending.termDue(now) {
		s.end(ClaimOver, s.task.Grace) // the end of the claim cuts it short
	}
	if s.ending.killDue(now) {
		s.end(ClaimOver, 0) // if nothing else has begun it
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

// gone says whether no descendant is left.
func (s *supervisor) gone() bool {
	return s.childless && (s.subreaper || len(s.family()) == 0)
}

// sessionOver says whether a command that has ended by itself may be taken to
// be over; if only its daemons are left, it begins to end these.
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

// end sends SIGTERM to everything unless it was sent before, and sees that
// SIGKILL follows after grace.
func (s *supervisor) end(why Why, grace time.Duration) {
	if !s.ending.begin(why, uptime.Now(), grace) || grace <= 0 {
		return
	}
	signalAll(s.family(), syscall.SIGTERM)
	signalAll(s.family(), syscall.SIGCONT) // a stopped process would not hear it
}

// kill sends SIGKILL to everything, and says whether there is hope: that not
// all that is left is out of reach.
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

// pause is how long nothing is to be done unless something happens.
func (s *supervisor) pause() time.Duration {
	now := uptime.Now()
	if s.ending.killDue(now) {
		return killAgain(s.kills)
	}
	return s.ending.next(now, lookAgain)
}

// result is what the run came to.
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
