// Package kubernetes reads the CronJobs of Kubernetes: manifests, and what kubectl get --output yaml prints.
package kubernetes

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/draft"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

var cronJob = regexp.MustCompile(`(?m)^[ \t-]*"?kind"?:[ \t]*"?CronJob\b`)

// Is reports whether a text has a CronJob.
func Is(_ string, text []byte) bool { return cronJob.Match(text) }

// Read reads the CronJobs of a file. Other objects are named in warnings.
func Read(src draft.Source) (*declared.File, error) {
	d := draft.New(src, "kubernetes")
	for _, object := range yamltree.ParseAll(src.Path, src.Text, d.Mistakes()) {
		read(d, object)
	}
	return d.Set()
}

// read reads an object, or each object of a list.
func read(d *draft.Draft, object *yamltree.Node) {
	m := d.Mapping(object, "", "apiVersion", "status", "metadata")
	switch kind := m.Text("kind"); kind {
	case "CronJob":
		job(d, m)
	case "List", "CronJobList":
		for _, item := range m.List("items") {
			read(d, item)
		}
	default:
		m.Warn("kind", fmt.Sprintf("%q is no CronJob, and is left out", declared.Label(kind, 60)), "")
	}
}

// Times of the controllers of Kubernetes.
const (
	defaultRetries = 6                     // backoffLimit
	backoff        = "exponential:10s:10m" // between the pods of a job
	neverLate      = 60                    // seconds; within them a slot is on time here
)

// job reads a CronJob.
func job(d *draft.Draft, m *draft.Mapping) {
	meta := m.Mapping("metadata", "labels", "annotations", "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")
	name := meta.Text("name")
	if space := meta.Text("namespace"); space != "" && space != "default" {
		name = space + "/" + name
	}
	meta.End()
	spec := m.Mapping("spec")
	m.End()
	s := hourbell.Schedule{Name: name, Rule: draft.Robfig(spec.Text("schedule")), Backoff: backoff, Timeout: hourbell.MaxDuration}
	s.Rule.Zone = spec.Text("timeZone")
	s.Paused = spec.Is("suspend", "true")
	s.Overlap = overlap(spec)
	late(spec, &s)
	const kept = "how long finished jobs are kept is set by kinds: {command: {keep: …}}"
	spec.Leave("successfulJobsHistoryLimit", "3", kept)
	spec.Leave("failedJobsHistoryLimit", "1", kept)
	template := spec.Mapping("jobTemplate", "metadata")
	spec.End()
	of := template.Mapping("spec")
	template.End()
	retries, given := of.Number("backoffLimit", hourbell.MaxAttemptsLimit-1)
	if !given {
		retries = defaultRetries
	}
	s.MaxAttempts = retries + 1
	if seconds, given := of.Number("activeDeadlineSeconds", int(hourbell.MaxDuration/time.Second)); given {
		s.Timeout = time.Duration(seconds) * time.Second
		if s.MaxAttempts > 1 {
			of.Warn("activeDeadlineSeconds", "limits all attempts together there, and each attempt here", "")
		}
	}
	of.Leave("ttlSecondsAfterFinished", "", kept)
	for _, key := range []string{"completions", "parallelism"} {
		if n, given := of.Number(key, 1<<31-1); given && n != 1 {
			of.Refuse(key, "runs several pods, and here a slot makes one job", "write a schedule for each, or share the work in the command")
		}
	}
	of.Leave("completionMode", "NonIndexed", "")
	of.Leave("suspend", "false", "")
	pod := of.Mapping("template", "metadata")
	of.End()
	container(d, pod.Mapping("spec", "restartPolicy"), &s, spec.Line("schedule"))
	pod.End()
	d.Add(spec.Line("schedule"), s)
}

// overlap returns what a slot does while a job runs. Under Forbid a slot starts when the running job has ended, unless it is too
// late by then: one slot, the newest.
func overlap(spec *draft.Mapping) hourbell.Overlap {
	switch policy := spec.Text("concurrencyPolicy"); policy {
	case "", "Allow":
		return hourbell.OverlapAllow
	case "Forbid":
		return hourbell.OverlapQueue
	case "Replace":
		return hourbell.OverlapReplace
	default:
		spec.Refuse("concurrencyPolicy", fmt.Sprintf("%q is unknown", declared.Label(policy, 60)), "use Allow, Forbid or Replace")
	}
	return hourbell.OverlapAllow
}

