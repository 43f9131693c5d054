package node

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
)

// startWidth is how many of the commands that a node runs at its start run at
// once.
const startWidth = 10

// bootHold is how long the store remembers that a command has run since a boot: longer than
// machines run without a boot.
const bootHold = 10 * 365 * 24 * time.Hour

// starting is what the commands that a node's files run at its start need.
type starting struct {
	// queue is served by this process only, because commands of @start are for it alone; empty: there
	// are none.
	queue string
	host  string // where commands of @reboot run
	boot  string // the identity of the present boot; empty: not known, and each start of a node counts as a boot
}

// serving returns the state with a queue for entries.
func (s starting) serving(entries []declared.Entry) starting {
	if slices.ContainsFunc(entries, func(entry declared.Entry) bool { return !s.once(entry) }) {
		s.queue = declared.Start + " " + rand.Text()[:10]
	}
	return s
}

// once reports whether a command runs once for each boot.
func (s starting) once(entry declared.Entry) bool { return entry.Boot && s.boot != "" }

// key returns the unique key of the job that runs a command once for this boot.
func (s starting) key(name string) string {
	digest := sha256.Sum256([]byte(s.host + "\x00" + s.boot + "\x00" + name))
	return declared.Reboot + " " + hex.EncodeToString(digest[:16])
}

// bootFile is where Linux has the identity of the present boot.
const bootFile = "/proc/sys/kernel/random/boot_id"

// bootID returns the identity of the present boot of this machine; empty: the system has none.
func bootID() string {
	text, err := os.ReadFile(bootFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// runAtStart enqueues the jobs of a start: @start for each start of a node, and @reboot for the
// first start since the boot. A line that is added while the node runs waits for the next start.
func (n *Node) runAtStart(ctx context.Context, client *hourbell.Client) error {
	for _, entry := range n.Watch.AtStart() {
		if n.Commands == NoCommands {
			n.Config.Logger.Warn("command of the node's start not run: --commands is off", "name", entry.Name)
			continue
		}
		once, options := entry.Schedule, []hourbell.Option(nil)
		once.Queue, once.On = n.starting.queue, hourbell.Place{}
		if n.starting.once(entry) {
			// Any node of the host may run it, so that the job of a node that died is not lost.
			once.Queue, once.On = entry.Queue, hourbell.Place{Host: n.starting.host}
			options = append(options, hourbell.Unique(n.starting.key(entry.Name)), hourbell.UniqueFor(bootHold))
		}
		job, err := client.Schedules.RunOnce(ctx, once, options...)
		if err != nil {
			return fmt.Errorf("run at the start of the node: %w", err)
		}
		if job.Existed {
			n.Config.Logger.Info("command of the boot is not run again: the host has not booted since", "name", entry.Name, "job", job.ID)
			continue
		}
		n.Config.Logger.Info("command of the node's start enqueued", "name", entry.Name, "job", job.ID)
	}
	return nil
}
