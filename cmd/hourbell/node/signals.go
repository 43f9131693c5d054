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
