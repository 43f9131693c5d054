// Package supervise runs external commands under a process of their own that
// ends them in time: also when the node that started them was killed, stopped
// by a signal, or slept with its machine.
//
// # Two processes
//
// Start runs this program's own file anew, as the supervisor of one command,
// and tells it over a socket what to run and until when the claim on the work
// may be trusted (Claim, on the clock of package uptime). Hold prolongs that;
// Stop ends the command. The supervisor starts the command in a session of its
// own, as cron does, reads its output all the time, so that the command never
// waits for the node, and reports its end. Everything that is secret (the
// arguments, the environment, the standard input) passes through the socket;
// what ps shows of the supervisor is its name and Spec.Label.
//
// The new process is recognised in an init function: its name is that of a
// supervisor, and descriptor 3 is a socket. So it works in every program and
// every test that imports this package, with nothing to call in main and
// nothing of main having run; and a worker in a library could not ask for it
// otherwise.
//
// # When a run ends
//
// A run ends when the command's first process has ended and nothing is left in
// its session: what a shell line puts into the background goes on, as it does
// under cron, and the run lasts as long. What has left the session (a daemon)
// is ended then, by SIGTERM and after Spec.Grace by SIGKILL, and counted,
// unless Spec.KeepDetached is set.
//
// Every other end is that of all descendants: SIGTERM to all, and SIGKILL,
// again and again until none is left, to those that live
//
//   - a grace after Stop,
//   - Spec.Grace after the node has died or the supervisor got SIGTERM,
//   - at Claim.Kill, whatever else goes on, where SIGTERM went out at
//     Claim.Term.
//
// # Where
//
// On Linux the supervisor is a child subreaper, so that descendants come to it
// whatever sessions they begin and however often they fork; it reaps them all,
// and has ended only when the system says that there are none. Out of reach are
// only processes with rights that the supervisor has not (a command that
// changes users by sudo under a node that is not root), and what other services
// start on a command's behalf (at, systemd-run, a container's daemon).
// Result.Unreachable counts the former.
//
// # A command that attacks its supervisor
//
// A command that runs as the node's user may send its supervisor signals, which
// one that runs as another user cannot.
//
//   - One that stops it: while the node lives, that has it go on five times a
//     second, and kills the command itself when the claim is over, or shortly
//     after a grace is; and then the supervisor, if that still does not report
//     (Result.Forced). When the node dies, the system has a stopped supervisor
//     go on, provided that the node's own parent is of another session, as
//     under a service manager. But one that is stopped again after that ends
//     nothing any more.
//   - One that kills it: the system kills the command's first process, and the
//     node the rest of its session, what bears the run's mark (the variable
//     HOURBELL_RUN) in its environment, and the descendants of both. A daemon
//     that had the environment cleared is left.
//   - Should node and supervisor both be killed, only the command's first
//     process goes with them. Its children stay.
//
// On other Unix systems there are neither subreapers nor a list of processes in
// /proc: there a session is the process group the command begins with, and what
// leaves that is left alone, and nothing ends with a supervisor that is killed
// together with its node. Elsewhere this package is empty but for Tail.
package supervise
