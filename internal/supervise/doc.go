// Package supervise runs each external command under a process of its own, the
// supervisor. The supervisor ends the command in time, even if the node that
// started it was killed, stopped by a signal, or slept together with its
// machine.
//
// # Two processes
//
// Start runs this program's own file again, as the supervisor of one command.
// Over a socket it sends the supervisor the command to run and the instant
// until which the claim on the work may be trusted (Claim, on the clock of
// package uptime). Hold moves that instant; Stop ends the command. The
// supervisor starts the command in a new session, as cron does, reads its
// output continuously, so that the command never waits for the node, and
// reports its end. Everything secret (the arguments, the environment, the
// standard input) is sent over the socket; ps shows only the supervisor's name
// and Spec.Label.
//
// An init function recognises the new process: its name is the name of a
// supervisor, and descriptor 3 is a socket. So supervision works in every
// program and every test that imports this package, needs no call in main, and
// starts before any code of main. A worker in a library could not require a
// call in main.
//
// # When a run ends
//
// A run ends when the command's first process has ended and its session is
// empty. A process that a shell line puts into the background continues, as
// under cron, and the run lasts until that process ends. Processes that have
// left the session (daemons) are then ended, by SIGTERM and after Spec.Grace by
// SIGKILL, and counted, unless Spec.KeepDetached is set.
//
// Every other cause ends all descendants: they get SIGTERM, and the descendants
// that are still alive get SIGKILL, repeatedly until none is left,
//
//   - a grace after Stop,
//   - Spec.Grace after the node has died or the supervisor got SIGTERM,
//   - at Claim.Kill in any case; SIGTERM was sent at Claim.Term.
//
// # The states of a supervisor
//
//	state    | event                                        | action, next state
//	---------+----------------------------------------------+---------------------------
//	waiting  | the node has died                            | over
//	         | the order came, the claim is about to pass   | report it, over
//	         | the order came, the command cannot start     | report it, over
//	         | the order came, the command started          | running
//	running  | a process of the session lives               | running
//	         | no descendant is left                        | over
//	         | only daemons are left, KeepDetached is set   | over
//	         | only daemons are left                        | SIGTERM to them, ending
//	         | Stop, node died, SIGTERM, Claim.Term reached | SIGTERM to all, ending
//	         | Stop with a grace of 0, Claim.Kill reached   | killing
//	ending   | no descendant is left                        | over
//	         | another of the causes above                  | a shorter grace, or no change
//	         | the grace is over, Claim.Kill reached        | killing
//	killing  | no descendant is left                        | over
//	         | all descendants left are out of reach        | count them, over
//	         | other descendants are left                   | SIGKILL to all, killing
//	over     |                                              | report the result, exit
//
// Type ending decides when SIGTERM and SIGKILL are due; type supervisor acts.
// The node runs the same ending, and acts itself if the supervisor is overdue
// (guard.go).
//
// # Where
//
// On Linux the supervisor is a child subreaper: all descendants become its
// children when their parents end, whatever sessions they begin and however
// often they fork. The supervisor reaps them all, and ends only when the system
// reports that no child is left. Two kinds of processes are out of reach:
// processes that the supervisor may not signal (a command that changes its user
// by sudo under a node that is not root), and processes that other services
// start for a command (at, systemd-run, a container's daemon).
// Result.Unreachable counts the former.
//
// # A command that attacks its supervisor
//
// A command that runs as the node's user may send its supervisor signals; a
// command that runs as another user cannot.
//
//   - A command that stops its supervisor: the node, while it lives, continues
//     the supervisor five times a second. When the claim is over, or shortly
//     after a grace is over, the node kills the command itself, and then the
//     supervisor, if the supervisor still does not report (Result.Forced). When
//     the node dies, the system continues a stopped supervisor: Linux always,
//     other systems if the node's own parent is in another session, as under a
//     service manager. If the command stops the supervisor again after that,
//     nothing ends the command.
//   - A command that kills its supervisor: the system kills the command's first
//     process. The node kills the rest of its session, the processes with the
//     run's mark (the variable HOURBELL_RUN) in their environment, and the
//     descendants of both. A daemon that cleared its environment is left.
//   - If both the node and the supervisor are killed, only the command's first
//     process is killed with them. Its children stay.
//
// Other Unix systems have neither subreapers nor a list of processes in /proc.
// There a session is the process group with which the command begins, processes
// that leave the group are left alone, and no process of the command ends if
// the supervisor is killed together with its node. On all other systems this
// package is empty.
package supervise
