package kinds

import (
	"encoding/json"
	"maps"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// The values that cron sets if neither a crontab nor the system sets others.
const (
	cronShell = "/bin/sh"
	cronPath  = "/usr/bin:/bin"
)

// baseEnvironment returns the initial environment of a command. who is nil for
// the node's own user.
func baseEnvironment(base Base, who *user.User) []string {
	if base == BaseCron {
		if who == nil {
			who = self()
		}
		return cronEnvironment(who, systemVariables("/etc/environment", "/etc/default/locale"))
	}
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "HOURBELL_STORE=") || strings.HasPrefix(pair, "HOURBELL_NOTIFY_URL=")
	})
	if who != nil {
		env = append(env, "HOME="+who.HomeDir, "LOGNAME="+who.Username, "USER="+who.Username)
	}
	return env
}

// cronEnvironment returns the environment that cron gives to the commands of a
// user. The variables that the system sets for all sessions come first: cron's
// own four override them, including PATH.
func cronEnvironment(who *user.User, system map[string]string) []string {
	env := make([]string, 0, len(system)+4)
	for _, name := range slices.Sorted(maps.Keys(system)) {
		env = append(env, name+"="+system[name])
	}
	return append(env, "SHELL="+cronShell, "HOME="+who.HomeDir, "PATH="+cronPath, "LOGNAME="+who.Username)
}

// ownEnv returns the variables that the command adds to its base. A crontab
// cannot change the login name, as under cron.
func (c Command) ownEnv() map[string]string {
	if _, given := c.Env["LOGNAME"]; !given || c.Base != BaseCron {
		return c.Env
	}
	own := maps.Clone(c.Env)
	delete(own, "LOGNAME")
	return own
}

// environment returns the command's environment: base, overridden by the
// command's own variables, overridden by the variables that describe the job.
// Each name occurs once.
func environment(base []string, own map[string]string, job *hourbell.JobRow) []string {
	env := slices.Clone(base)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+own[name])
	}
	slot := ""
	if !job.Slot.IsZero() {
		slot = job.Slot.UTC().Format(time.RFC3339Nano)
	}
	if about, hook := job.Headers[hourbell.HookHeader]; hook {
		var event store.HookEvent
		_ = json.Unmarshal([]byte(about), &event) // data that is not an event leaves the variable unset
		env = append(env, "HOURBELL_HOOK="+event.Event)
	}
	node, host := job.Place()
	return lastOfEach(append(env,
		"HOURBELL_JOB_ID="+strconv.FormatInt(job.ID, 10),
		"HOURBELL_ATTEMPT="+strconv.Itoa(job.Attempt),
		"HOURBELL_SLOT="+slot,
		"HOURBELL_TOKEN="+strconv.FormatInt(job.Token, 10),
		"HOURBELL_NODE="+node,
		"HOURBELL_HOST="+host,
	))
}

// lastOfEach keeps the last pair of each name, because programs differ in which
// of several pairs they use.
func lastOfEach(env []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, pair := range slices.Backward(env) {
		// On Windows a name may begin with "=": it is the current directory of
		// a drive.
		name, _, _ := strings.Cut(pair[min(1, len(pair)):], "=")
		name = pair[:min(1, len(pair))] + name
		if !seen[name] {
			seen[name] = true
			kept = append(kept, pair)
		}
	}
	slices.Reverse(kept)
	return kept
}

// valueOf returns the value of a variable, or "".
func valueOf(env []string, name string) string {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// systemVariables reads files of variables for all sessions as the PAM module
// pam_env does; a later file overrides an earlier file. Files that cannot be
// read count as empty.
func systemVariables(files ...string) map[string]string {
	found := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, line := range logicalLines(string(text)) {
			setVariable(found, line)
		}
	}
	return found
}

// logicalLines joins lines that end in a backslash with the next line, and cuts
// off comments. Within a joined line, blank lines and comments are skipped.
func logicalLines(text string) (lines []string) {
	joined := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		content := strings.TrimLeft(line, " \t")
		if content == "" || content[0] == '#' {
			continue
		}
		before, _, comment := strings.Cut(line, "#")
		more, continued := strings.CutSuffix(strings.TrimRight(before, " \t"), `\`)
		if continued && !comment {
			joined += more
			continue
		}
		lines, joined = append(lines, joined+before), ""
	}
	return lines // a joined line that the end of the file cuts off is incomplete and ignored
}

// setVariable applies one line: NAME=value sets a variable, NAME without a
// value unsets it, and a leading "export" is skipped. Quotes count only around
// the whole value; lines that cannot be parsed are ignored.
func setVariable(set map[string]string, line string) {
	line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), "export ")
	name, value, assigned := strings.Cut(line, "=")
	if name == "" || strings.ContainsFunc(name, notInName) {
		return
	}
	if !assigned {
		delete(set, name)
		return
	}
	if value != "" && strings.ContainsRune(`"'`, rune(value[0])) {
		value = value[1:]
		if n := len(value) - 1; n >= 0 && strings.ContainsRune(`"'`, rune(value[n])) {
			value = value[:n]
		}
	}
	set[name] = value
}

func notInName(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
