package crontab

import (
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
)

// blanks are the bytes that separate the parts of a line.
const blanks = " \t"

// Form is the layout of the lines of a crontab.
type Form int

// The forms.
const (
	// User is a user's crontab: rule and command.
	User Form = iota
	// System is the form of /etc/crontab and /etc/cron.d: rule, user and
	// command.
	System
)

// Reader configures how crontabs are read. The zero value reads a user's
// crontab.
type Reader struct {
	Form Form
	// Zone is the zone of lines without a CRON_TZ; empty means UTC. Names of
	// lines do not depend on it.
	Zone string
	// User is the user who runs all lines and hooks of a user's crontab; no
	// line can select another user. Empty: the node's own user. With a User,
	// the owner and the names begin with the user instead of the file, and no
	// other crontab shares them: names that the crontab sets must begin with
	// that prefix too.
	User string
	// Host is the host to which the crontab belongs: its lines run there and nowhere else, and the
	// owner and the names contain the host. Empty: the crontab belongs to the cluster.
	Host string
	// Mails reports that output is mailed to MAILTO: a MAILTO that is not a list of
	// addresses is then a mistake, and otherwise nothing is mailed, which is a warning.
	Mails bool
	// CheckSetting, if not nil, is called for each setting that applies and is
	// not empty; a problem becomes a warning.
	CheckSetting func(name, value string) (problem, remedy string)
}

// Owner returns the owner of the schedules of the file at path, unless the file
// sets one. No file has the owner of a user's crontab, because its name would
// contain a slash.
func (r Reader) Owner(path string) string {
	sort := ownerSort
	if r.Host != "" {
		sort = HostOwners(r.Host)
	}
	if r.User != "" {
		return sort + ":spool/" + declared.Label(r.User, 100)
	}
	return declared.Owner(sort, path)
}

// ownerSort is the prefix of the owners of crontabs.
const ownerSort = "crontab"

// OwnerPrefix is the prefix of the owners of crontabs that do not set an owner.
const OwnerPrefix = ownerSort + ":"

// HostOwners is the prefix, before a colon, of the owners of the crontabs of a host.
func HostOwners(host string) string { return ownerSort + "@" + host }

// Read reads the text of a crontab of this form, as Reader.Read does.
func Read(name string, text []byte, form Form) (*declared.File, error) {
	return Reader{Form: form}.Read(name, text)
}

// Read reads the text of a crontab. Messages call the file name; its base name
// becomes part of the owner and of the names of the schedules. The error is a
// *declared.FileError with every mistake; then no file is returned. A crontab
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
	if errs.Err() == nil {
		declared.CheckAfter(s.file.Entries, func(found declared.Entry, problem, remedy string) {
			s.addAt(found.Line, after, problem, remedy)
		})
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	s.file.SortWarnings()
	return &s.file, nil
}

// scan is the state of reading the lines of a file.
type scan struct {
	Reader
	path  string
	errs  *declared.FileError
	line  int
	env   map[string]string // applies to the next line
	names *names
	whole settings // of #hourbell-file: comments
	above settings // of #hourbell: comments; they apply to the next line with a job
	file  declared.File
}

func (s *scan) add(field, problem, remedy string) { s.addAt(s.line, field, problem, remedy) }

func (s *scan) addAt(line int, field, problem, remedy string) {
	s.errs.Add(declared.Error{File: s.path, Line: line, Field: field, Problem: problem, Remedy: remedy})
}

func (s *scan) warn(field, problem, remedy string) {
	s.file.Warn(declared.Error{File: s.path, Line: s.line, Field: field, Problem: problem, Remedy: remedy})
}

// read reads one line, without blanks before it.
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

// job reads a line with a job.
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
			s.warn("command", `has two backslashes in a row, which Debian's cron and Hourbell read as one, and cronie as two`,
				`see what the line runs by hourbell check; '\' is one backslash for all of them`)
		}
		s.warnCutFormat(command, rest)
		s.entry(rule, user, command, input)
	}
}

// macros are the words for rules; @reboot and @start are not rules.
var macros = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// after, with NAME[:OUTCOME[:DELAY]] as the next word, stands for a rule: the line follows
// another line.
const after = "@after"

