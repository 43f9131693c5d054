package main

import (
	"bufio"
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/internal/view"
)

// fileFlags are the files that check and import read.
type fileFlags struct{ crontabs, sysCrontabs, ownCrontabs []string }

func (f *fileFlags) addTo(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.crontabs, "crontab", nil, "a user's crontab, or a directory of them; may be repeated")
	c.Flags().StringArrayVar(&f.sysCrontabs, "crontab-system", nil, "a crontab with users in it, or a directory of them; may be repeated")
	c.Flags().StringArrayVar(&f.ownCrontabs, "crontab-local", nil, "a crontab of this host alone, as in serve, or a directory of them; may be repeated")
}

// args requires a file as an argument unless a flag names a file.
func (f *fileFlags) args(c *cobra.Command, args []string) error {
	if len(f.crontabs)+len(f.sysCrontabs)+len(f.ownCrontabs) > 0 {
		return nil
	}
	return takes(true, "FILE")(c, args)
}

func (f *fileFlags) inputs(paths []string) []files.Input {
	return append(files.Inputs(paths, files.AnyForm, f.crontabs, f.sysCrontabs), files.Local(f.ownCrontabs, plan.DefaultHost())...)
}

// loader returns a loader for this process, which need not run the lines of the
// files.
func (p *program) loader() files.Loader {
	return files.Loader{Stdin: p.stdin, Me: files.WhoAmI()}
}

func (p *program) checkCommand() *cobra.Command {
	var (
		f       fileFlags
		out     format
		secrets bool
	)
	c := &cobra.Command{
		Use: "check FILE… [--crontab FILE] [--crontab-system FILE]", Short: "Reads schedule files and crontabs, names their mistakes, and changes nothing",
		Long: "Reads schedule files (YAML) and crontabs and prints what each line will run, as whom, in which environment,\n" +
			"and its next three instants, or every mistake with file and line. The format of FILE is found from its name and\n" +
			"text, or given by the flags. FILE may be - for standard input. No store is opened.\n\n" +
			"Files without mistakes are shown also if others have mistakes; then the exit code is 2. Run as root, a crontab\n" +
			"that other users could write is a mistake, as for serve, because they would decide what root runs.",
		Example: "  hourbell check schedules.yaml\n  hourbell check --crontab /var/spool/cron/crontabs/ops\n" +
			"  hourbell check --crontab-system /etc/crontab --crontab-system /etc/cron.d",
		DisableFlagsInUseLine: true,
		Args:                  f.args,
		RunE: func(_ *cobra.Command, args []string) error {
			loader := p.loader()
			loader.Refuse = true
			read, left, err := loader.LoadAll(f.inputs(args))
			if err != nil && len(read) == 0 {
				return err
			}
			for _, file := range read {
				files.WarnNever(file, p.now())
				files.WarnLateFailures(file.Path, file.Set)
			}
			return cmp.Or(p.printFiles(read, left, out, secrets), err)
		},
	}
	f.addTo(c)
	out.addTo(c)
	c.Flags().BoolVar(&secrets, "show-secrets", false, "print values of environments, inputs and arguments")
	return c
}

// printFiles prints the content of files.
func (p *program) printFiles(read []files.Loaded, left []files.Skipped, f format, secrets bool) error {
	if f != asTable {
		l := view.Listing[files.Loaded]{Record: func(file files.Loaded) any { return files.NewRecord(file, left, p.now(), secrets) }}
		return printList(p, l, f, all(read))
	}
	out := bufio.NewWriter(p.stdout)
	for i, file := range read {
		if i > 0 {
			fmt.Fprintln(out)
		}
		printFile(out, file, p.now(), secrets)
	}
	for _, s := range left {
		fmt.Fprintf(out, "\n%s: left alone: %s\n", plain.Clean(s.Path), s.Reason)
	}
	return out.Flush()
}

func printFile(out *bufio.Writer, file files.Loaded, now time.Time, secrets bool) {
	set := file.Set
	fmt.Fprintf(out, "%s: %s, %s of owner %q", plain.Clean(file.Path), file.Form, plain.Plural(len(set.Entries), "schedule"), set.Owner)
	if n := len(set.AtStart); n > 0 {
		fmt.Fprintf(out, ", %d at start", n)
	}
	if n := len(set.Limits); n > 0 {
		fmt.Fprintf(out, ", %s", plain.Plural(n, "limit"))
	}
	if set.Revision > 0 {
		fmt.Fprintf(out, ", revision %d", set.Revision)
	}
	fmt.Fprintln(out)
	for _, l := range set.Limits {
		fmt.Fprintf(out, "\n  %s\n    %-8s%s\n", plain.Clean(l.Name), "limit", plain.Clean(view.LimitText(l)))
	}
	for _, entry := range set.All() {
		fmt.Fprintf(out, "\n  %s\n", plain.Clean(entry.Name))
		for _, f := range view.EntryFacts(entry, now, secrets) {
			fmt.Fprintf(out, "    %-8s%s\n", f.Name, plain.Clean(f.Value))
		}
	}
	if len(set.Warnings) > 0 {
		fmt.Fprintln(out, "\n  warnings")
	}
	for _, warning := range set.Warnings {
		fmt.Fprintf(out, "    %s\n", plain.Clean(warning.Error()))
	}
}
