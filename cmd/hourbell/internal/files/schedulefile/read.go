package schedulefile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
)

// maxExpansion limits the total size in bytes of the args of all schedules of a
// file, because aliases can make a small file expand to much data.
const maxExpansion = 64 << 20

// Read reads the text of a schedule file. Messages call the file name, which
// also gives the owner if the file has none. The error is a *declared.FileError
// with every mistake; then no file is returned.
func Read(name string, text []byte) (*declared.File, error) {
	var errs declared.FileError
	if !declared.CheckText(name, text, &errs) {
		return nil, errs.Err()
	}
	root := yamltree.Parse(name, text, &errs)
	if root == nil {
		return nil, errs.Err()
	}
	r := &reader{path: name, errs: &errs, lines: map[string]int{}}
	file := r.file(root)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	file.SortWarnings()
	return file, nil
}

// reader converts the tree to schedules.
type reader struct {
	path     string // the file's name in messages
	errs     *declared.FileError
	lines    map[string]int // the line where each schedule name was first given
	expanded int            // bytes of args so far
	hooks    hookScopes
	known    map[string]hourbell.Calendar
}

func (r *reader) file(root *yamltree.Node) *declared.File {
	m := &entry{reader: r, node: root}
	if !m.isMapping("the file", "write owner, revision and schedules as keys") {
		return nil
	}
	m.checkKeys(fileKeys)
	file := &declared.File{Owner: declared.Owner("file", r.path)}
	if owner := m.text("owner"); m.has("owner") {
		file.Owner = owner
		if owner != "" || m.find("owner").Value.Sort == yamltree.Scalar {
			m.addFields(check.Name("owner", owner))
		}
	}
	file.Revision = m.number("revision", 0, math.MaxInt64)
	r.hooks = m.hookScopes()
	r.known = m.calendars()
	file.Limits = m.limits()
	file.Keep = m.keepOfKinds()
	r.schedules(m, file)
	r.hooks.warnUnused(r.path, file)
	return file
}

func (r *reader) schedules(m *entry, file *declared.File) {
	all := m.find("schedules")
	switch {
	case all == nil:
		m.add("schedules", "is missing", "list the schedules, or write schedules: [] for none")
		return
	case all.Value.Sort == yamltree.Null:
		m.add("schedules", "is empty", "list the schedules, or write schedules: [] for none: all that this owner has would be deleted")
		return
	case all.Value.Sort != yamltree.List:
		m.add("schedules", "is "+all.Value.Sort.String(), "write a list: each schedule begins with - name:")
		return
	}
	for i, item := range all.Value.Items {
		one := &entry{reader: r, node: item, label: fmt.Sprintf("schedules[%d]", i)}
		schedule, ok := one.schedule(file.Owner)
		one.warnPipe(file)
		switch found := (declared.Entry{Schedule: schedule, Line: item.Line, Boot: one.startWord() == declared.Reboot}); {
		case !ok:
		case one.atStart():
			file.AtStart = append(file.AtStart, found)
		default:
			one.warnRule(schedule.Rule, file)
			file.Entries = append(file.Entries, found)
		}
	}
	if r.errs.Err() != nil {
		return
	}
	declared.CheckAfter(file.Entries, func(found declared.Entry, problem, remedy string) {
		r.errs.Add(declared.Error{
			File: r.path, Line: found.Line,
			Entry: fmt.Sprintf("schedule %q", declared.Label(found.Name, 60)), Field: "after", Problem: problem, Remedy: remedy,
		})
	})
}

// warnRule warns about parts of a rule that are probably not what its author
// meant.
func (e *entry) warnRule(rule recur.Spec, file *declared.File) {
	for _, w := range rule.Warnings() {
		file.Warn(declared.Error{
			File: e.path, Line: e.lineOf("cron"), Entry: e.label,
			Field: fmt.Sprintf("cron %q", declared.Label(w.Value, 60)), Problem: w.Problem, Remedy: w.Remedy,
		})
	}
}

