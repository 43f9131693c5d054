// Package ruby reads the files of two Ruby schedulers: schedule.yml of sidekiq-cron, and recurring.yml of Solid Queue. Classes
// become kinds, whose workers have to be written here.
package ruby

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/draft"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/fugit"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
)

var (
	class    = regexp.MustCompile(`(?m)(^[ \t-]+|[{,][ \t]*)"?(class|klass|command)"?:`)
	cron     = regexp.MustCompile(`(?m)(^[ \t-]+|[{,][ \t]*)"?cron"?:`)
	schedule = regexp.MustCompile(`(?m)(^[ \t-]+|[{,][ \t]*)"?schedule"?:`)
)

// IsSidekiqCron reports whether a text looks like a schedule of sidekiq-cron.
func IsSidekiqCron(_ string, text []byte) bool {
	return class.Match(text) && cron.Match(text) && !ownFile.Match(text)
}

// IsSolidQueue reports whether a text looks like recurring tasks of Solid Queue.
func IsSolidQueue(_ string, text []byte) bool {
	return class.Match(text) && schedule.Match(text) && !ownFile.Match(text)
}

// ownFile matches a schedule file of Hourbell.
var ownFile = regexp.MustCompile(`(?m)^"?schedules"?:`)

// SidekiqCron reads a schedule of sidekiq-cron.
func SidekiqCron(src draft.Source) (*declared.File, error) {
	d := draft.New(src, "sidekiq-cron")
	root := document(d)
	if root != nil && root.Sort == yamltree.List {
		for i, item := range root.Items {
			sidekiqJob(d, d.Mapping(item, fmt.Sprintf("[%d]", i)), "", item.Line)
		}
		return d.Set()
	}
	for _, f := range d.Mapping(root, "").Fields() {
		sidekiqJob(d, d.Mapping(f.Value, f.Key), f.Key, f.Line)
	}
	return d.Set()
}

// document returns the only document of a file. A template is refused, because its values are not in the file.
func document(d *draft.Draft) *yamltree.Node {
	if at := bytes.Index(d.Text, []byte("<%")); at >= 0 {
		d.Refuse(1+bytes.Count(d.Text[:at], []byte("\n")), "<%", "is Ruby, which is not run here", "write the value in its place")
		return nil
	}
	return yamltree.Parse(d.Path, d.Text, d.Mistakes())
}

// sidekiqJob reads a job of sidekiq-cron.
func sidekiqJob(d *draft.Draft, m *draft.Mapping, name string, line int) {
	if given := m.Text("name"); given != "" {
		name = given
	}
	m.Ignore("description", "source")
	s := hourbell.Schedule{Name: name, Overlap: hourbell.OverlapAllow, Queue: m.Text("queue")}
	s.Rule = rule(m, "cron")
	s.Paused = m.Is("status", "disabled")
	kind := m.Text("class")
	if kind == "" {
		kind = m.Text("klass")
	}
	if kind == "" {
		m.Refuse("class", "is missing", "name the class, which becomes the kind")
	}
	switch retry := m.Text("retry"); retry {
	case "", "true":
	case "false":
		s.MaxAttempts = 1
	default:
		if n, given := m.Number("retry", hourbell.MaxAttemptsLimit-1); given {
			s.MaxAttempts = n + 1
		}
	}
	if m.Is("date_as_argument", "true") {
		m.Refuse("date_as_argument", "gives each job the time as an argument", "remove it, and let the worker take the slot of its job")
	}
	if args := arguments(m); kind != "" {
		s.Job = hourbell.RawArgs{Name: kind, JSON: args}
	}
	m.End()
	d.Add(line, s)
}

// SolidQueue reads recurring tasks of Solid Queue.
func SolidQueue(src draft.Source) (*declared.File, error) {
	d := draft.New(src, "solid-queue")
	tasks := d.Mapping(document(d), "")
	if sections := sectionsOf(tasks); len(sections) > 0 {
		tasks = section(d, tasks, sections)
	}
	for _, f := range tasks.Fields() {
		task(d, d.Mapping(f.Value, f.Key), f.Key, f.Line)
	}
	return d.Set()
}

// sectionsOf returns the environments that a file has at its top, by name: mappings without a schedule.
func sectionsOf(m *draft.Mapping) map[string]int {
	sections := map[string]int{}
	for _, f := range m.Fields() {
		if f.Value.Sort != yamltree.Mapping || f.Value.Find("schedule") != nil || f.Value.Find("class") != nil {
			return nil
		}
		sections[f.Key] = f.Line
	}
	return sections
}

// section returns the tasks of the environment to read.
func section(d *draft.Draft, m *draft.Mapping, sections map[string]int) *draft.Mapping {
	names := slices.Sorted(maps.Keys(sections))
	name := d.Section
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	if _, found := sections[name]; !found {
		d.Refuse(1, "", "has the environments "+strings.Join(names, ", "), "choose an environment by --section NAME")
		return d.Mapping(nil, "")
	}
	for _, other := range names {
		if other != name {
			d.Warn(sections[other], other, "is another environment, and is left out", "")
		}
	}
	return d.Mapping(m.Node(name), "")
}

// task reads a task of Solid Queue.
func task(d *draft.Draft, m *draft.Mapping, name string, line int) {
	m.Ignore("description")
	s := hourbell.Schedule{Name: name, Overlap: hourbell.OverlapAllow, Queue: m.Text("queue")}
	s.Rule = rule(m, "schedule")
	if m.Node("command") != nil {
		m.Refuse("command", "is Ruby, which is not run here", "write class: with the name of a job, which becomes the kind")
	}
	kind := m.Text("class")
	if kind == "" && m.Node("command") == nil {
		m.Refuse("class", "is missing", "name the class, which becomes the kind")
	}
	m.Leave("priority", "0", "priorities here are 1 (first) to 9, and 5 without a choice")
	if args := arguments(m); kind != "" {
		s.Job = hourbell.RawArgs{Name: kind, JSON: args}
	}
	m.End()
	d.Add(line, s)
}

// rule reads a rule in Fugit's words.
func rule(m *draft.Mapping, key string) (spec recur.Spec) {
	text := m.Text(key)
	if m.Node(key) == nil {
		m.Refuse(key, "is missing", "write when it rings")
		return spec
	}
	spec, problem, remedy := fugit.Rule(text)
	if problem != "" {
		m.Refuse(key, fmt.Sprintf("%q %s", declared.Label(text, 100), problem), remedy)
		return recur.Spec{}
	}
	return spec
}

// arguments returns the arguments of a job: a list, as Ruby passes them.
func arguments(m *draft.Mapping) []byte {
	n := m.Node("args")
	if n == nil {
		return nil
	}
	if n.Sort != yamltree.List {
		n = &yamltree.Node{Sort: yamltree.List, Line: n.Line, Items: []*yamltree.Node{n}}
	}
	text, err := n.JSON()
	if bad := (*yamltree.JSONError)(nil); errors.As(err, &bad) {
		m.Refuse("args", bad.Problem, bad.Remedy)
	}
	return text
}
