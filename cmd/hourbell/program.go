package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/lockrun"
	"github.com/hourbell/hourbell/internal/plain"
)

// program is the whole program as a value: its inputs, its outputs, and the few
// facts about its surroundings that it uses.
type program struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	now    func() time.Time // for the default of --from; never to decide whether something is due
	page   int              // how many items of a long listing are read at a time

	color   colorMode        // of the flag --color
	table   tableFlags       // of a listing
	clock   func() time.Time // the store's clock, if it was read to show times relative to now
	watched *watched         // set for each reading of a listing with --watch
	asked   []asked          // the names that the command looks up
	empty   bool             // a table had no rows
	where   string           // the store that is open, without its password; empty: none
}

func newProgram() *program {
	return &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now, page: pageSize}
}

// run executes args and returns the exit code. An error is printed once.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(asActor(ctx))
	var code lockrun.Status
	if err != nil && !errors.Is(err, errReported) && !errors.Is(err, errMisused) && !errors.As(err, &code) {
		printError(p.stderr, err)
	}
	return exitCode(err)
}

func (p *program) rootCommand() *cobra.Command {
	root := p.group("hourbell", "Scheduled and queued work, once, on any number of servers",
		p.serveCommand(),
		p.nextCommand(),
		p.explainCommand(),
		p.checkCommand(),
		p.schemaCommand(),
		p.initCommand(),
		p.importCommand(),
		p.applyCommand(),
		p.enqueueCommand(),
		p.jobsCommand(),
		p.signalCommand(),
		p.stepCommand(),
		p.waitCommand(),
		p.batchesCommand(),
		p.handlersCommand(),
		p.limitsCommand(),
		p.schedulesCommand(),
		p.groupsCommand(),
		p.calendarsCommand(),
		p.slotsCommand(),
		p.eventsCommand(),
		p.topCommand(),
		p.auditCommand(),
		p.statsCommand(),
		p.queuesCommand(),
		p.kindsCommand(),
		p.keysCommand(),
		p.nodesCommand(),
		p.authCommand(),
		p.execCommand(),
		p.locksCommand(),
		p.migrateCommand(),
		p.doctorCommand(),
		p.benchCommand(),
		p.demoCommand(),
		p.versionCommand(),
	)
	root.CompletionOptions.DisableDefaultCmd = true
	misused := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return p.showFirstRun()
		}
		return misused(c, args)
	}
	root.AddCommand(p.completionCommand(root))
	p.completeNames(root)
	root.Long = "Hourbell runs scheduled and queued work exactly where and when it should on a cluster of ordinary\n" +
		"servers, with nothing to install but the database they already share.\n\n" +
		"The store is --store URL or HOURBELL_STORE: sqlite:path/to/file.db, postgres://user@host/database or\n" +
		"mysql://user@host/database, or --store-file FILE that contains the URL; without any, the file hourbell.db in\n" +
		"the working directory.\n\n" +
		"Exit codes: 0 done, 1 failed, 2 usage error, 3 lock held by another owner or nothing due,\n" +
		"4 no signal came in time, 75 the job waits for its signal (see `hourbell wait --help`)."
	root.Version = versionText()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetHelpCommand(p.helpCommand(root))
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRun = func(c *cobra.Command, args []string) { p.asked = askedFor(c, args) }
	p.color = colorAuto
	root.PersistentFlags().Var(&p.color, "color", "when states have colours: auto (on a terminal, unless NO_COLOR is set), always or never")
	return root
}

// group is a command that only contains commands. Without a valid command it
// fails, because cobra alone would print the help and exit with 0.
func (p *program) group(name, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: name + " COMMAND", Short: short, Args: cobra.ArbitraryArgs,
		SilenceUsage: true, SilenceErrors: true, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &check.FieldError{Field: "command", Problem: "is missing", Remedy: listRemedy(c)}
			}
			return unknownCommand(c, args[0])
		},
	}
	c.AddCommand(commands...)
	return c
}

func unknownCommand(group *cobra.Command, name string) error {
	return &check.FieldError{
		Field: "command", Value: check.Shorten(name), Problem: "is unknown",
		Remedy: plain.DidYouMean(nearestCommand(group, name), listRemedy(group)),
	}
}

func listRemedy(group *cobra.Command) string {
	return fmt.Sprintf("`%s --help` lists them", group.CommandPath())
}

func (p *program) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Describes a command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, args[len(args)-max(len(rest), 1)])
			}
			return c.Help()
		},
	}
}

// takes checks the number of arguments before a command runs. names are the
// required arguments in the usage line; more means that the last argument may
// be repeated.
func takes(more bool, names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		remedy := fmt.Sprintf("write `%s`; `%s --help` explains it", c.UseLine(), c.CommandPath())
		if len(args) < len(names) {
			return &check.FieldError{Field: names[len(args)], Problem: "is missing", Remedy: remedy}
		}
		if len(args) > len(names) && !more {
			return &check.FieldError{Field: "argument", Value: check.Shorten(args[len(names)]), Problem: "is one too many", Remedy: remedy}
		}
		return nil
	}
}

// flagError turns an error of the flag parser into a message that names the
// flag and the remedy, for arguments of any bytes and sizes.
func flagError(c *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		without *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		field   *check.FieldError
		help    = fmt.Sprintf("`%s --help` lists the flags", c.CommandPath())
	)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &field):
		return field
	case errors.As(err, &unknown):
		return unknownFlag(c, unknown, help)
	case errors.As(err, &without):
		return &check.FieldError{Field: "--" + without.GetFlag().Name, Problem: "has no value", Remedy: help}
	case errors.As(err, &invalid) && errors.Is(err, errEmptyText):
		return &check.FieldError{Field: "--" + invalid.GetFlag().Name, Problem: "is empty", Remedy: "give a value, or leave the flag out"}
	case errors.As(err, &invalid):
		problem, remedy := flagProblem(invalid.GetFlag())
		return &check.FieldError{Field: "--" + invalid.GetFlag().Name, Value: check.Shorten(invalid.GetValue()), Problem: problem, Remedy: remedy}
	}
	return &check.FieldError{Field: "flag", Problem: "cannot be read", Remedy: help}
}

// unknownFlag returns the error for a flag that a command does not have; help is the remedy if no flag is like it.
func unknownFlag(c *cobra.Command, unknown *pflag.NotExistError, help string) error {
	if c.HasSubCommands() && c.Flags().NArg() > 0 {
		return unknownCommand(c, c.Flags().Arg(0)) // the flag belongs to the command that was meant
	}
	meant := nearestFlag(c, cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()))
	return &check.FieldError{Field: "flag", Value: check.Shorten(flagName(unknown)), Problem: "is unknown", Remedy: plain.DidYouMean(meant, help)}
}

// flagName returns an unknown flag as the user wrote it.
func flagName(unknown *pflag.NotExistError) string {
	if unknown.GetSpecifiedShortnames() != "" {
		return "-" + unknown.GetSpecifiedName()
	}
	return "--" + unknown.GetSpecifiedName()
}

func flagProblem(flag *pflag.Flag) (problem, remedy string) {
	switch flag.Value.Type() {
	case "duration":
		return "is not a duration", "write it like 90s or 1h30m"
	case "bool":
		return "is neither true nor false", "give the flag without a value"
	case "int", "int64":
		return "is not a whole number in range", "write it in digits"
	}
	return "cannot be read", "write words separated by commas"
}

func versionText() string {
	return fmt.Sprintf("hourbell %s (%s %s/%s)", hourbell.Build(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