// warnPipe warns about a line for the shell whose pipe hides that a command of it failed: the exit code of a pipe is that
// of its last command.
func (e *entry) warnPipe(file *declared.File) {
	line := e.find("shell")
	if line == nil || line.Value.Sort != yamltree.Scalar || !declared.HidesFailures(line.Value.Text) || e.has("shell_options") {
		return
	}
	file.Warn(declared.Error{
		File: e.path, Line: e.lineOf("shell"), Entry: e.label, Field: "shell",
		Problem: declared.PipeProblem,
		Remedy:  "add shell_options: pipefail, with which bash runs the line, or leave the pipe out",
	})
}

// entry is a mapping that is being read, and its label in messages.
type entry struct {
	*reader
	node  *yamltree.Node
	label string
}

// schedule reads one schedule. The schedule is complete only if no mistake was
// recorded.
func (e *entry) schedule(owner string) (hourbell.Schedule, bool) {
	if !e.isMapping("", "write name, a rule and what to run as keys") {
		return hourbell.Schedule{}, false
	}
	name := e.text("name")
	e.nameIt(name)
	e.checkKeys(entryKeys)
	s := hourbell.Schedule{Name: name, Owner: owner}
	s.Rule = e.rule()
	s.After = e.after()
	e.exactlyOne("rule", "when it rings", ruleNames...)
	e.work(&s)
	for _, key := range declared.Keys() {
		switch key.Name {
		case declared.ExcludeKey: // read below
		case declared.PlaceKey:
			e.place(key, &s)
		default:
			e.set(key, &s)
		}
	}
	s.Hooks, s.Exclude = e.scheduleHooks(s.Group), e.exclude()
	if e.atStart() {
		s.Rule, s.Hooks.OnMissed = recur.Spec{}, nil
		e.refuse("for "+e.startWord()+", which has no slots", "remove it", slices.Concat([]string{"tz", "paused", "on_missed"}, declared.SlotKeys())...)
	}
	e.validate(s)
	return s, true
}

// rule reads the keys that begin a rule.
func (e *entry) rule() recur.Spec {
	rule := recur.Spec{Cron: e.text("cron"), Every: e.text("every"), At: e.text("at"), Zone: e.properName("tz")}
	if event := e.text("on_calendar"); event != "" {
		rule.Cron, rule.Dialect = event, recur.Systemd
		e.refuse("with on_calendar", "remove it", "dialect")
	}
	return rule
}

// startWord returns the word that stands for the rule of an entry that runs at the start of a node;
// empty: the entry is a schedule.
func (e *entry) startWord() string {
	f := e.find("cron")
	if f != nil && f.Value.Sort == yamltree.Scalar && (f.Value.Text == declared.Reboot || f.Value.Text == declared.Start) {
		return f.Value.Text
	}
	return ""
}

// atStart reports whether the entry runs at the start of a node.
func (e *entry) atStart() bool { return e.startWord() != "" }

// set reads one of the keys that also exist in crontabs, and reports whether it has a valid value.
func (e *entry) set(key declared.Key, s *hourbell.Schedule) (valid bool) {
	f := e.find(key.Name)
	switch {
	case f == nil:
	case f.Value.Sort != yamltree.Scalar:
		e.add(key.Name, "is "+f.Value.Sort.String(), key.Remedy)
	case key.Bare() && !f.Value.Plain:
		e.add(key.Name, fmt.Sprintf("%q is in quotes, which make it a text", declared.Label(f.Value.Text, 60)), key.Remedy)
	default:
		err := key.Set(s, f.Value.Text)
		e.addFields(err)
		return err == nil
	}
	return false
}

