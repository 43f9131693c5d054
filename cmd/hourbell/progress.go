package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// bar shows on a terminal how far something is. On anything else it is silent.
type bar struct {
	out   io.Writer // nil: no terminal
	steps int
	drawn bool
}

const barWidth = 30

// newBar returns a bar of so many steps on stderr.
func (p *program) newBar(steps int) *bar {
	b := &bar{steps: steps}
	if file, ok := p.stderr.(*os.File); ok && isTerminal(file) {
		b.out = file
	}
	return b
}

// isTerminal also takes the null device for one, where nothing is seen.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show draws the bar at a step, or between two, with what is being done.
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