// split separates the rule from the rest of a line.
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
		s.add("", "has too few words: a line is five time fields and a command",
			`write minute, hour, day of month, month, day of week and the command, as in 30 2 * * * backup`)
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
	if macro == after {
		var edge string
		if edge, rest = cut(rest); edge == "" {
			s.add(after, "has no name", "write "+after+" NAME[:OUTCOME[:DELAY]] and the command, as in "+after+" export:failure:5m backup")
			return "", "", false
		}
		macro += " " + edge
	}
	known := macro == declared.Reboot || macro == declared.Start || strings.HasPrefix(macro, after+" ")
	for _, m := range macros {
		known = known || m == macro
	}
	all := append([]string{declared.Reboot, declared.Start, after}, macros...)
	switch {
	case macro == "@every":
		length, _ := cut(rest)
		s.add(shown(macro), "is not cron's", "write every: "+shown(length)+" in a schedule file (YAML), or five time fields")
	case !known:
		s.add(shown(macro), "is not a macro"+declared.Suggest(macro, all), "use "+strings.Join(all, ", ")+" or five time fields")
	case rest == "":
		s.missing(macro)
	default:
		return macro, rest, true
	}
	return "", "", false
}

// missing records that nothing follows the rule.
func (s *scan) missing(after string) {
	if s.Form == System {
		s.add("user", "is missing after "+after, "write who runs the command, and the command")
		return
	}
	s.add("command", "is missing after "+after, "write what to run")
}

// cut returns the first word, and the rest without the blanks before it.
func cut(text string) (word, rest string) {
	if end := strings.IndexAny(text, blanks); end >= 0 {
		return text[:end], strings.TrimLeft(text[end:], blanks)
	}
	return text, ""
}

// splitUser separates the user, and one blank after it, from the text after the
// rule: as under cron, further blanks belong to the command.
func (s *scan) splitUser(text string) (user, rest string, ok bool) {
	user, rest = text, ""
	if end := strings.IndexAny(text, blanks); end >= 0 {
		user, rest = text[:end], text[end+1:]
	}
	field := fmt.Sprintf("user %q", shown(user))
	switch {
	case sixthField.MatchString(user):
		s.sixth("user", user, rest)
	case isZone(user):
		s.zone("user", user)
	case strings.Contains(user, ":"):
		s.add(field, "names a group or class too, which is not supported", "write the user alone")
	case strings.ContainsAny(user, `/"'$;&|<>()=*?[]{}`) || strings.HasPrefix(user, "-"):
		s.add(field, "is not a login name, which stands before the command in the system form",
			"write who runs the command, as in 30 2 * * * root backup; a user's crontab is read by --crontab")
	case strings.Trim(rest, blanks) == "":
		s.add("command", "is missing after the user "+shown(user), "write what to run; a user's crontab, without users in it, is read by --crontab")
	default:
		return user, rest, true
	}
	return "", "", false
}

// checkCommand refuses text that is not a command.
func (s *scan) checkCommand(text string) bool {
	first, rest := cut(strings.TrimLeft(text, blanks))
	switch {
	case sixthField.MatchString(first):
		s.sixth("command", first, rest)
	case isZone(first):
		s.zone("command", first)
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

// sixth refuses a line with a sixth time field; rest is what follows it.
func (s *scan) sixth(what, word, rest string) {
	remedy := "a crontab has five fields; remove the first if it is the seconds, or the last if it is the year"
	if seventh, _ := cut(strings.TrimLeft(rest, blanks)); sixthField.MatchString(seventh) {
		remedy = "a crontab has five fields; remove the first, the seconds, and the seventh, the year"
	}
	s.add(what, fmt.Sprintf("begins with %q, which looks like a sixth time field", shown(word)), remedy)
}

// isZone reports whether a word is the name of a time zone such as Europe/Prague, which other schedulers take behind the
// time fields.
func isZone(word string) bool {
	return strings.Contains(word, "/") && recur.Spec{Cron: "@daily", Zone: word}.Validate() == nil
}

// zone refuses a line with a time zone behind the time fields.
func (s *scan) zone(what, zone string) {
	s.add(what, fmt.Sprintf("begins with %q, which is a time zone", shown(zone)), "write CRON_TZ="+zone+" above the line")
}

// timeBytes are the bytes that occur in rules.
const timeBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789*,/- "

// shown returns how messages quote a text of the file: at most 60 bytes, and of
// a text with a = only the name before it, because the rest may be secret.
func shown(text string) string {
	if name, _, pair := strings.Cut(text, "="); pair {
		return declared.Label(name, 50) + "=…"
	}
	return declared.Label(text, 60)
}

// addFields records what is wrong with a schedule, in the terms of a crontab.
func (s *scan) addFields(err error) {
	for _, f := range declared.Fields(err) {
		if strings.Contains(f.Value, "=") {
			f.Value = shown(f.Value)
		}
		switch f.Name {
		case "cron":
			if f.Name = "time fields"; strings.Trim(f.Value, timeBytes) != "" {
				f.Value = "" // the text was not meant as a rule
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

// badZone records an unknown zone, once and not for each line below it.
func (s *scan) badZone(zone string) bool {
	err := recur.Spec{Cron: "@daily", Zone: zone}.Validate()
	s.addFields(err)
	return err != nil
}
