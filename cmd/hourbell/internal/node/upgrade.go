package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/replace"
	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/tail"
)

// An upgrade replaces the program of a node in place, while its commands run:
//
//	state      the node                    event                                  next state
//	running    works                       SIGUSR2                                trying
//	trying     works                       the new program cannot take over       running, with an error in the log
//	                                       the new program has shown that it can  ending
//	ending     works, claims only          no other job is left                   resting
//	           commands                    --drain has passed                     running, with an error in the log
//	resting    no claim, no slot; the      its state is written                   replaced: running, in the new program
//	           commands run                anything fails                         running, with an error in the log
//
// If the new program fails after it has replaced the old program, the process ends; the supervisors
// of the commands notice it and end the commands.

// UpgradeFlag is the flag, with the format of the state as its value, with which the new program is
// tried: it does what the start of a node does, except that it does not become a node.
const UpgradeFlag = "upgrade-check"

// trialTime is how long the new program may take to try its start, with all migrations of the store.
const trialTime = 10 * time.Minute

// Message is what a program hands over to the next program of its process.
type Message struct {
	Format     int            `json:"format"`                // handover.Format
	Client     []byte         `json:"client"`                // for hourbell.Config.TakeOver
	Commands   []int          `json:"commands,omitempty"`    // descriptors of running commands
	Sites      map[string]int `json:"sites,omitempty"`       // the sockets of sites, by name
	StartQueue string         `json:"start_queue,omitempty"` // see starting.queue
	Again      bool           `json:"again,omitempty"`       // another upgrade was asked for
}

// descriptors returns all open files that the message names.
func (m *Message) descriptors() []int {
	all := append([]int(nil), m.Commands...)
	for _, fd := range m.Sites {
		all = append(all, fd)
	}
	return all
}

// socket returns the socket of a site; nil: it was not handed over.
func (m *Message) socket(name string) *os.File {
	if m == nil {
		return nil
	}
	fd, ok := m.Sites[name]
	if !ok {
		return nil
	}
	return os.NewFile(uintptr(fd), name)
}

// Take returns what the program before has handed over in this process; nil: nothing. Call it before
// the process starts other processes.
func Take() (*Message, error) {
	text, err := replace.Take()
	if err != nil || text == nil {
		return nil, err
	}
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("read what the program before has handed over: %w", err)
	}
	if m.Format != handover.Format {
		return nil, fmt.Errorf("the program before has handed its node over in the format %d, and this release reads the format %d", m.Format, handover.Format)
	}
	if err := replace.Keep(m.descriptors()); err != nil {
		return nil, fmt.Errorf("take over what the program before has handed over: %w", err)
	}
	return &m, nil
}

// answerOfTrial is what the new program writes when it could take over.
type answerOfTrial struct {
	Format  int    `json:"format"`
	Version string `json:"version"`
}

// TryUpgrade tries whether this program could take over a node that is handed over in a format: its
// configuration and its files are good, and its store can be opened, for which the schema is migrated
// as at a start. It writes the answer to out.
func (n *Node) TryUpgrade(ctx context.Context, format int, out io.Writer) error {
	if format != handover.Format {
		return fmt.Errorf("the running program hands over in the format %d, and this release reads the format %d: restart the node", format, handover.Format)
	}
	defer n.closeSQL()
	if err := n.prepare(); err != nil {
		return err
	}
	b, err := n.Store.Open(ctx, n.Migrate)
	if err != nil {
		return fmt.Errorf("open the store %s: %w", n.Store, err)
	}
	b.Close()
	return json.NewEncoder(out).Encode(answerOfTrial{Format: format, Version: hourbell.Build()})
}

// upgrades replaces the program whenever a signal asks for it, until ctx ends.
func (n *Node) upgrades(ctx context.Context, client *hourbell.Client, asks *asks) {
	log := n.Config.Logger
	program := launched()
	if n.Taken != nil && n.Taken.Again {
		asks.upgrade <- upgradeSignal // there is room: upgrades has received nothing yet
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-asks.upgrade:
		}
		log.Info("upgrade: the new program is tried", "program", program)
		err := n.upgrade(ctx, client, program, asks)
		if ctx.Err() != nil {
			return
		}
		log.Error("upgrade not done; the node goes on with its program", "program", program, "error", plain.OneLine(err.Error()),
			"remedy", "remove the cause and send SIGUSR2 again, or restart the node, which ends its commands")
	}
}

// upgrade replaces the program. It returns only if that fails.
func (n *Node) upgrade(ctx context.Context, client *hourbell.Client, program string, asks *asks) error {
	tried, err := os.Stat(program)
	if err != nil {
		return err
	}
	version, err := n.try(ctx, program)
	if err != nil {
		return err
	}
	return client.HandOver(ctx, func(state []byte, descriptors []int) error {
		if now, err := os.Stat(program); err != nil || !same(tried, now) {
			return errors.Join(errors.New("the file of the program was changed while the program was tried"), err)
		}
		m := Message{
			Format: handover.Format, Client: state, Commands: descriptors, Sites: map[string]int{},
			StartQueue: n.starting.queue, Again: len(asks.upgrade) > 0,
		}
		resume, err := n.handOverSites(&m)
		defer resume()
		if err != nil {
			return err
		}
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		n.Config.Logger.Info("upgrade: the program is replaced", "program", program, "version", version, "commands", len(m.Commands))
		asks.ignore() // their default is to end the process
		defer asks.hear()
		return replace.Exec(program, os.Args, n.Env, text, m.descriptors())
	})
}

// handOverSites hands all sites over. resume makes them answer again, if the program was not replaced.
func (n *Node) handOverSites(m *Message) (resume func(), err error) {
	sockets := map[*site]*os.File{}
	resume = func() {
		for s, file := range sockets {
			if err := s.take(file); err != nil {
				n.Config.Logger.Error("address not answered any more", "error", err)
			}
		}
	}
	for _, s := range n.sites {
		file, err := s.handOver()
		if err != nil {
			return resume, err
		}
		sockets[s] = file
		m.Sites[s.name] = int(file.Fd())
	}
	return resume, nil
}

// same reports whether a file has not been changed between two looks.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// maxSaid is how much of what the new program writes is read.
const maxSaid = 4 << 10

// try starts the program in a file with the arguments of this node and UpgradeFlag, and returns its
// version if it could take over.
func (n *Node) try(ctx context.Context, program string) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	format := strconv.Itoa(handover.Format)
	trial := exec.CommandContext(ctx, program)
	trial.Args = append(append([]string{}, os.Args...), "--"+UpgradeFlag+"="+format)
	trial.Env = n.Env
	trial.WaitDelay = time.Second
	out, said := tail.New(maxSaid), tail.New(maxSaid)
	trial.Stdout, trial.Stderr = out, said
	if err := trial.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it did not answer within %v", trialTime)
		}
		return "", fmt.Errorf("the new program cannot take over: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	var answer answerOfTrial
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || strconv.Itoa(answer.Format) != format {
		return "", fmt.Errorf("the new program cannot take over: it answers %q", bytes.TrimSpace(out.Bytes()))
	}
	return answer.Version, nil
}

// launched returns the path by which this program was started. It may be a link, which may point to
// another program later. If the path does not lead to this program, launched returns the path of the
// program's file.
func launched() string {
	self, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	running, err := os.Stat("/proc/self/exe")
	if err != nil {
		return self
	}
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return self
	}
	if path, err = filepath.Abs(path); err != nil {
		return self
	}
	if found, err := os.Stat(path); err != nil || !os.SameFile(found, running) {
		return self
	}
	return path
}