// nameIt puts the name into the label, and refuses an empty name and a second
// use of the same name.
func (e *entry) nameIt(name string) {
	if name == "" {
		if f := e.find("name"); f == nil || f.Value.Sort == yamltree.Scalar {
			e.add("name", "is missing", "give each schedule a name of its own")
		}
		return
	}
	e.label += fmt.Sprintf(" %q", declared.Label(name, 60))
	if first, twice := e.lines[name]; twice {
		e.add("name", fmt.Sprintf("is given twice, first in line %d", first), "give each schedule a name of its own")
		return
	}
	e.lines[name] = e.lineOf("name")
}

// exactlyOne records a mistake if none or several of the keys are given.
func (e *entry) exactlyOne(what, purpose string, keys ...string) bool {
	remedy := "give exactly one of " + strings.Join(keys[:len(keys)-1], ", ") + " and " + keys[len(keys)-1]
	var given []string
	for _, key := range keys {
		if e.has(key) {
			given = append(given, key)
		}
	}
	switch len(given) {
	case 0:
		e.add(what, "is missing: nothing says "+purpose, remedy)
	case 1:
		return true
	default:
		e.add(given[1], "is given besides "+given[0], remedy)
	}
	return false
}

// work reads the job of the schedule.
func (e *entry) work(s *hourbell.Schedule) {
	one := e.exactlyOne("command", "what it runs", workNames...)
	command := e.command()
	calls := map[string]hourbell.RawArgs{"http": e.readyMade("http", httpKeys, (*entry).http), "sql": e.readyMade("sql", sqlKeys, (*entry).sql)}
	job := hourbell.RawArgs{Name: e.text("kind"), JSON: e.args()}
	s.Job = job
	if !one {
		return
	}
	if e.has("kind") {
		e.refuse("with kind: it belongs to command and shell", "put it into args", commandKeys.names()...)
		if job.JSON != nil {
			e.addFields(kinds.CheckArgs(job.Name, job.JSON))
		}
		return
	}
	for key, call := range calls {
		if e.has(key) {
			e.refuse("with "+key+": it belongs to command and shell", "remove it", commandKeys.names()...)
			e.refuse("without kind", "put it into "+key, "args")
			s.Job = call
			return
		}
	}
	e.refuse("without kind", "write kind and args, or command or shell alone", "args")
	s.Job = hourbell.RawArgs{Name: kinds.CommandKind, JSON: e.encode(command)}
}

// command reads the keys that are allowed together with command and shell.
func (e *entry) command() kinds.Command {
	c := kinds.Command{
		Argv: e.texts("command"), Shell: e.text("shell"), Env: e.texted("env"), Dir: e.properName("dir"),
		User: e.properName("user"), Stdin: e.text("stdin"),
	}
	if e.choice("base", "node", "cron") != "" {
		c.Base, _ = declared.ParseBase(e.text("base"))
	}
	if e.choice("detached", "end", "keep") != "" {
		c.Detached, _ = declared.ParseDetached(e.text("detached"))
	}
	e.shellOptions(&c)
	return c
}

// pipefail is the value of shell_options with which the failure of any command of a pipe is a failure.
const pipefail = "pipefail"

// shellOptions has bash run the line of a command with the options of the file, because /bin/sh need not have them.
func (e *entry) shellOptions(c *kinds.Command) {
	switch {
	case e.choice("shell_options", pipefail) == "":
	case !e.has("shell"):
		e.refuse("without shell", "write a line as shell:, or remove it", "shell_options")
	case strings.TrimSpace(c.Shell) != "":
		c.Argv, c.Shell = []string{"bash", "-o", pipefail, "-c", c.Shell}, ""
	}
}

// encode encodes a command as args, and translates the names of its fields. It
// returns nil for a command that is not valid.
func (e *entry) encode(command kinds.Command) []byte {
	if len(command.Argv) == 0 && command.Shell == "" && !e.emptyCommand() {
		return nil // the value had the wrong type, which is recorded already
	}
	args, err := command.Encode()
	for _, f := range declared.Fields(err) {
		f.Name = strings.Replace(f.Name, "argv", "command", 1)
		if e.has("shell") && f.Name == "command" {
			f = declared.Field{Name: "shell", Problem: "is empty", Remedy: "write the line to run"}
		}
		if e.has("command") && f.Name == "command" {
			f.Problem, f.Remedy = "is empty", "list the program and its arguments"
		}
		e.addField(f)
	}
	return args
}

