package node

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hourbell/hourbell"
)

// EchoTime is how long after the first signal another signal counts as the same
// signal: timeout(1) and similar programs signal a process and then its group,
// so two signals arrive.
const EchoTime = 200 * time.Millisecond

// asks are the signals that ask a node for something other than to stop.
type asks struct {
	reread  chan os.Signal // SIGHUP: all files have to be read again
	resize  chan os.Signal // SIGHUP: the files of --queues and --max-running, too
	upgrade chan os.Signal // upgradeSignal: the program has to be replaced
}

func newAsks() *asks {
	return &asks{reread: make(chan os.Signal, 1), resize: make(chan os.Signal, 1), upgrade: make(chan os.Signal, 1)}
}

// hear receives the signals from now on.
func (a *asks) hear() {
	signal.Notify(a.reread, syscall.SIGHUP)
	signal.Notify(a.resize, syscall.SIGHUP)
	if upgradeSignal != nil {
		signal.Notify(a.upgrade, upgradeSignal)
	}
}

// ignore ignores the signals until hear is called, in the next program of the process too.
func (a *asks) ignore() {
	signal.Ignore(syscall.SIGHUP)
	if upgradeSignal != nil {
		signal.Ignore(upgradeSignal)
	}
}

func (a *asks) close() {
	signal.Stop(a.reread)
	signal.Stop(a.resize)
	signal.Stop(a.upgrade)
}

// onSignals makes the first SIGINT or SIGTERM begin the stop, and the second
// end the wait for jobs; a third signal ends the process in the default way.
// The returned function ends the handling of signals.
func (n *Node) onSignals(begin, hurry func()) (end func()) {
	signals, ended := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	await := func(message string, since time.Time, do func()) {
		for {
			select {
			case s := <-signals:
				if time.Now().Before(since) {
					continue
				}
				n.Config.Logger.Info(message, "signal", s.String())
				do()
			case <-ended:
			}
			return
		}
	}
	go func() {
		await("stopping", time.Time{}, begin)
		await("stop is cut short", time.Now().Add(EchoTime), hurry)
		signal.Stop(signals)
	}()
	return func() {
		signal.Stop(signals)
		close(ended)
	}
}

// cutShort ends the wait for running jobs.
func cutShort(client *hourbell.Client) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = client.Stop(now) // the error only means that jobs were ended early
}
