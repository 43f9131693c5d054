package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// excludedText lists the times that a schedule excludes, and names the stored
// calendars, which were not read.
func excludedText(s hourbell.Schedule) string {
	texts := excludeTexts(s)
	for i, c := range s.Exclude {
		if c.Stored {
			texts[i] += " (a stored calendar, not looked at)"
		}
	}
	return strings.Join(texts, " | ")
}

// describe describes a rule in words; empty for an invalid rule.
func describe(spec recur.Spec, anchor time.Time) string {
	rule, err := spec.Rule(anchor)
	if err != nil {
		return ""
	}
	return rule.Describe()
}

// RunsAnything reports whether jobs of a kind run whatever their arguments name: commands, HTTP calls and SQL statements.
func RunsAnything(kind string) bool {
	return slices.Contains([]string{kinds.CommandKind, kinds.HTTPKind, kinds.SQLKind}, kind)
}

// workFacts are the lines that show the job of a schedule.
func workFacts(s hourbell.Schedule, secrets bool) []Fact {
	job := declared.Raw(s.Job)
	command, err := kinds.DecodeCommand(job.JSON)
	if job.Name != kinds.CommandKind || err != nil {
		return []Fact{{"runs", "kind " + job.Name + argsIf(secrets, job.JSON)}}
	}
	facts := []Fact{
		{"runs", argvText(argv(job.JSON, secrets))},
		{"as", cmp.Or(command.User, "the node's user")},
		{"in", workDir(command)},
		{"env", envText(command, secrets)},
	}
	switch {
	case command.Stdin != "" && secrets:
		facts = append(facts, Fact{"input", fmt.Sprintf("%q", command.Stdin)})
	case command.Stdin != "":
		facts = append(facts, Fact{"input", plain.Plural(len(command.Stdin), "byte") + " (--show-secrets prints it)"})
	}
	if command.Detached == kinds.KeepDetached {
		facts = append(facts, Fact{"detached", " keep"})
	}
	return facts
}

func argsIf(secrets bool, args []byte) string {
	if !secrets || len(args) == 0 {
		return ""
	}
	return " with " + string(args)
}

// argv returns the argument list of a command; nil for arguments that are not a
// command. Unless secrets is set, values that a shell line assigns before its
// program are left out.
func argv(args []byte, secrets bool) []string {
	if !secrets {
		args = kinds.Redact(kinds.CommandKind, args)
	}
	c, err := kinds.DecodeCommand(args)
	switch {
	case err != nil:
		return nil
	case c.Shell != "":
		return []string{"/bin/sh", "-c", c.Shell}
	}
	return c.Argv
}

// argvText returns an argument list as a user would type it.
func argvText(argv []string) string {
	words := slices.Clone(argv)
	for i, word := range words {
		words[i] = plain.ShellQuote(word)
	}
	return strings.Join(words, " ")
}

func workDir(c kinds.Command) string {
	if c.Base == kinds.BaseCron {
		return cmp.Or(c.Dir, "the user's home")
	}
	return cmp.Or(c.Dir, "the node's directory")
}

// envText lists the environment variables of a command.
func envText(c kinds.Command, secrets bool) string {
	text := "the node's"
	if c.Base == kinds.BaseCron {
		text = "cron's: SHELL PATH HOME LOGNAME"
	}
	var own []string
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if secrets {
			name += "=" + plain.ShellQuote(c.Env[name])
		}
		own = append(own, name)
	}
	if len(own) > 0 {
		text += "; set: " + strings.Join(own, " ")
	}
	return text
}

// ownPlaces are keys that have a place of their own in the text of limits.
var ownPlaces = []string{"priority", "max_attempts", "on_loss", "timeout", "backoff"}

// defaultAttempts are the attempts of a schedule that names none.
const defaultAttempts = 25

// limits lists the limits of a schedule's jobs: attempts and time.
func limits(s hourbell.Schedule) string {
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	add(plain.Plural(cmp.Or(s.MaxAttempts, defaultAttempts), "attempt"))
	add(timeoutPart(s))
	if s.Backoff != "" {
		add("backoff " + s.Backoff)
	}
	add("on_loss " + lossText(s.OnLoss))
	if s.When() != "" {
		add("overlap " + overlapWord(s))
		add(shownPolicies(s))
	}
	for _, key := range declared.JobKeys() {
		if text := key.Text(s); text != "" && !slices.Contains(ownPlaces, key.Name) {
			add(key.Name + " " + text)
		}
	}
	if s.Priority > 0 {
		add(fmt.Sprintf("priority %d", s.Priority))
	}
	if s.Paused {
		add("paused")
	}
	return strings.Join(parts, ", ")
}

// timeoutPart describes the timeout of a schedule's jobs; empty: their kind decides.
func timeoutPart(s hourbell.Schedule) string {
	switch {
	case s.Timeout == hourbell.MaxDuration:
		return "timeout none"
	case s.Timeout > 0:
		return "timeout " + s.Timeout.String()
	}
	switch declared.Raw(s.Job).Name {
	case kinds.CommandKind, kinds.HTTPKind, kinds.SQLKind:
		return "timeout " + kinds.DefaultTimeout.String()
	}
	return ""
}

func lossText(choice store.OnLoss) string {
	if choice == hourbell.FailOnLoss {
		return "fail"
	}
	return "retry"
}

// hookText describes a hook.
func hookText(hook hourbell.Args, secrets bool) string {
	job := declared.Raw(hook)
	if words := argv(job.JSON, secrets); job.Name == kinds.CommandKind && words != nil {
		return argvText(words)
	}
	if !secrets {
		job.JSON = kinds.Redact(job.Name, job.JSON)
	}
	var call kinds.HTTP
	if err := json.Unmarshal(job.JSON, &call); job.Name == kinds.HTTPKind && err == nil {
		return cmp.Or(call.Method, "POST") + " " + call.URL
	}
	return "kind " + job.Name
}
