package crontab

import (
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/cmd/hourbell/declared"
	"github.com/hourbell/hourbell/recur"
)

// blanks are what separates the parts of a line.
const blanks = " \t"

// Form is how the lines of a crontab are made.
type Form int

// The forms.
const (
	// User is a user's crontab: rule and command.
	User Form = iota
	// System is that of /etc/crontab and /etc/cron.d: rule, user and command.
	System
)

// Reader says how crontabs are read. The zero value reads a user's.
type Reader struct {
	Form Form
	// Zone is that of lines without a CRON_TZ; empty means UTC. Names of lines
	// do not depend on it.
	Zone string
	// User is who runs the lines and hooks of a user's crontab, and none of them
	// can ask for another; empty: the node's own user. Owner and names begin with
	// the user then, in place of the file, and are shared with no other crontab:
	// given names have to begin so too.
	User string
	// CheckSetting, if there is one, is asked of each setting that is in force
	// and not empty; a problem becomes a warning.
	CheckSetting func(name, value string) (problem, remedy string)
}

// Owner is whose schedules the lines of the file are, unless it says it itself.
// No file shares that of a user's crontab: its name would have a slash in it.
func (r Reader) Owner(path string) string {
	if r.User != "" {
		return ownerSort + ":spool/" + declared.Label(r.User, 100)
	}
	return declared.Owner(ownerSort, path)
}

// ownerSort is what the owners of crontabs begin with.
const ownerSort = "crontab"

// OwnerPrefix is what the owners of crontabs begin with that name none.
const OwnerPrefix = ownerSort + ":"

// Read reads the text of a crontab of this form, as Reader.Read does.
func Read(name string, text []byte, form Form) (*declared.File, error) {
	return Reader{Form: form}.Read(name, text)
}

// Read reads the text of a crontab. name is how messages call the file; its
// base name goes into the owner and the names of the schedules. The error is a
// *declared.FileError with every mistake; there is no file then. A crontab
// without commands is an empty set.
func (r Reader) Read(name string, text []byte) (*declared.File, error) {
	var errs declared.FileError
	if !declared.CheckText(name, text, &errs) {
		return nil, errs.Err()
	}
	owner := r.Owner(name)
	s := &scan{Reader: r, path: name, errs: &errs, env: map[string]string{}, names: newNames(owner)}
	s.file.Owner = owner
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		s.line = i + 1
		s.read(strings.TrimLeft(strings.TrimSuffix(line, "\r"), blanks))
	}
	s.strayComments()
	if err := errs.Err(); err != nil {
		return nil, err
	}
	s.file.SortWarnings()
	return &s.file, nil
}

// scan goes through the lines of a file.
type scan struct {
	Reader
	path  string
	errs  *declared.FileError
	line  int
	env   map[string]string // in force for the next line
	names *names
	whole settings // of #hourbell-file: comments
	above settings // of #hourbell: comments that wait for their line
	file  declared.File
}

func (s *scan) add(field, problem, remedy string) { s.addAt(s.line, field, problem, remedy) }

func (s *scan) addAt(line int, field, problem, remedy string) {
	s.errs.Add(declared.Error{File: s.path, Line: line, Field: field, Problem: problem, Remedy: remedy})
}

func (s *scan) warn(field, problem, remedy string) {
	s.file.Warn(declared.Error{File: s.path, Line: s.line, Field: field, Problem: problem, Remedy: remedy})
}

// read takes one line, without blanks before it.
func (s *scan) read(line string) {
	if strings.HasPrefix(line, "#") {
		s.comment(line)
		return
	}
	set, problem, ok := parseSetting(line)
	if line == "" || ok {
		s.strayComments()
	}
	switch {
	case line == "":
	case ok:
		s.set(set, problem)
	default:
		s.job(line)
		s.above = nil
		s.names.begun = true
	}
}

// job takes a line that runs something.
func (s *scan) job(line string) {
	if rest, found := strings.CutPrefix(line, "-"); found && strings.TrimLeft(rest, blanks) == rest && rest != "" {
		s.warn("-", "before the rule has no meaning here: it asks cron not to log the line", "remove the -")
		line = rest
	}
	rule, rest, ok := s.split(line)
	if !ok {
		return
	}
	user := s.Reader.User
	if s.Form == System {
		if user, rest, ok = s.splitUser(rest); !ok {
			return
		}
	}
	if s.checkCommand(rest) {
		command, input := splitInput(rest)
		if strings.Contains(rest, `\\`) {
			s.warn("command", `has two backslashes in a row, which are one to Debian's cron and here, and two to cronie`, `see what the line runs by hourbell check; '\' is one backslash to all`)
		}
		s.entry(rule, user, command, input)
	}
}

// macros are the words for rules; @reboot is none.
var macros = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// reboot is the word for the start of a node.
const reboot = "@reboot"

