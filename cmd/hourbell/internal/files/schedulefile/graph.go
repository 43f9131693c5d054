package schedulefile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/store"
)

var (
	graphKeys     = []string{"jobs", "finally"}
	graphWorkKeys = workKeys.names()
	graphJobKeys  = slices.Concat(graphWorkKeys, declared.NamesOf(declared.JobKeys()), []string{"in", "at", "after", "need"})
	graphEdgeKeys = []string{"on", "delay"}
	graphLastKeys = slices.Concat(graphWorkKeys, declared.NamesOf(declared.JobKeys()), []string{"in", "at", "on"})
)

// ReadGraph reads a graph of jobs for hourbell.Client.EnqueueGraph, in YAML or JSON:
//
//	jobs:
//	  export: {command: [export, --full], queue: night, timeout: 2h}
//	  check:  {kind: check, args: {day: 2027-03-01}, after: {export: {on: success, delay: 5m}}}
//	  tell:   {shell: "mail -s failed ops", after: {export: failure, check: failure}, need: any}
//	finally: {shell: ./clean, on: always}    # or all, failed
//
// The work of a job is described as in a schedule; see the package comment. after is a
// mapping of the names of other jobs to success (or nothing), failure or either, or to on
// and delay; or a list of names. in and at are as for `hourbell enqueue`. Messages call the
// file name. The error is a *declared.FileError with every mistake of the file; cycles and
// unknown names are found by hourbell.Graph.Validate.
func ReadGraph(name string, text []byte) (hourbell.Graph, error) {
	var errs declared.FileError
	graph := hourbell.Graph{Jobs: map[string]hourbell.GraphJob{}}
	if !declared.CheckText(name, text, &errs) {
		return graph, errs.Err()
	}
	root := yamltree.Parse(name, text, &errs)
	if root == nil {
		return graph, errs.Err()
	}
	m := &entry{reader: &reader{path: name, errs: &errs}, node: root}
	if m.isMapping("the graph", "write jobs: and below it the name of each") {
		m.checkNames(graphKeys)
		m.graphJobs(graph.Jobs)
		graph.Finally = m.graphFinally()
	}
	return graph, errs.Err()
}

// graphJobs reads the jobs of a graph.
func (e *entry) graphJobs(jobs map[string]hourbell.GraphJob) {
	f := e.find("jobs")
	switch {
	case f == nil:
		e.add("jobs", "is missing", "write jobs: and below it the name of each")
		return
	case f.Value.Sort != yamltree.Mapping:
		e.add("jobs", "is "+f.Value.Sort.String(), "write the name of each job and what it runs")
		return
	}
	for _, job := range f.Value.Fields {
		one := &entry{reader: e.reader, node: job.Value, label: fmt.Sprintf("jobs %q", declared.Label(job.Key, 60))}
		if !one.isMapping("", "write kind and args, command or shell as keys") {
			continue
		}
		one.addFields(check.Name("name", job.Key))
		jobs[job.Key] = one.graphJob()
	}
}

// graphFinally reads the last job of a graph.
func (e *entry) graphFinally() *hourbell.Finally {
	f := e.find("finally")
	if f == nil {
		return nil
	}
	one := &entry{reader: e.reader, node: f.Value, label: "finally"}
	if !one.isMapping("", "write kind and args, command or shell as keys, and on") {
		return nil
	}
	one.checkNames(graphLastKeys)
	on := one.choice("on", string(hourbell.FinallyAll), string(hourbell.FinallyFailed), string(hourbell.FinallyAlways))
	args, options := one.graphWork()
	return &hourbell.Finally{Args: args, Options: options, On: hourbell.FinallyOn(on)}
}

func (e *entry) graphJob() hourbell.GraphJob {
	e.checkNames(graphJobKeys)
	args, options := e.graphWork()
	if e.choice("need", "all", "any") == "any" {
		options = append(options, hourbell.AfterAny())
	}
	return hourbell.GraphJob{Args: args, Options: options, After: e.graphEdges()}
}

// graphWork reads what a job of a graph does, and its options.
func (e *entry) graphWork() (hourbell.Args, []hourbell.Option) {
	var s hourbell.Schedule
	e.work(&s)
	var options []hourbell.Option
	for _, key := range declared.JobKeys() {
		if e.set(key, &s) {
			options = append(options, key.Option(s))
		}
	}
	if in := e.duration("in"); in > 0 {
		options = append(options, hourbell.In(time.Duration(in)))
	}
	if at := e.properName("at"); at != "" {
		t, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			e.add("at", fmt.Sprintf("%q is not an instant", declared.Label(at, 60)), "write an instant such as 2027-03-01T09:00:00Z")
		} else {
			options = append(options, hourbell.At(t))
		}
	}
	if raw := declared.Raw(s.Job); raw.Name != "" {
		e.addFields(hourbell.Request{Args: s.Job, Options: options}.Validate())
	}
	return s.Job, options
}

// graphEdges reads the predecessors of a job of a graph.
func (e *entry) graphEdges() map[string]hourbell.GraphEdge {
	f := e.find("after")
	if f == nil {
		return nil
	}
	edges := map[string]hourbell.GraphEdge{}
	if f.Value.Sort != yamltree.Mapping {
		for _, name := range e.words("after") {
			edges[name] = hourbell.GraphEdge{}
		}
		return edges
	}
	for _, field := range f.Value.Fields {
		one := &entry{reader: e.reader, node: field.Value, label: fmt.Sprintf("%s: after %q", e.label, declared.Label(field.Key, 60))}
		var edge hourbell.GraphEdge
		switch field.Value.Sort {
		case yamltree.Null:
		case yamltree.Scalar:
			edge.On = one.outcome(field.Value.Text, field.Line)
		case yamltree.Mapping:
			one.checkNames(graphEdgeKeys)
			if on := one.text("on"); one.has("on") {
				edge.On = one.outcome(on, one.lineOf("on"))
			}
			if one.text("delay") != "0s" {
				edge.Delay = time.Duration(one.duration("delay"))
			}
		default:
			e.addAt(field.Line, "after", "holds "+field.Value.Sort.String(), "write an outcome, or on and delay as keys")
		}
		edges[field.Key] = edge
	}
	return edges
}

// outcome reads the outcome that an edge waits for.
func (e *entry) outcome(text string, line int) store.On {
	on, known := store.ParseOn(text)
	if !known {
		words := []string{store.OnSuccess.String(), store.OnFailure.String(), store.OnEither.String()}
		e.addAt(line, "on", fmt.Sprintf("%q is unknown%s", declared.Label(text, 60), declared.Suggest(text, words)), "use "+strings.Join(words, " or "))
	}
	return on
}
