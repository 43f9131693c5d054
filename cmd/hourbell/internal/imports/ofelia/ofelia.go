// Package ofelia reads the configuration file of Ofelia, the job scheduler for Docker.
package ofelia

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/draft"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/inifile"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/words"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

var section = regexp.MustCompile(`(?m)^[ \t]*\[job-(exec|run|local|service-run)[ \t]`)

// Is reports whether a text has a job of Ofelia.
func Is(_ string, text []byte) bool { return section.Match(text) }

// Read reads a configuration file. Jobs within containers become commands of docker, which must work on the nodes.
func Read(src draft.Source) (*declared.File, error) {
	d := draft.New(src, "ofelia")
	settings := inifile.Read(string(src.Text), func(line int, problem, remedy string) { d.Refuse(line, "", problem, remedy) })
	for len(settings) > 0 {
		first := settings[0]
		end := slices.IndexFunc(settings, func(s inifile.Setting) bool { return s.Section != first.Section || s.Name != first.Name })
		if end < 0 {
			end = len(settings)
		}
		j := &job{draft: d, name: first.Name, line: first.Line, settings: settings[:end]}
		settings = settings[end:]
		switch first.Section {
		case "job-local":
			j.add(func(argv []string) kinds.Command {
				return kinds.Command{Argv: argv, Dir: j.one("dir"), Env: j.environment()}
			})
		case "job-exec":
			j.add(j.exec)
		case "job-run":
			j.add(j.run)
		case "job-service-run":
			d.Refuse(first.Line, first.Section, "runs a service of a swarm, which has no equal here", "write the command that starts it, in a [job-local]")
		default:
			j.unread()
		}
	}
	return d.Set()
}

// job is the settings of a section. Settings that are read are marked.
type job struct {
	draft    *draft.Draft
	name     string
	line     int
	settings []inifile.Setting
	read     []string
}

// all returns the values of a key, whose case has no meaning.
func (j *job) all(key string) (values []string) {
	j.read = append(j.read, key)
	for _, one := range j.settings {
		if strings.EqualFold(one.Key, key) {
			values = append(values, value(one.Value))
		}
	}
	return values
}

// one returns the value of a key that counts, the last.
func (j *job) one(key string) string {
	values := j.all(key)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// is reports whether a setting is on; otherwise is its default.
func (j *job) is(key string, otherwise bool) bool {
	switch strings.ToLower(j.one(key)) {
	case "":
		return otherwise
	case "true", "1", "yes", "on", "t":
		return true
	}
	return false
}

// lineOf returns the line of a key, or of the section.
func (j *job) lineOf(key string) int {
	for _, one := range j.settings {
		if strings.EqualFold(one.Key, key) {
			return one.Line
		}
	}
	return j.line
}

var comment = regexp.MustCompile(`[ \t]+[#;].*$`)

// value returns a value without its quotes, or without the comment behind it.
func value(text string) string {
	if inner, found := strings.CutPrefix(text, `"`); found {
		inner, _, _ = strings.Cut(strings.ReplaceAll(inner, `\"`, "\x00"), `"`)
		return strings.NewReplacer("\x00", `"`, `\\`, `\`).Replace(inner)
	}
	return comment.ReplaceAllString(text, "")
}

// add adds the schedule of the job. command makes the command from the words of the line.
func (j *job) add(command func(argv []string) kinds.Command) {
	s := draft.Command()
	s.Name = j.name
	rule := j.one("schedule")
	if s.Rule = draft.Robfig(rule); rule == "" {
		j.draft.Refuse(j.line, "schedule", "is missing", "write when it rings")
		return
	}
	if j.is("no-overlap", false) {
		s.Overlap = hourbell.OverlapSkip
	}
	argv, problem := words.Split(j.one("command"))
	if problem != "" {
		j.draft.Refuse(j.lineOf("command"), "command", problem, "correct the quotes")
	} else {
		j.draft.Run(&s, j.lineOf("command"), command(argv))
	}
	j.unread()
	j.draft.Add(j.lineOf("schedule"), s)
}

// exec returns the command for a job in a container that runs.
func (j *job) exec(argv []string) kinds.Command {
	container := j.one("container")
	if container == "" {
		j.draft.Refuse(j.line, "container", "is missing", "name the container")
	}
	docker := append([]string{"docker", "exec"}, j.options()...)
	return kinds.Command{Argv: append(append(docker, container), argv...)}
}

// run returns the command for a job in a container of its own.
func (j *job) run(argv []string) kinds.Command {
	image := j.one("image")
	if j.one("container") != "" || image == "" {
		j.draft.Refuse(j.lineOf("container"), "container", "is started again, or there is no image", "write the command that starts it, in a [job-local]")
	}
	docker := []string{"docker", "run"}
	if j.is("delete", true) {
		docker = append(docker, "--rm")
	}
	if j.is("pull", true) {
		docker = append(docker, "--pull=always")
	}
	docker = append(docker, j.options()...)
	for _, option := range []string{"network", "hostname", "volume", "volumes-from"} {
		for _, one := range j.all(option) {
			docker = append(docker, "--"+option+"="+one)
		}
	}
	return kinds.Command{Argv: append(append(docker, image), argv...)}
}

// options returns the options that docker exec and docker run share.
func (j *job) options() []string {
	user := j.one("user")
	if user == "" {
		user = "root"
	}
	options := []string{"--user=" + user}
	if j.is("tty", false) {
		options = append(options, "--tty")
	}
	for _, one := range j.all("environment") {
		options = append(options, "--env="+one)
	}
	return options
}

// environment returns the variables of a command.
func (j *job) environment() map[string]string {
	env := map[string]string{}
	for _, one := range j.all("environment") {
		name, value, _ := strings.Cut(one, "=")
		env[name] = value
	}
	return env
}

// unread names the settings that were not read.
func (j *job) unread() {
	remedies := map[string]string{
		"save-folder": "the output is kept with its job", "slack-webhook": "write on_failure", "smtp-host": "write on_failure, or start nodes with --mail",
	}
	for _, one := range j.settings {
		key := strings.ToLower(one.Key)
		if !slices.Contains(j.read, key) {
			j.draft.Warn(one.Line, fmt.Sprintf("[%s] %s", one.Section, declared.Label(one.Key, 60)), draft.NoEqual, remedies[key])
		}
	}
}
