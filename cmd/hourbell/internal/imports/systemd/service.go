package systemd

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/draft"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/inifile"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/words"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

// readService makes the command of a service the work of the schedule.
func readService(d *draft.Draft, path string, s *hourbell.Schedule) {
	text, err := d.Other(path)
	if err != nil {
		d.Refuse(0, "Unit", fmt.Sprintf("%q cannot be read", declared.Label(filepath.Base(path), 100)), "put the service beside the timer")
		return
	}
	u := parse(d, path, text)
	u.ignore("Unit", "Description", "Documentation")
	u.ignoreSection("Install")
	u.last("Service", "RemainAfterExit")
	command := kinds.Command{Env: map[string]string{}, User: u.last("Service", "User").Value}
	if command.User == "" && !strings.Contains(filepath.ToSlash(path), "/systemd/user/") {
		command.User = "root"
	}
	u.directory(&command)
	for _, one := range u.take("Service", "Environment") {
		u.environment(one, command.Env)
	}
	u.leave("Service", "EnvironmentFile", "write its variables as Environment=, or give them to the nodes")
	u.leave("Service", "Restart", "write max_attempts and backoff")
	u.limit(s)
	for _, key := range []string{"ExecCondition", "ExecStartPre", "ExecStartPost", "ExecStop", "ExecStopPost"} {
		for _, one := range u.take("Service", key) {
			u.refuse(one, "runs a second command", "put the commands into one script")
		}
	}
	list := u.take("Service", "ExecStart")
	if len(list) != 1 {
		u.draft.RefuseIn(path, 0, "ExecStart", fmt.Sprintf("is given %d times, and a job runs one command", len(list)), "put the commands into one script")
	} else if command.Argv = u.argv(list[0], command.Env); command.Argv != nil {
		d.Run(s, 0, command)
	}
	u.unread()
}

// directory reads WorkingDirectory.
func (u *unit) directory(command *kinds.Command) {
	dir := u.last("Service", "WorkingDirectory")
	if strings.HasPrefix(dir.Value, "-") || strings.HasPrefix(dir.Value, "~") {
		u.refuse(dir, fmt.Sprintf("%q has no equal here", declared.Label(dir.Value, 60)), "write a path")
		return
	}
	command.Dir = u.plain(dir, dir.Value)
}

// environment reads NAME=value words.
func (u *unit) environment(one inifile.Setting, env map[string]string) {
	list, problem := words.Split(u.plain(one, one.Value))
	if problem != "" {
		u.refuse(one, problem, "correct the quotes")
	}
	for _, word := range list {
		if name, value, pair := strings.Cut(word, "="); pair {
			env[name] = value
		} else {
			u.refuse(one, "has a word that is not NAME=value", "write NAME=value")
		}
	}
}

// limit reads how long the command may run: a oneshot service starts as long as its command runs.
func (u *unit) limit(s *hourbell.Schedule) {
	sort, start, runtime := u.last("Service", "Type"), u.last("Service", "TimeoutStartSec"), u.last("Service", "RuntimeMaxSec")
	if all := u.last("Service", "TimeoutSec"); start.Value == "" {
		start = all
	}
	limit := runtime
	if sort.Value == "oneshot" {
		limit = start
	}
	if sort.Value == "forking" || sort.Value == "dbus" || sort.Value == "notify" {
		u.refuse(sort, fmt.Sprintf("%q is a service that stays", declared.Label(sort.Value, 60)), "name a command that ends, of Type=oneshot or simple")
	}
	if limit.Value != "" {
		if s.Timeout = u.span(limit); s.Timeout == 0 {
			s.Timeout = hourbell.MaxDuration // 0 is no limit there
		}
	}
}

// argv returns the words of a command line.
func (u *unit) argv(one inifile.Setting, env map[string]string) []string {
	line := one.Value
	for len(line) > 0 && strings.ContainsAny(line[:1], "-@:+!|") {
		if line[0] != ':' {
			u.draft.WarnIn(u.path, one.Line, one.Key, fmt.Sprintf("begins with %s, which %s", line[:1], draft.NoEqual),
				map[bool]string{true: "a failure of the command is a failure of the job here"}[line[0] == '-'])
		}
		line = line[1:]
	}
	list, problem := words.Split(u.plain(one, line))
	if problem != "" {
		u.refuse(one, problem, "correct the quotes")
		return nil
	}
	for i, word := range list {
		if word == ";" {
			u.refuse(one, "has several commands", "put the commands into one script")
			return nil
		}
		list[i] = u.expand(one, word, env)
	}
	return list
}

var variable = regexp.MustCompile(`\$\$|\$\{[A-Za-z_][A-Za-z0-9_]*\}|^\$[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME}, and a word $NAME without blanks in its value, by the value that the unit gives.
func (u *unit) expand(one inifile.Setting, word string, env map[string]string) string {
	return variable.ReplaceAllStringFunc(word, func(ref string) string {
		if ref == "$$" {
			return "$"
		}
		value, known := env[strings.Trim(ref, "${}")]
		if !known || ref[1] != '{' && strings.ContainsAny(value, " \t") {
			u.refuse(one, fmt.Sprintf("takes %s from elsewhere", declared.Label(ref, 60)), "write the value, or Environment="+strings.Trim(ref, "${}")+"=value")
		}
		return value
	})
}

// plain returns a text with %% as %. The other specifiers depend on the machine, and are refused.
func (u *unit) plain(one inifile.Setting, text string) string {
	text = strings.ReplaceAll(text, "%%", "\x00")
	if at := strings.IndexByte(text, '%'); at >= 0 {
		u.refuse(one, fmt.Sprintf("has the specifier %q", declared.Label(text[at:min(at+2, len(text))], 10)), "write what it stands for")
	}
	return strings.ReplaceAll(text, "\x00", "%")
}
