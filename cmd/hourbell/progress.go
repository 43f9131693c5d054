package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// bar shows the progress of something on a terminal, and prints nothing
// elsewhere.
type bar struct {
	out   io.Writer // nil: not a terminal
	steps int
	drawn bool
}

const barWidth = 30

// newBar returns a bar with the given number of steps on stderr.
func (p *program) newBar(steps int) *bar {
	b := &bar{steps: steps}
	if file, ok := p.stderr.(*os.File); ok && isTerminal(file) {
		b.out = file
	}
	return b
}

func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// show draws the bar at a step, or between two steps, with the current action.
func (b *bar) show(doing string, step float64) {
	if b.out == nil {
		return
	}
	full := min(max(int(step/float64(b.steps)*barWidth), 0), barWidth)
	fmt.Fprintf(b.out, "\r\x1b[K%s%s %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), doing)
	b.drawn = true
}

// clear removes the bar.
func (b *bar) clear() {
	if b.drawn {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