// emptyCommand reports whether command or shell has the right type but is
// empty.
func (e *entry) emptyCommand() bool {
	if f := e.find("shell"); f != nil {
		return f.Value.Sort == yamltree.Scalar
	}
	f := e.find("command")
	return f != nil && f.Value.Sort == yamltree.List && len(f.Value.Items) == 0
}

func (e *entry) args() []byte {
	f := e.find("args")
	if f == nil {
		return nil
	}
	text, err := f.Value.JSON()
	if bad := (*yamltree.JSONError)(nil); errors.As(err, &bad) {
		e.addAt(cmp.Or(bad.Line, e.lineOf("args")), "args", bad.Problem, bad.Remedy)
	}
	if e.expanded += len(text); e.expanded > maxExpansion {
		e.add("args", fmt.Sprintf("of all schedules come to more than %d bytes", maxExpansion), "use fewer aliases or smaller args")
		return nil
	}
	return text
}

// texted reads a mapping with text values.
func (e *entry) texted(key string) map[string]string {
	f := e.find(key)
	if f == nil {
		return nil
	}
	if f.Value.Sort != yamltree.Mapping {
		e.add(key, "is "+f.Value.Sort.String(), "write NAME: value pairs")
		return nil
	}
	texts := make(map[string]string, len(f.Value.Fields))
	for _, pair := range f.Value.Fields {
		if pair.Value.Sort != yamltree.Scalar {
			e.addAt(pair.Line, fmt.Sprintf("%s %q", key, pair.Key), "is "+pair.Value.Sort.String(), `write a text; "" for an empty one`)
			continue
		}
		texts[pair.Key] = pair.Value.Text
	}
	return texts
}

// refuse records a mistake for each of the given keys that is present.
func (e *entry) refuse(why, remedy string, keys ...string) {
	for _, key := range keys {
		if e.has(key) {
			e.add(key, "has no meaning "+why, remedy)
		}
	}
}

// validate applies the rules for all schedules, except to fields for which the
// file has already broken its own stricter rules.
func (e *entry) validate(s hourbell.Schedule) {
	if e.atStart() {
		s.Rule.Cron = "@yearly" // any valid rule
	}
	for _, f := range declared.Fields(s.Validate()) {
		if f.Name == "args" {
			f.Value = "" // the value may contain a secret
		}
		if f.Name == "cron" && e.has("on_calendar") {
			f.Name = "on_calendar" // the key that is short for cron
		}
		switch {
		case f.Name == "owner": // recorded once for the whole file
		case !e.has(f.Name) && f.Name != "args": // missing, which is recorded with the key's name in the file
		case f.Name == "cron" || f.Name == "on_calendar" || f.Name == "every" || f.Name == "at":
			if e.single(ruleNames...) && e.find(f.Name).Value.Sort == yamltree.Scalar {
				e.addField(f)
			}
		case f.Name == "name" && s.Name == "", f.Name == "kind" && declared.Raw(s.Job).Name == "" && e.find("kind").Value.Sort != yamltree.Scalar:
		default:
			e.addField(f)
		}
	}
}

func (e *entry) single(keys ...string) bool {
	n := 0
	for _, key := range keys {
		if e.has(key) {
			n++
		}
	}
	return n == 1
}

// The functions below read single values and record mistakes in their form. A
// missing key gives the zero value.

func (e *entry) find(key string) *yamltree.Field { return e.node.Find(key) }

func (e *entry) has(key string) bool { return e.find(key) != nil }

// lineOf returns the line of a field; "env \"A\"" and "command[2]" are at the
// lines of env and command.
func (e *entry) lineOf(name string) int {
	if end := strings.IndexAny(name, " [."); end > 0 {
		name = name[:end]
	}
	if f := e.find(name); f != nil {
		return f.Line
	}
	return e.node.Line
}

