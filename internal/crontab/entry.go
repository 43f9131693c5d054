package crontab

import (
	"fmt"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

// entry makes a schedule of a line, or, for an @reboot or @start line, an entry that
// runs at the start of a node.
func (s *scan) entry(rule, user, line, input string) {
	sched := hourbell.Schedule{
		Owner:       s.file.Owner,
		MaxAttempts: 1,
		OnLoss:      hourbell.FailOnLoss,
		Overlap:     hourbell.OverlapAllow,
		Timeout:     hourbell.MaxDuration, // cron sets no limit
	}
	command := s.command(user, line, input)
	var hooks declared.HookSet
	for _, pairs := range []settings{s.whole, s.above} {
		own := declared.HookSet{}
		for _, p := range pairs {
			_ = s.apply(p, &sched, &command, own) // the pair was checked before
		}
		hooks = own.Within(hooks)
	}
	sched.Hooks = hooks.Hooks()
	if s.Host != "" {
		sched.On = hourbell.Place{Host: s.Host}
	}
	s.warnLocal(sched, line)
	s.warnPipe(line)
	sched.Name = s.name(rule, user, line, input)
	args, err := command.Encode()
	s.addFields(err)
	if err != nil {
		args = nil // only the other fields are checked
	}
	sched.Job = hourbell.RawArgs{Name: kinds.CommandKind, JSON: args}
	if rule == declared.Reboot || rule == declared.Start {
		s.atStart(sched, rule)
		return
	}
	if edge, found := strings.CutPrefix(rule, after+" "); found {
		s.follow(sched, edge)
		return
	}
	sched.Rule.Cron, sched.Rule.Zone = rule, s.env["CRON_TZ"]
	if sched.Rule.Zone == "" {
		sched.Rule.Zone = s.Zone
	}
	s.addFields(sched.Validate())
	for _, w := range sched.Rule.Warnings() {
		s.warn(fmt.Sprintf("time fields %q", shown(w.Value)), w.Problem, w.Remedy+"; every: is for schedule files (YAML)")
	}
	s.file.Entries = append(s.file.Entries, declared.Entry{Schedule: sched, Line: s.line})
}

// warnPipe warns about a line whose pipe hides that a command of it failed.
func (s *scan) warnPipe(line string) {
	if declared.HidesFailures(line) {
		s.warn("command", declared.PipeProblem,
			"set SHELL=/bin/bash above the line and begin the line with set -o pipefail; or leave the pipe out")
	}
}

// follow adds a line that starts after another line.
func (s *scan) follow(sched hourbell.Schedule, text string) {
	edge, err := hourbell.ParseScheduleEdge(text)
	s.addFields(err)
	if err != nil {
		return
	}
	sched.After = []hourbell.ScheduleEdge{edge}
	s.addFields(sched.Validate())
	s.file.Entries = append(s.file.Entries, declared.Entry{Schedule: sched, Line: s.line})
}

// atStart adds a line that runs when a node starts. word is what the line has for a rule.
func (s *scan) atStart(sched hourbell.Schedule, word string) {
	for _, key := range append(declared.SlotKeys(), "paused", "on_missed") {
		if p, given := s.above.find(key); given {
			s.addAt(p.line, key, "has no meaning for "+word+", which has no slots", "remove it")
		}
	}
	checked := sched
	checked.Rule.Cron = "@yearly" // any valid rule
	s.addFields(checked.Validate())
	for _, name := range declared.SlotKeys() {
		if key, found := declared.FindKey(name); found {
			key.Clear(&sched)
		}
	}
	sched.Paused, sched.Hooks.OnMissed = false, nil
	s.file.AtStart = append(s.file.AtStart, declared.Entry{Schedule: sched, Line: s.line, Boot: word == declared.Reboot})
}

// command returns the command of a line, with the environment that applies to
// it.
func (s *scan) command(user, line, input string) kinds.Command {
	c := kinds.Command{Base: kinds.BaseCron, Env: s.env, Dir: s.env["HOME"], User: user, Stdin: input}
	if shell := s.env["SHELL"]; shell != "" && shell != "/bin/sh" {
		c.Argv = []string{shell, "-c", line}
	} else {
		c.Shell = line
	}
	return c
}

// name returns the name that was set, or a name made from the line.
func (s *scan) name(rule, user, line, input string) string {
	// Blanks before the command are only layout: a line that is aligned
	// differently keeps its name.
	c := contents{rule: rule, zone: s.env["CRON_TZ"], command: strings.TrimLeft(line, blanks), input: input}
	if s.Form == System {
		c.user = user
	}
	name := s.names.next(c)
	given, own := s.above.find("name")
	if own {
		name = given.value
	}
	if first, taken := s.names.given[name]; taken {
		s.add("name", fmt.Sprintf("%q is also the name of line %d", shown(name), first), "give each line a name of its own")
	}
	s.names.given[name] = s.line
	return name
}
