package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/hourbell/hourbell/bench/child"
)

// process is a child process; see package child.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	events chan child.Event
	err    error // valid when events is closed: the reason
	cancel context.CancelFunc
}

// start starts a process and waits until it is connected.
func (b *bench) start(ctx context.Context, s system, req child.Request) (*process, error) {
	req.System = s.name
	text, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &process{name: s.name, events: make(chan child.Event, 64), cancel: cancel}
	if p.cmd, err = b.command(ctx, s, string(text)); err != nil {
		cancel()
		return nil, err
	}
	p.cmd.Stderr = os.Stderr
	p.cmd.WaitDelay = time.Second
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		cancel()
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", s.name, err)
	}
	go p.read(stdout)
	if e, ok := <-p.events; !ok || !e.Ready {
		cancel()
		return nil, fmt.Errorf("%s did not connect: %w", s.name, p.err)
	}
	return p, nil
}

// read forwards the process's events until the process ends.
func (p *process) read(stdout io.Reader) {
	defer close(p.events)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var e child.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			p.err = fmt.Errorf("%s printed %q", p.name, lines.Text())
			return
		}
		p.events <- e
	}
	p.err = p.cmd.Wait()
}

// begin lets the process start its work.
func (p *process) begin() error {
	_, err := io.WriteString(p.stdin, "go\n")
	return err
}

// final waits for the last event.
func (p *process) final() (child.Event, error) {
	for e := range p.events {
		if e.Final {
			return e, nil
		}
	}
	return child.Event{}, fmt.Errorf("%s ended early: %w", p.name, errors.Join(p.err, errors.New("see above")))
}

// end ends the process, and kills it if that takes too long.
func (p *process) end() {
	_ = p.stdin.Close()
	timer := time.AfterFunc(20*time.Second, p.cancel)
	defer timer.Stop()
	defer p.cancel()
	for range p.events { // until the process has ended
	}
}

// stop stops a node and returns its last event.
func (p *process) stop() (child.Event, error) {
	_ = p.stdin.Close()
	defer p.end()
	return p.final()
}

// once lets a process execute a request and waits for its end.
func (b *bench) once(ctx context.Context, s system, req child.Request) (child.Event, error) {
	p, err := b.start(ctx, s, req)
	if err != nil {
		return child.Event{}, err
	}
	defer p.end()
	if err := p.begin(); err != nil {
		return child.Event{}, err
	}
	return p.final()
}
