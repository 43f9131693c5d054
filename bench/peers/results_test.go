package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestFigure(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.0123: "0.012", 0.5: "0.50", 2.44: "2.4", 12.6: "13", 99.4: "99", 99.6: "100", 1234.6: "1,235", 1234567: "1,234,567",
	} {
		if got := figure(x); got != want {
			t.Errorf("figure(%v) = %q, want %q", x, got, want)
		}
	}
}

// TestRatios checks that ratios are computed within a round, relative to the
// best of several rows.
func TestRatios(t *testing.T) {
	samples := []sample{
		{Cell: "c", Row: "ours", Round: 1, Metrics: metrics{rate: 100}},
		{Cell: "c", Row: "slow", Round: 1, Metrics: metrics{rate: 10}},
		{Cell: "c", Row: "fast", Round: 1, Metrics: metrics{rate: 50}},
		{Cell: "c", Row: "ours", Round: 2, Metrics: metrics{rate: 30}},
		{Cell: "c", Row: "slow", Round: 2, Metrics: metrics{rate: 10}},
		{Cell: "c", Row: "ours", Round: 3, Metrics: metrics{rate: 30}},
		{Cell: "other", Row: "slow", Round: 3, Metrics: metrics{rate: 1}},
	}
	got, ok := spreadOf(ratios(samples, "c", "ours", rate, []string{"slow", "fast"}))
	if want := (spread{2.5, 2, 3}); !ok || got != want {
		t.Errorf("ratios = %v, want %v", got, want)
	}
	if s, _ := spreadOf(listed(values(samples, "c", "ours", rate))); s.String() != "30 (30–100)" {
		t.Errorf("figures = %q", s)
	}
}

// TestGoals checks that each goal names a cell and rows that exist.
func TestGoals(t *testing.T) {
	rows := map[string]bool{}
	near, far := cells(&bench{env: envOf(nil)}), cells(&bench{env: envOf(map[string]string{"BENCH_DELAY": "500us"})})
	for _, c := range slices.Concat(near, far) {
		for _, r := range c.rows {
			rows[c.id()+"/"+r.name] = true
		}
		for _, y := range c.yardsticks {
			if !rows[c.id()+"/"+y] {
				t.Errorf("cell %s has no row %q to compare with", c.id(), y)
			}
		}
	}
	for _, g := range goals {
		for _, row := range append([]string{g.row}, g.versus...) {
			if !rows[g.cell+"/"+row] {
				t.Errorf("goal %q: cell %s has no row %q", g.text, g.cell, row)
			}
		}
		if (g.least == 0) == (g.most == 0) {
			t.Errorf("goal %q wants %v … %v", g.text, g.least, g.most)
		}
		if !g.reached(max(g.least, g.most)) || g.reached(math.NaN()) {
			t.Errorf("goal %q is reached by the wrong figures", g.text)
		}
	}
}

func TestChosen(t *testing.T) {
	b := &bench{env: envOf(nil)}
	picked, err := chosen(cells(b), []string{"drain"}, regexp.MustCompile("^river"))
	if err != nil || len(picked) != 1 || len(picked[0].rows) != 2 {
		t.Errorf("chosen = %v, %v", picked, err)
	}
	if _, err := chosen(cells(b), []string{"drian"}, regexp.MustCompile("")); err == nil || !strings.Contains(err.Error(), "drain") {
		t.Errorf("a misspelt cell: %v", err)
	}
}

// TestReport writes a file of results into a page, twice.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	results, page := filepath.Join(dir, "results"), filepath.Join(dir, "page")
	for _, v := range []any{
		head{Date: "2026-01-02", Machine: "a machine", Sizes: map[string]string{"BENCH_JOBS": "5000"}},
		sample{Cell: "drain", Row: "hourbell", Round: 1, Metrics: metrics{rate: 3000}},
		sample{Cell: "drain", Row: "river", Round: 1, Metrics: metrics{rate: 1000, "cut": 1}},
		sample{Cell: "drain", Row: "pg-boss", Round: 1, Note: "skipped: for a reason"},
	} {
		if err := appendLine(results, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(page, []byte("before\n"+figuresBegin+"goals; drain"+figuresName+"\nold\n"+figuresEnd+"\nafter\n"+
		figuresBegin+"machine; insert"+figuresName+"measured long ago\n"+figuresEnd+"\nend\n"+figuresBegin+"machine; drain, far; drain"+figuresName+figuresEnd+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := report(page, []string{results}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n", "\nafter\n", "measured long ago\n", "\nend\n", "a machine", "| drain, compared with river | ≥ 4.0 × | 3.0 | missed |",
	} {
		if strings.Count(string(text), want) != 1 {
			t.Errorf("the page does not have once: %s", want)
		}
	}
	for _, want := range []string{"| river ¹ | 1,000 |", "| pg-boss | skipped: for a reason |"} {
		if strings.Count(string(text), want) != 2 {
			t.Errorf("the page does not have twice: %s", want)
		}
	}
	if strings.Contains(string(text), "old") || strings.Count(string(text), "Drain 5,000 no-op jobs") != 2 {
		t.Errorf("a generated part has something else than its cells:\n%s", text)
	}
	if err := appendLine(results, sample{Cell: "memory", Row: "hourbell, no jobs", Round: 1, Metrics: metrics{"MB": 1}}); err != nil {
		t.Fatal(err)
	}
	if err := report(page, []string{results}); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("a cell that the page does not name: %v", err)
	}
}
