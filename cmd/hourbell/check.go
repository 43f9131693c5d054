package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
)

// fileFlags are the files that check and import read.
type fileFlags struct{ crontabs, sysCrontabs []string }

func (f *fileFlags) addTo(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.crontabs, "crontab", nil, "a user's crontab, or a directory of them; may be repeated")
	c.Flags().StringArrayVar(&f.sysCrontabs, "crontab-system", nil, "a crontab with users in it, or a directory of them; may be repeated")
}

// args requires a file as an argument unless a flag names a file.
func (f *fileFlags) args(c *cobra.Command, args []string) error {
	if len(f.crontabs)+len(f.sysCrontabs) > 0 {
		return nil
	}
	return takes(true, "FILE")(c, args)
}

func (f *fileFlags) inputs(files []string) []input {
	return inputs(files, anyForm, f.crontabs, f.sysCrontabs)
}

// loader returns a loader for this process, which need not run the lines of the
// files.
func (p *program) loader() loader { return loader{stdin: p.stdin, me: whoAmI()} }

func (p *program) checkCommand() *cobra.Command {
	var (
		files   fileFlags
		out     format
		secrets bool
	)
	c := &cobra.Command{
		Use: "check FILE… [--crontab FILE] [--crontab-system FILE]", Short: "Reads schedule files and crontabs, names their mistakes, and changes nothing",
		Long: "Reads schedule files (YAML) and crontabs and prints what each line will run, as whom, in which environment,\n" +
			"and its next three instants, or every mistake with file and line. The format of FILE is found from its name and\n" +
			"text, or given by the flags. FILE may be - for standard input. No store is opened.",
		Example: "  hourbell check schedules.yaml\n  hourbell check --crontab /var/spool/cron/crontabs/ops\n" +
			"  hourbell check --crontab-system /etc/crontab --crontab-system /etc/cron.d",
		DisableFlagsInUseLine: true,
		Args:                  files.args,
		RunE: func(_ *cobra.Command, args []string) error {
			read, left, err := p.loader().loadAll(files.inputs(args))
			if err != nil {
				return err
			}
			for _, file := range read {
				warnNever(file, p.now())
			}
			return p.printFiles(read, left, out, secrets)
		},
	}
	files.addTo(c)
	out.addTo(c)
	c.Flags().BoolVar(&secrets, "show-secrets", false, "print values of environments, inputs and arguments")
	return c
}

// checkSetting checks a setting of a crontab on this machine; the node that
// runs the lines may be on another machine.
func checkSetting(name, value string) (problem, remedy string) {
	info := look(value)
	switch {
	case name != "HOME" && name != "SHELL":
	case !filepath.IsAbs(value):
		return "is not a path from / on", "write it in full"
	case name == "HOME" && (info == nil || !info.IsDir()):
		return "is not a directory on this machine", "create it on every machine that runs the lines below"
	case name == "SHELL" && (info == nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0):
		return "is not a program on this machine", "install it on every machine that runs the lines below, or write another"
	}
	return "", ""
}

// warnNever warns about valid rules that have no instant.
func warnNever(file loaded, now time.Time) {
	for _, entry := range file.set.Entries {
		if entry.Rule.Cron != "" && len(upcoming(entry, now)) == 0 {
			file.set.Warn(declared.Error{
				File: file.path, Line: entry.Line, Field: fmt.Sprintf("rule %q", declared.Label(entry.Rule.Cron, 60)),
				Problem: "never rings from now on", Remedy: "check that its months have its day",
			})
		}
	}
	file.set.SortWarnings()
}

// printFiles prints the content of files.
func (p *program) printFiles(files []loaded, left []skipped, f format, secrets bool) error {
	if f != asTable {
		l := listing[loaded]{record: func(file loaded) any { return newFileRecord(file, left, p.now(), secrets) }}
		return l.print(p, f, all(files))
	}
	out := bufio.NewWriter(p.stdout)
	for i, file := range files {
		if i > 0 {
			fmt.Fprintln(out)
		}
		printFile(out, file, p.now(), secrets)
	}
	for _, s := range left {
		fmt.Fprintf(out, "\n%s: left alone: %s\n", plain.Clean(s.path), s.reason)
	}
	return out.Flush()
}

func printFile(out *bufio.Writer, file loaded, now time.Time, secrets bool) {
	set := file.set
	fmt.Fprintf(out, "%s: %s, %s of owner %q", plain.Clean(file.path), file.form, plain.Plural(len(set.Entries), "schedule"), set.Owner)
	if n := len(set.AtStart); n > 0 {
		fmt.Fprintf(out, ", %d at start", n)
	}
	if set.Revision > 0 {
		fmt.Fprintf(out, ", revision %d", set.Revision)
	}
	fmt.Fprintln(out)
	for _, entry := range set.All() {
		fmt.Fprintf(out, "\n  %s\n", plain.Clean(entry.Name))
		for _, f := range entryFacts(entry, now, secrets) {
			fmt.Fprintf(out, "    %-8s%s\n", f.name, plain.Clean(f.value))
		}
	}
	if len(set.Warnings) > 0 {
		fmt.Fprintln(out, "\n  warnings")
	}
	for _, warning := range set.Warnings {
		fmt.Fprintf(out, "    %s\n", plain.Clean(warning.Error()))
	}
}