// late sets what becomes of slots that are found late: the newest is made up for, within startingDeadlineSeconds.
func late(spec *draft.Mapping, s *hourbell.Schedule) {
	s.Misfire = hourbell.MisfireOnce
	seconds, given := spec.Number("startingDeadlineSeconds", int(hourbell.MaxDuration/time.Second))
	deadline := time.Duration(seconds) * time.Second
	switch {
	case !given:
		return
	case seconds == 0:
		spec.Refuse("startingDeadlineSeconds", "is 0: no slot would ever start", "give at least 10")
	case seconds <= neverLate:
		s.Misfire, s.Grace = hourbell.MisfireSkip, deadline
	default:
		s.Window = deadline
	}
	if s.Overlap == hourbell.OverlapQueue {
		spec.Warn("startingDeadlineSeconds", "ends the wait for a running job there; here a slot waits as long as the job "+
			"runs", "choose overlap: skip if a slot must not start late")
	}
}

// container reads the pod of a job. line is the line of the schedule.
func container(d *draft.Draft, pod *draft.Mapping, s *hourbell.Schedule, line int) {
	for key, usual := range map[string]string{
		"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": "30",
	} {
		pod.Leave(key, usual, "")
	}
	if len(pod.List("initContainers")) > 0 {
		pod.Refuse("initContainers", "run before the command", "make them part of the command, or a schedule of their own that this schedule follows (after:)")
	}
	list := pod.List("containers")
	pod.End()
	if len(list) != 1 {
		pod.Refuse("containers", fmt.Sprintf("has %d containers, and a job here runs one command", len(list)), "write a schedule for each")
		return
	}
	c := d.Mapping(list[0], pod.Path("containers[0]"), "name", "imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy")
	image := c.Text("image")
	argv := append(c.Texts("command"), c.Texts("args")...)
	if c.Node("command") == nil {
		c.Refuse("image", fmt.Sprintf("%q has the command in the image", declared.Label(image, 100)), "write the command of the image as command: in the manifest")
	}
	env := environment(d, c)
	for i, word := range argv {
		argv[i] = expand(c, word, env)
	}
	if image != "" {
		c.Warn("image", fmt.Sprintf("%q has no equal here: the command runs on the node's own machine",
			declared.Label(image, 100)), "install the program where the nodes run")
	}
	command := kinds.Command{Argv: argv, Env: env, Dir: c.Text("workingDir")}
	c.End()
	if len(argv) > 0 {
		d.Run(s, line, command)
	}
}

// environment returns the variables that have a value in the manifest.
func environment(d *draft.Draft, c *draft.Mapping) map[string]string {
	env := map[string]string{}
	for i, item := range c.List("env") {
		one := d.Mapping(item, fmt.Sprintf("%s[%d]", c.Path("env"), i))
		if name := one.Text("name"); one.Node("valueFrom") != nil {
			one.Warn("valueFrom", fmt.Sprintf("of %q has no equal here, and is left out", declared.Label(name, 60)), "give the nodes the variable, or write its value")
		} else {
			env[name] = expand(one, one.Text("value"), env)
		}
		one.End()
	}
	return env
}

var reference = regexp.MustCompile(`\$?\$\([A-Za-z_.-][A-Za-z0-9_.-]*\)`)

// expand replaces $(NAME) by the value of a variable of the manifest, and $$(NAME) by $(NAME).
func expand(c *draft.Mapping, text string, env map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		if escaped, found := strings.CutPrefix(ref, "$$"); found {
			return "$" + escaped
		}
		name := ref[2 : len(ref)-1]
		value, known := env[name]
		if !known {
			c.Warn("env", fmt.Sprintf("has no value for %s, which stays as it is", declared.Label(ref, 60)), "write its value")
			return ref
		}
		return value
	})
}