// split takes the rule off a line.
func (s *scan) split(line string) (rule, rest string, ok bool) {
	if line[0] == '@' {
		return s.splitMacro(line)
	}
	rest = line
	var fields []string
	for len(fields) < 5 && rest != "" {
		var field string
		field, rest = cut(rest)
		fields = append(fields, field)
	}
	if len(fields) < 5 {
		s.add("", "has too few words: a line is five time fields and a command", `write minute, hour, day of month, month, day of week and the command, as in 30 2 * * * backup`)
		return "", "", false
	}
	if !s.checkFields(fields) {
		return "", "", false
	}
	if rest == "" {
		s.missing("the five time fields")
		return "", "", false
	}
	return strings.Join(fields, " "), rest, true
}

func (s *scan) splitMacro(line string) (rule, rest string, ok bool) {
	macro, rest := cut(line)
	known := macro == reboot
	for _, m := range macros {
		known = known || m == macro
	}
	all := append([]string{reboot}, macros...)
	switch {
	case !known:
		s.add(shown(macro), "is not a macro"+declared.Suggest(macro, all), "use "+strings.Join(all, ", ")+" or five time fields")
	case rest == "":
		s.missing(macro)
	default:
		return macro, rest, true
	}
	return "", "", false
}

// missing notes that nothing follows the rule.
func (s *scan) missing(after string) {
	if s.Form == System {
		s.add("user", "is missing after "+after, "write who runs the command, and the command")
		return
	}
	s.add("command", "is missing after "+after, "write what to run")
}

// cut takes the first word, and the rest without the blanks before it.
func cut(text string) (word, rest string) {
	if end := strings.IndexAny(text, blanks); end >= 0 {
		return text[:end], strings.TrimLeft(text[end:], blanks)
	}
	return text, ""
}

// splitUser takes the user off what follows the rule, and the one blank behind
// it: as under cron, more of them are the command's.
func (s *scan) splitUser(text string) (user, rest string, ok bool) {
	user, rest = text, ""
	if end := strings.IndexAny(text, blanks); end >= 0 {
		user, rest = text[:end], text[end+1:]
	}
	field := fmt.Sprintf("user %q", shown(user))
	switch {
	case sixthField.MatchString(user):
		s.sixth("user", user)
	case strings.Contains(user, ":"):
		s.add(field, "names a group or class too, which is not supported", "write the user alone")
	case strings.ContainsAny(user, `/"'$;&|<>()=*?[]{}`) || strings.HasPrefix(user, "-"):
		s.add(field, "is not a login name, which stands before the command in the system form", "write who runs the command, as in 30 2 * * * root backup; a user's crontab is read by --crontab")
	case strings.Trim(rest, blanks) == "":
		s.add("command", "is missing after the user "+shown(user), "write what to run; a user's crontab, without users in it, is read by --crontab")
	default:
		return user, rest, true
	}
	return "", "", false
}

// checkCommand refuses what is no command.
func (s *scan) checkCommand(text string) bool {
	first, _ := cut(strings.TrimLeft(text, blanks))
	switch {
	case sixthField.MatchString(first):
		s.sixth("command", first)
	case first == "-n" || first == "-q" || first == "-s":
		s.add("command", "begins with "+first+", a flag that only some crons know", "remove it; #hourbell: overlap=skip above the line is for -s, hooks are for -n")
	case strings.Trim(strings.SplitN(text, "%", 2)[0], blanks) == "":
		s.add("command", "is missing before the %, which begins its input", "write what to run")
	default:
		if s.Form == User && first == "root" {
			s.warn("command", "begins with root, which looks like the user of a system crontab", "if it is one, read the file by --crontab-system")
		}
		return true
	}
	return false
}

func (s *scan) sixth(what, word string) {
	s.add(what, fmt.Sprintf("begins with %q, which looks like a sixth time field", shown(word)), "a crontab has five fields, without seconds and years; remove one")
}

// timeBytes are what rules are made of.
const timeBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789*,/- "

// shown is how messages quote a text of the file: at most 60 bytes, and of what
// has a = in it only the name, since the rest may be secret.
func shown(text string) string {
	if name, _, pair := strings.Cut(text, "="); pair {
		return declared.Label(name, 50) + "=…"
	}
	return declared.Label(text, 60)
}

// addFields notes what is wrong with a schedule, in the words of a crontab.
func (s *scan) addFields(err error) {
	for _, f := range declared.Fields(err) {
		if strings.Contains(f.Value, "=") {
			f.Value = shown(f.Value)
		}
		switch f.Name {
		case "cron":
			if f.Name = "time fields"; strings.Trim(f.Value, timeBytes) != "" {
				f.Value = "" // it was not meant as a rule
			}
		case "tz":
			f.Name = "CRON_TZ"
		case "shell", "argv[2]", "args":
			f.Name, f.Value = "command", ""
		case "argv[0]":
			f.Name = "SHELL"
		case "dir":
			f.Name = "HOME"
		}
		s.add(f.Title(), f.Problem, f.Remedy)
	}
}

// badZone notes a zone that is none, once and not for each line below it.
func (s *scan) badZone(zone string) bool {
	err := recur.Spec{Cron: "@daily", Zone: zone}.Validate()
	s.addFields(err)
	return err != nil
}
