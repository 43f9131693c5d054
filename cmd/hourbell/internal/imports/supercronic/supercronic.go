// Package supercronic reads crontabs of supercronic, which runs them within a container: no users, no input after a %, the
// environment of the process, a line that never overlaps itself, and fields for seconds and years.
package supercronic

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/draft"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
)

// setting matches NAME=value.
var setting = regexp.MustCompile(`^([^\s=]+)\s*=\s*(.*)$`)

// field matches a field of time.
var field = regexp.MustCompile(`^(@[a-z]+|[-0-9*?,/#]*([0-9*?LW]|[a-zA-Z]{3})[-0-9a-zA-Z*?,/#]*)$`)

// Read reads a crontab. Its settings apply to all lines, also to the lines above them.
func Read(src draft.Source) (*declared.File, error) {
	d := draft.New(src, "supercronic")
	env := map[string]string{}
	var jobs []job
	for i, line := range strings.Split(strings.TrimPrefix(string(src.Text), "\ufeff"), "\n") {
		line = strings.TrimRight(strings.TrimLeft(line, " \t"), "\r")
		switch m := setting.FindStringSubmatch(line); {
		case line == "" || line[0] == '#':
		case m != nil:
			env[m[1]] = unquoted(m[2])
			warnSetting(d, i+1, m[1])
		default:
			if j, ok := split(d, i+1, line); ok {
				jobs = append(jobs, j)
			}
		}
	}
	zone, shell := env["CRON_TZ"], env["SHELL"]
	for _, j := range jobs {
		j.rule.Zone = zone
		s := draft.Command()
		s.Name, s.Rule, s.Overlap = fmt.Sprintf("%s:%d", declared.Label(filepath.Base(src.Path), 100), j.line), j.rule, hourbell.OverlapSkip
		command := kinds.Command{Shell: j.command, Env: env}
		if shell != "" && shell != "/bin/sh" {
			command = kinds.Command{Argv: []string{shell, "-c", j.command}, Env: env}
		}
		d.Run(&s, j.line, command)
		d.Add(j.line, s)
	}
	if len(jobs) > 0 && zone != "" && zone != "UTC" {
		d.Warn(jobs[0].line, "CRON_TZ", "a time in a gap of the clock rings an hour later there, and at the end of the gap here", "")
	}
	return d.Set()
}

// job is a line that runs something.
type job struct {
	line    int
	rule    recur.Spec
	command string
}

func unquoted(text string) string {
	if len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[0] == text[len(text)-1] {
		return text[1 : len(text)-1]
	}
	return text
}

// warnSetting warns about settings that other crons read and supercronic does not.
func warnSetting(d *draft.Draft, line int, name string) {
	if name == "USER" || name == "MAILTO" {
		d.Warn(line, name, "is only a variable of the environment, as there", "")
	}
}

// year matches a field of years.
var year = regexp.MustCompile(`^(19[7-9][0-9]|20[0-9][0-9])([-,/][-,/0-9]*)?$`)

// split separates the fields of time from the command: seven, six, five, or a word such as @daily, whichever fits first.
func split(d *draft.Draft, line int, text string) (j job, ok bool) {
	words := strings.Fields(text)
	if words[0] == "@every" {
		d.Refuse(line, words[0], "is not a word of supercronic", "give the schedule every, such as every: 90s, in a schedule file")
		return job{}, false
	}
	n := 0
	for n < len(words) && n < 7 && field.MatchString(words[n]) {
		n++
	}
	if n > 0 && words[0][0] == '@' {
		n = 1
	} else if n == len(words) {
		n--
	}
	for _, i := range []int{5, 6} {
		if i < n && year.MatchString(words[i]) {
			d.Refuse(line, fmt.Sprintf("year %q", words[i]), "has no equal in a rule here", "write *, and give the schedule start and stop")
			return job{}, false
		}
	}
	var last error // of five fields, if there are as many
	for ; n > 0; n-- {
		rule, err := ruleOf(words[:n])
		if err == nil {
			return job{line: line, rule: rule, command: after(text, n)}, true
		}
		if last == nil || n == 5 {
			last = err
		}
	}
	fields := declared.Fields(last)
	if len(fields) == 0 {
		fields = []declared.Field{{Problem: "is not a line with fields of time and a command", Remedy: "write it like 30 2 * * * backup"}}
	}
	d.Refuse(line, fields[0].Title(), fields[0].Problem, fields[0].Remedy)
	return job{}, false
}

// after returns the text behind n words.
func after(text string, n int) string {
	for range n {
		text = strings.TrimLeft(text, " \t")
		text = text[strings.IndexAny(text+" ", " \t"):]
	}
	return strings.TrimLeft(text, " \t")
}

// ruleOf returns the rule of fields of time. Six fields end with the year, and seven begin with the seconds too. If both day
// fields are restricted, a star with a step is a restriction there, as in Kubernetes.
func ruleOf(words []string) (recur.Spec, error) {
	if n := len(words); n >= 6 {
		if words[n-1] != "*" {
			return recur.Spec{}, &recur.Error{Field: "year", Value: words[n-1], Problem: "is not *", Remedy: "write *"}
		}
		words = words[:n-1]
	}
	rule := recur.Spec{Cron: strings.Join(words, " "), Fold: recur.FoldLast}
	if n := len(words); n >= 5 && (strings.HasPrefix(words[n-3], "*/") || strings.HasPrefix(words[n-1], "*/")) {
		rule.Dialect, rule.Gap = recur.Kubernetes, recur.GapShift
	}
	return rule, rule.Validate()
}
