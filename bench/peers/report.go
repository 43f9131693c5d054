package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// head is the first line of each run's results: where and how they were
// measured.
type head struct {
	Date     string            `json:"date"`
	Machine  string            `json:"machine"`
	Server   string            `json:"server"`
	Versions []string          `json:"versions"`
	Sizes    map[string]string `json:"sizes"`
}

// printHead writes the description of the run to the terminal and to the file.
func (b *bench) printHead(ctx context.Context) error {
	h := head{Date: time.Now().UTC().Format(time.DateOnly), Machine: machine(), Versions: versions(ctx), Sizes: b.env.sizes()}
	const settings = `SELECT split_part(version(), ' on ', 1) || ', ' || string_agg(name || '=' || current_setting(name), ', ' ORDER BY name)
		FROM pg_settings WHERE name IN ('shared_buffers', 'fsync', 'synchronous_commit', 'max_wal_size', 'checkpoint_timeout', 'autovacuum')`
	if err := b.admin.QueryRow(ctx, settings).Scan(&h.Server); err != nil {
		return err
	}
	if b.mysql != nil {
		h.Server += "; " + b.mysql.about
	}
	fmt.Fprintf(os.Stderr, "%s\n%s\n%s\nfigures go to %s\n", h.Machine, h.Server, strings.Join(h.Versions, ", "), b.env.out)
	return appendLine(b.env.out, h)
}

// machine describes the cores.
func machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores, %s, %s/%s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// versions returns the versions of the systems that are measured.
func versions(ctx context.Context) []string {
	var found []string
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			switch m.Path {
			case "github.com/riverqueue/river", "github.com/vgarvardt/gue/v5", "maragu.dev/goqite",
				"github.com/mikestefanello/backlite", "github.com/go-co-op/gocron/v2", "github.com/jackc/pgx/v5", "modernc.org/sqlite", "github.com/go-sql-driver/mysql":
				found = append(found, m.Path+" "+m.Version)
			}
		}
	}
	if text, err := os.ReadFile("river/sqlite/go.sqlite.mod"); err == nil {
		for line := range strings.Lines(string(text)) {
			if path, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasSuffix(path, "/riversqlite") {
				found = append(found, path+" "+version)
			}
		}
	}
	var manifest struct{ Dependencies map[string]string }
	if text, err := os.ReadFile("node/package.json"); err == nil && json.Unmarshal(text, &manifest) == nil {
		for _, name := range []string{"graphile-worker", "pg-boss", "pg-boss-12"} {
			found = append(found, name+" "+strings.TrimPrefix(manifest.Dependencies[name], "npm:pg-boss@"))
		}
	}
	if text, err := exec.CommandContext(ctx, "node", "--version").Output(); err == nil {
		found = append(found, "node "+strings.TrimSpace(string(text)))
	}
	return found
}

// A generated part of the page begins with the line figuresBegin, which names the parts it has (cells by their ids, the table of goals, and
// where the figures were measured), and ends with the line figuresEnd. The page has as many of them as it has questions.
const (
	figuresBegin = "<!-- figures: "
	figuresName  = " -->\n"
	figuresEnd   = "<!-- end of figures -->"
	partGoals    = "goals"
	partHead     = "machine"
)

// report writes the figures of the result files into a page.
func report(page string, files []string) error {
	var heads []head
	var samples []sample
	for _, file := range files {
		h, s, err := readResults(file)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		heads, samples = append(heads, h...), append(samples, s...)
	}
	if len(heads) == 0 {
		return errors.New("there are no results in these files")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	parts := partsOf(heads, samples)
	filled, err := fill(string(text), parts)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(filled), 0o600)
}

// partsOf returns the parts of a page that the results have, by name.
func partsOf(heads []head, samples []sample) map[string]string {
	h := heads[len(heads)-1]
	all := cells(&bench{env: envOf(h.Sizes)})
	for _, h := range heads { // results over a network are in files of their own
		if e := envOf(h.Sizes); e.delay > 0 != all[0].far {
			all = append(all, cells(&bench{env: e})...)
			break
		}
	}
	parts := map[string]string{
		partHead: fmt.Sprintf("Measured on %s: %s. %s. %s.\n", h.Date, h.Machine, h.Server, strings.Join(h.Versions, ", ")),
	}
	if t, ok := goalTable(samples); ok {
		parts[partGoals] = t.markdown()
	}
	for _, c := range all {
		if t, ok := cellTable(c, samples); ok {
			parts[c.id()] = fmt.Sprintf("### %s\n\n%s", t.title, t.markdown())
		}
	}
	return parts
}

// fill returns a page with the given parts in its generated parts. A generated part stays as it is if the results have none of its cells.
// A cell that the page does not name is an error.
func fill(page string, parts map[string]string) (string, error) {
	var out strings.Builder
	named := map[string]bool{}
	for {
		before, rest, found := strings.Cut(page, figuresBegin)
		out.WriteString(before)
		if !found {
			break
		}
		names, rest, ok := strings.Cut(rest, figuresName)
		old, after, ok2 := strings.Cut(rest, figuresEnd)
		if !ok || !ok2 {
			return "", fmt.Errorf("a line %q has no %q after its names, or no line %q follows", figuresBegin, figuresName, figuresEnd)
		}
		var made []string
		for name := range strings.SplitSeq(names, "; ") {
			named[name] = true
			if text, ok := parts[name]; ok {
				made = append(made, text)
			}
		}
		if len(made) > 1 || len(made) == 1 && made[0] != parts[partHead] {
			old = "\n" + strings.Join(made, "\n") + "\n"
		}
		out.WriteString(figuresBegin + names + figuresName + old + figuresEnd)
		page = after
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if !named[name] {
			return "", fmt.Errorf("no line %q names %s", figuresBegin, name)
		}
	}
	return out.String(), nil
}

// readResults reads a file of results; if a row has several results of a round,
// the last result counts.
func readResults(path string) (heads []head, samples []sample, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var either struct {
			head
			sample
		}
		if err := json.Unmarshal(lines.Bytes(), &either); err != nil {
			return nil, nil, err
		}
		if either.Cell == "" {
			heads = append(heads, either.head)
		} else {
			samples = append(samples, either.sample)
		}
	}
	return heads, samples, lines.Err()
}