func (e *entry) add(name, problem, remedy string) { e.addAt(e.lineOf(name), name, problem, remedy) }

func (e *entry) addAt(line int, name, problem, remedy string) {
	e.errs.Add(declared.Error{File: e.path, Line: line, Entry: e.label, Field: name, Problem: problem, Remedy: remedy})
}

func (e *entry) addField(f declared.Field) { e.addAt(e.lineOf(f.Name), f.Title(), f.Problem, f.Remedy) }

func (e *entry) addFields(err error) {
	for _, f := range declared.Fields(err) {
		e.addField(f)
	}
}

func (e *entry) isMapping(what, remedy string) bool {
	if e.node.Sort == yamltree.Mapping {
		return true
	}
	e.add(what, "is "+e.node.Sort.String(), remedy)
	return false
}

// checkKeys records a mistake for each key that is not among the known keys.
func (e *entry) checkKeys(known keys) { e.checkNames(known.names()) }

func (e *entry) checkNames(known []string) {
	for _, f := range e.node.Fields {
		if !slices.Contains(known, f.Key) {
			label := declared.Label(f.Key, 60)
			e.addAt(f.Line, label, "is not a key here"+declared.Suggest(f.Key, known), "use "+strings.Join(known, ", "))
		}
	}
}

// text reads a single value as it is written.
func (e *entry) text(key string) string {
	f := e.find(key)
	if f == nil {
		return ""
	}
	if f.Value.Sort != yamltree.Scalar {
		e.add(key, "is "+f.Value.Sort.String(), remedyFor(key))
		return ""
	}
	return f.Value.Text
}

func remedyFor(key string) string {
	if key == "shell" {
		return "write one line for the shell, or a list as command:"
	}
	return "write a text"
}

// properName reads a text that may be missing, but not empty.
func (e *entry) properName(key string) string {
	text := e.text(key)
	if f := e.find(key); text == "" && f != nil && f.Value.Sort == yamltree.Scalar {
		e.add(key, "is empty", "write a value, or leave the key out")
	}
	return text
}

// texts reads a list of single values.
func (e *entry) texts(key string) []string {
	f := e.find(key)
	if f == nil {
		return nil
	}
	if f.Value.Sort != yamltree.List {
		e.add(key, "is "+f.Value.Sort.String(), "list the program and its arguments, as in [echo, hello], or write a line as shell:")
		return nil
	}
	texts := make([]string, 0, len(f.Value.Items))
	for i, item := range f.Value.Items {
		if item.Sort != yamltree.Scalar {
			e.addAt(item.Line, fmt.Sprintf("%s[%d]", key, i), "is "+item.Sort.String(), `write a text; "" for an empty one`)
			continue
		}
		texts = append(texts, item.Text)
	}
	if len(texts) < len(f.Value.Items) {
		return nil
	}
	return texts
}

// number reads a whole number between least and most.
func (e *entry) number(key string, least, most int64) int64 {
	f := e.find(key)
	if f == nil {
		return 0
	}
	remedy := declared.NumberRemedy(least, most)
	if f.Value.Sort != yamltree.Scalar {
		e.add(key, "is "+f.Value.Sort.String(), remedy)
		return 0
	}
	n, ok := declared.Number(f.Value.Text, least, most)
	if !ok || !f.Value.Plain {
		e.add(key, fmt.Sprintf("%q is not a number in the allowed range", declared.Label(f.Value.Text, 60)), remedy)
		return 0
	}
	return n
}

func (e *entry) choice(key string, choices ...string) string {
	text := e.text(key)
	if f := e.find(key); f == nil || f.Value.Sort != yamltree.Scalar || slices.Contains(choices, text) {
		return text
	}
	e.add(key, fmt.Sprintf("%q is unknown%s", declared.Label(text, 60), declared.Suggest(text, choices)), "use "+strings.Join(choices, " or "))
	return ""
}
