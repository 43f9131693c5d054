package crontab

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/declared"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
)

// blanks are what separates the parts of a line.
const blanks = " \t"

var macros = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// sixthField is a word that can only be one more time field, not a program.
var sixthField = regexp.MustCompile(`^([*?]|[0-9]+|(SUN|MON|TUE|WED|THU|FRI|SAT)\b)[-0-9*,/?#LWA-Z]*$`)

// Read reads the text of a crontab. name is how messages call the file; its
// base name goes into the owner and the names of the schedules. The error is a
// *declared.FileError with every mistake; there is no file then. A crontab
// without commands is an empty set.
func Read(name string, text []byte) (*declared.File, error) {
	var errs declared.FileError
	if !declared.CheckText(name, text, &errs) {
		return nil, errs.Err()
	}
	r := &reader{path: name, errs: &errs, env: map[string]string{}, names: newNames(name)}
	r.file.Owner = declared.Owner("crontab", name)
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		r.line = i + 1
		r.read(strings.TrimLeft(strings.TrimSuffix(line, "\r"), blanks))
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &r.file, nil
}

// reader goes through the lines; env is what is in force for the next one.
type reader struct {
	path  string
	errs  *declared.FileError
	line  int
	env   map[string]string
	names *names
	file  declared.File
}

func (r *reader) add(field, problem, remedy string) {
	r.errs.Add(declared.Error{File: r.path, Line: r.line, Field: field, Problem: problem, Remedy: remedy})
}

// read takes one line, without blanks before it.
func (r *reader) read(line string) {
	if line == "" || line[0] == '#' {
		return
	}
	if s, problem, ok := parseSetting(line); ok {
		r.set(s, problem)
		return
	}
	rule, command, ok := r.split(line)
	if !ok {
		return
	}
	if command, ok = r.unescape(command); ok {
		r.entry(rule, command)
	}
}

// set puts a setting in force, if it can be honoured. Settings are kept in a
// map of their own for each change, so that entries can share them.
func (r *reader) set(s setting, problem string) {
	field := declared.Label(s.name, 60)
	switch {
	case problem != "":
		r.add(field, problem, `write NAME=value or NAME="value"`)
	case s.name == "MAILTO" && s.value != "":
		r.add(field, "cannot be honoured: no mail is sent", `write MAILTO=""; the output is kept with each job`)
	case s.name == "RANDOM_DELAY":
		r.add(field, "cannot be honoured: lines start on time", "remove the line")
	case s.name == "LOGNAME":
		r.add(field, "cannot be set in a crontab: it is who runs the command", "remove the line")
	case s.name == "CRON_TZ" && r.badZone(s.value):
	default:
		r.env = maps.Clone(r.env)
		r.env[s.name] = s.value
	}
}

// badZone notes a zone that is none, once and not for each line below it.
func (r *reader) badZone(zone string) bool {
	err := recur.Spec{Cron: "@daily", Zone: zone}.Validate()
	r.addFields(err)
	return err != nil
}

// split takes rule and command apart.
func (r *reader) split(line string) (rule, command string, ok bool) {
	if line[0] == '@' {
		return r.splitMacro(line)
	}
	rest := line
	var fields []string
	for len(fields) < 5 && rest != "" {
		var field string
		field, rest = cut(rest)
		fields = append(fields, field)
	}
	next, _ := cut(rest)
	switch {
	case len(fields) < 5:
		r.add("", "has too few words: a line is five time fields and a command", `write minute, hour, day of month, month, day of week and the command, as in 30 2 * * * backup`)
	case rest == "":
		r.add("command", "is missing after the five time fields", "write what to run")
	case sixthField.MatchString(next):
		r.add("command", fmt.Sprintf("begins with %q, which looks like a sixth time field", declared.Label(next, 60)), "a crontab has five fields, without seconds and years; remove one")
	default:
		return strings.Join(fields, " "), rest, true
	}
	return "", "", false
}

func (r *reader) splitMacro(line string) (rule, command string, ok bool) {
	macro, command := cut(line)
	known := false
	for _, m := range macros {
		known = known || m == macro
	}
	switch {
	case macro == "@reboot":
		r.add("@reboot", "is not supported yet", "run the command from the system's own start-up instead, and remove the line")
	case !known:
		r.add(declared.Label(macro, 60), "is not a macro"+declared.Suggest(macro, macros), "use "+strings.Join(macros, ", ")+" or five time fields")
	case command == "":
		r.add("command", "is missing after "+macro, "write what to run")
	default:
		return macro, command, true
	}
	return "", "", false
}

// cut takes the first word, and the rest without the blanks before it.
func cut(text string) (word, rest string) {
	if end := strings.IndexAny(text, blanks); end >= 0 {
		return text[:end], strings.TrimLeft(text[end:], blanks)
	}
	return text, ""
}

// unescape turns \% into %. A % without a backslash ends the command in cron
// and begins its input. A backslash before anything else stays, and what
// follows it is not special.
func (r *reader) unescape(command string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(command); i++ {
		switch {
		case command[i] == '%':
			r.add("command", "contains a %, which cron reads as the end of the command and the beginning of its input; that is not supported yet", `write \% for a plain %, or pass the input by a pipe`)
			return "", false
		case command[i] == '\\' && i+1 < len(command):
			i++
			if command[i] != '%' {
				out.WriteByte('\\')
			}
		}
		out.WriteByte(command[i])
	}
	return out.String(), true
}

// entry makes a schedule of a line.
func (r *reader) entry(rule, line string) {
	zone := r.env["CRON_TZ"]
	s := hourbell.Schedule{
		Name:        r.names.next(rule, zone, line),
		Owner:       r.file.Owner,
		Kind:        kinds.CommandKind,
		MaxAttempts: 1,
		OnLoss:      hourbell.FailOnLoss,
		Overlap:     hourbell.OverlapAllow,
	}
	s.Rule.Cron, s.Rule.Zone = rule, zone
	args, err := r.command(line).Encode()
	r.addFields(err)
	if s.Args = args; err == nil {
		r.addFields(s.Validate())
	} else {
		r.addFields(s.Rule.Validate())
	}
	r.file.Entries = append(r.file.Entries, declared.Entry{Schedule: s, Line: r.line})
}

// command is what the line runs, in the environment that is in force.
func (r *reader) command(line string) kinds.Command {
	c := kinds.Command{Env: r.env, Dir: r.env["HOME"]}
	if shell := r.env["SHELL"]; shell != "" && shell != "/bin/sh" {
		c.Argv = []string{shell, "-c", line}
	} else {
		c.Shell = line
	}
	return c
}

// addFields notes what is wrong in the words of a crontab.
func (r *reader) addFields(err error) {
	for _, f := range declared.Fields(err) {
		switch f.Name {
		case "cron":
			f.Name = "time fields"
		case "tz":
			f.Name = "CRON_TZ"
		case "shell", "argv[2]", "args":
			f.Name, f.Value = "command", ""
		case "argv[0]":
			f.Name = "SHELL"
		case "dir":
			f.Name = "HOME"
		}
		r.add(f.Title(), f.Problem, f.Remedy)
	}
}