// entryFacts are the lines that are shown of an entry.
func entryFacts(entry declared.Entry, now time.Time, secrets bool) []fact {
	facts := []fact{{"line", fmt.Sprint(entry.Line)}, {"rule", entry.Rule.String()}}
	if entry.Rule.String() == "" {
		facts[1].value = "@reboot: once for each start of a node"
	} else {
		facts = append(facts, fact{"means", describe(entry.Rule, now)})
	}
	facts = append(facts, workFacts(entry.Schedule, secrets)...)
	facts = append(facts, fact{"limits", limits(entry.Schedule)})
	if len(entry.Exclude) > 0 {
		facts = append(facts, fact{"except", excludedText(entry.Schedule)})
	}
	entry.Hooks.Each(func(name string, hook *hourbell.Hook) {
		facts = append(facts, fact{name + " ", hookText(hook, secrets)})
	})
	if entry.Rule.String() == "" {
		return facts
	}
	next := upcoming(entry, now)
	for i, t := range next {
		facts = append(facts, fact{[]string{"next", "", ""}[i], plain.InZone(t, entry.Rule.Zone)})
	}
	if len(next) == 0 {
		facts = append(facts, fact{"next", "never from now on"})
	}
	return facts
}

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

// workFacts are the lines that show the job of a schedule.
func workFacts(s hourbell.Schedule, secrets bool) []fact {
	command, err := kinds.DecodeCommand(s.Args)
	if s.Kind != kinds.CommandKind || err != nil {
		return []fact{{"runs", "kind " + s.Kind + argsIf(secrets, s.Args)}}
	}
	facts := []fact{{"runs", argvText(argv(s.Args, secrets))}, {"as", cmp.Or(command.User, "the node's user")}, {"in", workDir(command)}, {"env", envText(command, secrets)}}
	switch {
	case command.Stdin != "" && secrets:
		facts = append(facts, fact{"input", fmt.Sprintf("%q", command.Stdin)})
	case command.Stdin != "":
		facts = append(facts, fact{"input", plain.Plural(len(command.Stdin), "byte") + " (--show-secrets prints it)"})
	}
	if command.Detached == kinds.KeepDetached {
		facts = append(facts, fact{"detached", " keep"})
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

// limits lists the limits of a schedule's jobs: attempts and time.
func limits(s hourbell.Schedule) string {
	var parts []string
	if s.MaxAttempts > 0 {
		parts = append(parts, plain.Plural(s.MaxAttempts, "attempt"))
	} else {
		parts = append(parts, "25 attempts")
	}
	switch {
	case s.Timeout == hourbell.MaxDuration:
		parts = append(parts, "no time limit")
	case s.Timeout > 0:
		parts = append(parts, "timeout "+s.Timeout.String())
	case s.Kind == kinds.CommandKind || s.Kind == kinds.HTTPKind:
		parts = append(parts, "timeout "+commandTimeout.String())
	}
	parts = append(parts, "on_loss "+lossText(s.OnLoss))
	if s.Rule.String() != "" {
		parts = append(parts, "overlap "+overlapWord(s.Overlap))
		if policies := shownPolicies(s); policies != "" {
			parts = append(parts, policies)
		}
	}
	for _, f := range []fact{{"queue", s.Queue}, {"group", s.Group}} {
		if f.value != "" {
			parts = append(parts, f.name+" "+f.value)
		}
	}
	if s.Priority > 0 {
		parts = append(parts, fmt.Sprintf("priority %d", s.Priority))
	}
	if s.Paused {
		parts = append(parts, "paused")
	}
	return strings.Join(parts, ", ")
}

func lossText(choice hourbell.OnLoss) string {
	if choice == hourbell.FailOnLoss {
		return "fail"
	}
	return "retry"
}

// hookText describes a hook.
func hookText(hook *hourbell.Hook, secrets bool) string {
	if words := argv(hook.Args, secrets); hook.Kind == kinds.CommandKind && words != nil {
		return argvText(words)
	}
	args := hook.Args
	if !secrets {
		args = kinds.Redact(hook.Kind, args)
	}
	var call kinds.HTTP
	if err := json.Unmarshal(args, &call); hook.Kind == kinds.HTTPKind && err == nil {
		return cmp.Or(call.Method, "POST") + " " + call.URL
	}
	return "kind " + hook.Kind
}

// upcoming returns the next three instants that the file does not exclude;
// stored calendars are not read. An interval counts from now, as it would if
// the schedule were put now.
func upcoming(entry declared.Entry, now time.Time) []time.Time {
	now = now.Truncate(time.Second)
	rule, err := entry.Rule.Rule(now)
	if err != nil { // the file was checked, or the entry has no rule
		return nil
	}
	var calendars []*recur.Calendar
	for _, c := range entry.Exclude {
		if calendar, err := c.Calendar(); err == nil && !c.Stored {
			calendars = append(calendars, calendar)
		}
	}
	var next []time.Time
	looked := 0
	for t, open := recur.NextOpen(rule, now, calendars...); len(next) < 3 && !t.IsZero() && looked < mostClosed; t, open = recur.NextOpen(rule, t, calendars...) {
		if looked++; open {
			next = append(next, t)
		}
	}
	return next
}
