package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// spread summarises the results of several rounds.
type spread struct{ median, least, most float64 }

func spreadOf(values []float64) (spread, bool) {
	if len(values) == 0 {
		return spread{}, false
	}
	slices.Sort(values)
	n := len(values)
	return spread{(values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1]}, true
}

// String returns the median, followed by the range if the rounds differ.
func (s spread) String() string {
	text := figure(s.median)
	if least, most := figure(s.least), figure(s.most); least != text || most != text {
		text += " (" + least + "–" + most + ")"
	}
	return text
}

// figure writes a number with three significant digits, or as an integer.
func figure(x float64) string {
	switch {
	case x == 0:
		return "0"
	case math.Abs(x) >= 99.5:
		return thousands(int(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'f', max(0, 1-int(math.Floor(math.Log10(math.Abs(x))))), 64)
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// values returns a row's figures, by round.
func values(samples []sample, cell, row, metric string) map[int]float64 {
	found := map[int]float64{}
	for _, s := range samples {
		if v, ok := s.Metrics[metric]; ok && s.Cell == cell && s.Row == row {
			found[s.Round] = v
		}
	}
	return found
}

// ratios divides the figures of two rows round by round.
func ratios(samples []sample, cell, row, metric string, versus []string) []float64 {
	var found []float64
	for round, v := range values(samples, cell, row, metric) {
		best := 0.0
		for _, other := range versus {
			best = max(best, values(samples, cell, other, metric)[round])
		}
		if best > 0 {
			found = append(found, v/best)
		}
	}
	return found
}

func listed(byRound map[int]float64) []float64 {
	var list []float64
	for _, v := range byRound {
		list = append(list, v)
	}
	return list
}

// table is a title and rows of text; the first row has the names of the
// columns.
type table struct {
	title string
	rows  [][]string
}

// tables makes a table for each cell that has samples, and a table of the
// goals.
func tables(all []cell, samples []sample) []table {
	var made []table
	if t, ok := goalTable(samples); ok {
		made = append(made, t)
	}
	for _, c := range all {
		if t, ok := cellTable(c, samples); ok {
			made = append(made, t)
		}
	}
	return made
}

func cellTable(c cell, samples []sample) (table, bool) {
	t := table{title: c.title}
	head := append([]string{""}, c.metrics...)
	for _, y := range c.yardsticks {
		head = append(head, "× "+y)
	}
	t.rows = append(t.rows, head)
	for _, r := range c.rows {
		if line, ok := rowLine(c, r, samples); ok {
			t.rows = append(t.rows, line)
		}
	}
	return t, len(t.rows) > 1
}

// rowLine returns a row's line: figures, then ratios. A row without figures has
// the reason instead.
func rowLine(c cell, r row, samples []sample) ([]string, bool) {
	line := []string{r.name}
	measured := false
	for _, metric := range c.metrics {
		s, ok := spreadOf(listed(values(samples, c.id(), r.name, metric)))
		measured = measured || ok
		line = append(line, textOr(s, ok))
	}
	for _, y := range c.yardsticks {
		s, ok := spreadOf(ratios(samples, c.id(), r.name, c.metrics[0], []string{y}))
		line = append(line, textOr(s, ok && y != r.name))
	}
	if cut, ok := spreadOf(listed(values(samples, c.id(), r.name, "cut"))); ok && cut.most > 0 {
		line[0] += " ¹"
	}
	if measured {
		return line, true
	}
	for _, s := range samples {
		if s.Cell == c.id() && s.Row == r.name && s.Note != "" {
			return []string{r.name, s.Note}, true
		}
	}
	return nil, false
}

func textOr(s spread, ok bool) string {
	if !ok {
		return ""
	}
	return s.String()
}

func goalTable(samples []sample) (table, bool) {
	t := table{title: "Goals", rows: [][]string{{"", "goal", "figure", ""}}}
	for _, g := range goals {
		list := listed(values(samples, g.cell, g.row, g.metric))
		wanted, times := "≥ "+figure(g.least), ""
		if g.most > 0 {
			wanted = "≤ " + figure(g.most)
		}
		if len(g.versus) > 0 {
			list, times = ratios(samples, g.cell, g.row, g.metric, g.versus), " ×"
		}
		s, ok := spreadOf(list)
		if !ok {
			continue
		}
		answer := "missed"
		if g.reached(s.median) {
			answer = "reached"
		}
		t.rows = append(t.rows, []string{g.text, wanted + times, s.String(), answer})
	}
	return t, len(t.rows) > 1
}

// printTables prints the tables as plain text.
func printTables(w io.Writer, all []cell, samples []sample) error {
	for _, t := range tables(all, samples) {
		if _, err := fmt.Fprintf(w, "\n%s\n\n%s", t.title, t.text()); err != nil {
			return err
		}
	}
	return nil
}

// text returns the table with aligned columns.
func (t table) text() string {
	var widths []int
	for _, row := range t.rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i > 0 && len(row) == 2 { // a note may be long
				continue
			}
			widths[i] = max(widths[i], len([]rune(text)))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		for i, text := range row {
			pad := strings.Repeat(" ", max(0, widths[i]-len([]rune(text))))
			if i == 0 {
				b.WriteString(text + pad)
			} else {
				b.WriteString("  " + pad + text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// markdown returns the table as Markdown.
func (t table) markdown() string {
	var b strings.Builder
	for i, row := range t.rows {
		for len(row) < len(t.rows[0]) {
			row = append(row, "")
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|---" + strings.Repeat("|---:", len(row)-1) + "|\n")
		}
	}
	return b.String()
}
