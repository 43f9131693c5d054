package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/watch"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/logline"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/node"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/plan"
)

const (
	defaultQueue = "default"
	// crontabWidth is how many jobs run at once on a node with crontabs by
	// default: cron has no limit, and slow lines must not delay other lines.
	crontabWidth = 200
	// completedLines is how many jobs that complete within a second get log
	// lines of their own: more lines are not readable, and slow the node down.
	completedLines = 50
)

// The range of --lease. The library checks the range too, but treats 0 as its
// default.
const (
	minLease = 100 * time.Millisecond
	maxLease = time.Hour
)

// serveFlags are the flags of serve as the user wrote them.
type serveFlags struct {
	store         storeFlags
	notifyURL     notifyFlag
	files         []string
	crontabs      []string
	sysCrontabs   []string
	ownCrontabs   []string
	queues        string
	maxRunning    string
	ageing        string
	commands      string
	httpPrivate   bool
	mail          string
	sql           []string
	web           webFlags
	probes        string
	probesMetrics bool
	logLevel      string
	logFormat     string
	name          string
	host          string
	labels        []string
	stateDir      string
	lease         time.Duration
	drain         time.Duration
	keepCompleted time.Duration
	keepFailed    time.Duration
	keepSlots     time.Duration
	upgradeCheck  int
}

func (p *program) serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use: "serve", Short: "Runs schedules and jobs until it is stopped", Args: takes(false),
		Long: "Makes this process a node: it fires schedules and runs jobs of the kind command, together with all other\n" +
			"nodes on the same store. Files are read again on SIGHUP and whenever they change.\n\n" +
			"SIGINT or SIGTERM stops in order: no more claims, a wait of --drain for running jobs, and the rest is\n" +
			"handed back. A second signal ends the wait.\n\n" +
			"SIGUSR2 (on Linux) replaces the program by the one that is in its place now, while its commands run on: the\n" +
			"process and the node stay the same. If the new program cannot take over, the node goes on as it is.",
		Example: "  hourbell serve --file schedules.yaml\n" +
			"  hourbell serve --store postgres://user@host/database --crontab /etc/ops.crontab --probes :8081\n" +
			"  hourbell serve --listen 127.0.0.1:8080\n" +
			"  hourbell serve --listen :8443 --auth users.json --tls-cert cert.pem --tls-key key.pem\n" +
			"  hourbell serve --queues default,reports=2 --log-format json",
		RunE: func(c *cobra.Command, _ []string) error { return p.serve(c, f) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.files, "file", nil, "a file of schedules (YAML); may be repeated")
	flags.StringArrayVar(&f.crontabs, "crontab", nil, "a user's crontab, or a directory of them; may be repeated")
	flags.StringArrayVar(&f.sysCrontabs, "crontab-system", nil,
		"a crontab with users in it such as /etc/crontab, or a directory such as /etc/cron.d; may be repeated")
	flags.StringArrayVar(&f.ownCrontabs, "crontab-local", nil,
		"a crontab of this host alone, or a directory of them: the lines run here and nowhere else; may be repeated")
	flags.StringVar(&f.queues, "queues", defaultQueue, "queues to work on, with an optional number of jobs at once: "+
		"a,b=20 (default 4 × cores, at least 10; with crontabs 200); @FILE reads them from a file, again whenever it changes")
	flags.StringVar(&f.maxRunning, "max-running", "", "how many jobs of a kind run at once on this node, over all queues: "+
		"command=4,http=20; @FILE reads them from a file, again whenever it changes")
	flags.StringVar(&f.ageing, "ageing", "", "after which time due jobs of a queue start before younger jobs of better "+
		"priority: default=10m,reports=1h; @FILE reads them from a file, again whenever it changes")
	flags.StringVar(&f.commands, "commands", "", "which commands, HTTP calls and SQL statements this node runs: off, "+
		"declared (in its own files) or any (default any with SQLite, otherwise declared)")
	flags.BoolVar(&f.httpPrivate, "http-private", false, "let HTTP calls that are not in this node's own files reach "+
		"private addresses too, such as this machine and its network")
	flags.StringVar(&f.mail, "mail", "", "mail what the lines of crontabs print, through this program with the arguments "+
		"of sendmail, such as /usr/sbin/sendmail: to MAILTO, else to the user of the line")
	flags.StringArrayVar(&f.sql, "sql", nil, "a database for jobs of kind sql, NAME=URL, NAME=env:VARIABLE or NAME=@FILE; "+
		"NAME=apart:… if jobs need not be completed in the statement's transaction; may be repeated")
	f.web.addTo(c)
	flags.StringVar(&f.probes, "probes", "", "answer /livez, /healthz and /readyz on this address, such as :8081, without access rules")
	flags.BoolVar(&f.probesMetrics, "probes-metrics", false, "answer /metrics on the address of --probes, too, without access rules")
	flags.StringVar(&f.logLevel, "log-level", "info", "trace, debug, info, warn or error")
	flags.StringVar(&f.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&f.name, "name", "", "the node's name for people, not shared with another (default host, process and a random part)")
	flags.StringVar(&f.host, "host", "", "the name of the host that this node runs on, for schedules that run on a host (default the operating system's)")
	flags.StringArrayVar(&f.labels, "label", nil, "what is known of this node, KEY=VALUE, such as role=db; may be repeated")
	flags.StringVar(&f.stateDir, "state-dir", "", "the folder where this node records how far the store has come, so that "+
		"it notices a restored backup (default $STATE_DIRECTORY, else hourbell in $XDG_STATE_HOME or ~/.local/state; \"\" for none)")
	flags.DurationVar(&f.lease, "lease", 15*time.Second, "how long the others wait for a sign of life before they take this node's jobs")
	flags.DurationVar(&f.drain, "drain", 30*time.Second, "how long a stop waits for running jobs")
	flags.DurationVar(&f.keepCompleted, "keep-completed", 24*time.Hour, "how long completed and cancelled jobs are kept; 0 for ever")
	flags.DurationVar(&f.keepFailed, "keep-failed", 7*24*time.Hour, "how long failed jobs, and jobs that were not started, are kept; 0 for ever")
	flags.DurationVar(&f.keepSlots, "keep-slots", 30*24*time.Hour, "how long records of slots are kept; 0 for ever")
	flags.IntVar(&f.upgradeCheck, node.UpgradeFlag, 0, "try whether this program can take over a node that is handed over in this format")
	_ = flags.MarkHidden(node.UpgradeFlag) // it exists
	f.store.addTo(c)
	f.notifyURL.addTo(c)
	return c
}

func (p *program) serve(c *cobra.Command, f serveFlags) error {
	taken, err := node.Take()
	if err != nil {
		return err
	}
	env := os.Environ() // before variables are removed
	n, err := p.newNode(c, f)
	if err != nil {
		return err
	}
	n.Taken, n.Env = taken, env
	if c.Flags().Changed(node.UpgradeFlag) {
		return n.TryUpgrade(c.Context(), f.upgradeCheck, p.stdout)
	}
	return n.Run(c.Context())
}

// newNode reads all input of serve and reports all mistakes.
func (p *program) newNode(c *cobra.Command, f serveFlags) (*node.Node, error) {
	n := &node.Node{Migrate: !f.store.noMigrate, Probes: f.probes, ProbesMetrics: f.probesMetrics, HTTPPrivate: f.httpPrivate}
	var errs [11]error
	if n.Store, errs[0] = p.locate(f.store); errs[0] == nil {
		n.Store, errs[0] = f.notifyURL.apply(p, n.Store)
	}
	n.Commands, errs[1] = node.ParseCommands(f.commands, c.Flags().Changed("commands"), n.Store)
	n.Limits = node.Limits{
		Queues: queuesSetting(f.queues), MaxRunning: settingOf(f.maxRunning, parseMaxRunning), Ageing: settingOf(f.ageing, parseAgeing),
	}
	n.MaxRunning, errs[9] = n.Limits.MaxRunning.Read()
	n.Config, errs[2] = f.config(c, n.Limits)
	n.Config.Logger, errs[3] = logline.New(p.stderr, f.logLevel, f.logFormat)
	host := cmp.Or(f.host, plan.DefaultHost())
	loader := files.Loader{Strict: f.commands != string(node.NoCommands), Me: files.WhoAmI(), Host: host, Mails: f.mail != ""}
	n.Mail = f.mail
	n.Watch, errs[4] = watch.Open(loader, append(files.Inputs(f.files, files.YAML, f.crontabs, f.sysCrontabs), files.Local(f.ownCrontabs, host)...))
	n.SQL, errs[6] = p.parseSQL(f.sql)
	if c.Flags().Changed("probes") {
		errs[5] = checkAddress("probes", f.probes)
	} else if f.probesMetrics {
		errs[5] = &check.FieldError{
			Field: "probes-metrics", Problem: "is given without --probes",
			Remedy: "give --probes with an address, or read /metrics at the address of --listen",
		}
	}
	n.Web, errs[7] = f.web.read(c, n.Config.Logger)
	n.Config.Callbacks.Keys, errs[10] = f.web.callbackKeys(c)
	n.Web.Callbacks = n.Config.Callbacks.Keys != nil
	if c.Flags().Changed("mail") {
		errs[8] = checkProgram("mail", f.mail)
	}
	n.Web.Commands = c.Flags().Changed("commands") && n.Commands == node.AnyCommands
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if !c.Flags().Changed("queues") && len(f.crontabs)+len(f.sysCrontabs)+len(f.ownCrontabs) > 0 {
		n.Config.Queues[defaultQueue] = crontabWidth
	}
	return n, nil
}

// checkProgram checks the path of a program that the node runs.
func checkProgram(field, path string) error {
	bad := func(problem string) error {
		return &check.FieldError{Field: field, Value: check.Shorten(path), Problem: problem, Remedy: "give the full path of a program, such as /usr/sbin/sendmail"}
	}
	if !filepath.IsAbs(path) {
		return bad("is not a full path")
	}
	switch info := files.Look(path); {
	case info == nil:
		return bad("does not exist")
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return bad("is not a program")
	}
	return nil
}

// parseSQL reads the values of --sql. It removes the variables that they name from the
// environment of the process, because commands get that environment.
func (p *program) parseSQL(texts []string) ([]stores.SQLConnection, error) {
	connections := make([]stores.SQLConnection, len(texts))
	seen := map[string]bool{}
	var errs []error
	for i, text := range texts {
		var err error
		connections[i], err = stores.ParseSQL(text, p.getenv)
		if name := connections[i].Name; err == nil && seen[name] {
			err = &check.FieldError{Field: "sql", Value: check.Shorten(name), Problem: "is given twice", Remedy: "give each connection a name of its own"}
		}
		seen[connections[i].Name] = true
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, text := range texts {
		if variable := stores.SQLVariable(text); variable != "" {
			if err := os.Unsetenv(variable); err != nil {
				return nil, err
			}
		}
	}
	return connections, nil
}

// config returns the client's configuration from the flags.
func (f serveFlags) config(c *cobra.Command, limits node.Limits) (hourbell.Config, error) {
	queues, err := limits.Queues.Read()
	ageing, ageingErr := limits.Ageing.Read()
	err = errors.Join(err, ageingErr,
		notNegative("drain", f.drain), notNegative("keep-completed", f.keepCompleted),
		notNegative("keep-failed", f.keepFailed), notNegative("keep-slots", f.keepSlots))
	if f.lease < minLease || f.lease > maxLease {
		err = errors.Join(err, &check.FieldError{
			Field: "lease", Value: f.lease.String(), Problem: "is out of range",
			Remedy: fmt.Sprintf("use %v to %v", plain.Brief(minLease), plain.Brief(maxLease)),
		})
	}
	if !c.Flags().Changed("state-dir") {
		f.stateDir = node.DefaultStateDir()
	}
	if c.Flags().Changed("name") {
		err = errors.Join(err, check.Name("name", f.name))
	}
	if c.Flags().Changed("host") {
		err = errors.Join(err, check.Host("host", f.host))
	}
	labels, labelErr := parseLabels(f.labels)
	err = errors.Join(err, labelErr)
	return hourbell.Config{
		Queues: queues, Ageing: ageing, Name: f.name, Host: f.host, Labels: labels, Lease: f.lease, Drain: zeroIsNegative(f.drain),
		StateDir: f.stateDir, LogCompleted: completedLines, NoMigrate: true, // opening the store has migrated it already
		Keep: hourbell.Keep{
			Completed: zeroIsNegative(f.keepCompleted), Failed: zeroIsNegative(f.keepFailed), Slots: zeroIsNegative(f.keepSlots),
		},
	}, err
}

// zeroIsNegative turns 0, which means "none" or "for ever" in flags, into a
// negative value, because hourbell.Config treats 0 as the default.
func zeroIsNegative(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

func notNegative(field string, d time.Duration) error {
	if d < 0 {
		return &check.FieldError{Field: field, Value: d.String(), Problem: "is negative", Remedy: "use 0 or more"}
	}
	return nil
}

// parseLabels reads the values of --label.
func parseLabels(texts []string) (map[string]string, error) {
	labels := map[string]string{}
	var errs []error
	for _, text := range texts {
		key, value, _ := strings.Cut(text, "=")
		err := check.Label("label", text)
		if err == nil && labels[key] != "" {
			err = &check.FieldError{Field: "label", Value: check.Shorten(key), Problem: "is given twice", Remedy: "give each key once"}
		}
		labels[key] = value
		errs = append(errs, err)
	}
	return labels, errors.Join(errs...)
}

// parseQueues reads a list such as a,b=20. least is how many workers a queue has at least: 0 in a file, because a file changes.
func parseQueues(text string, least int) (map[string]int, error) {
	queues := map[string]int{}
	var errs []error
	for _, part := range strings.Split(text, ",") {
		name, width, err := parseQueue(strings.TrimSpace(part), least)
		if _, given := queues[name]; err == nil && given {
			err = &check.FieldError{Field: "queues", Value: check.Shorten(name), Problem: "is given twice", Remedy: "give each queue once"}
		}
		queues[name] = width
		errs = append(errs, err)
	}
	return queues, errors.Join(errs...)
}

// queuesSetting returns where the numbers of workers are read.
func queuesSetting(flag string) node.Setting[int] {
	least := 1
	if strings.HasPrefix(flag, "@") {
		least = 0
	}
	return settingOf(flag, func(text string) (map[string]int, error) { return parseQueues(text, least) })
}

// settingOf returns where the values of --queues, --max-running or --ageing are read: the value of the flag, or a file that it names.
func settingOf[V comparable](flag string, parse func(text string) (map[string]V, error)) node.Setting[V] {
	path, isFile := strings.CutPrefix(flag, "@")
	if !isFile {
		return node.Setting[V]{Parse: func(string) (map[string]V, error) { return parse(flag) }}
	}
	return node.Setting[V]{Path: path, Parse: func(text string) (map[string]V, error) {
		var parts []string
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.Trim(line, " \t\r\n,"); line != "" {
				parts = append(parts, line)
			}
		}
		return parse(strings.Join(parts, ","))
	}}
}

// parseMaxRunning reads a list such as command=4,http=20. The range of the numbers and the kinds are
// checked later.
func parseMaxRunning(text string) (map[string]int, error) {
	most := map[string]int{}
	if text == "" {
		return most, nil
	}
	for _, part := range strings.Split(text, ",") {
		kind, number, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.Atoi(number)
		switch {
		case err != nil || n < 1 || kind == "":
			return nil, &check.FieldError{
				Field: "max-running", Value: check.Shorten(part),
				Problem: "is not a kind with a number of jobs", Remedy: "write kinds with how many jobs at once, separated by " +
					"commas: command=4,http=20",
			}
		case most[kind] != 0:
			return nil, &check.FieldError{Field: "max-running", Value: check.Shorten(kind), Problem: "is given twice", Remedy: "give each kind once"}
		}
		most[kind] = n
	}
	return most, nil
}

// parseAgeing reads a list such as default=10m,reports=1h. The range of the times and the queues are
// checked later.
func parseAgeing(text string) (map[string]time.Duration, error) {
	bounds := map[string]time.Duration{}
	if text == "" {
		return bounds, nil
	}
	for _, part := range strings.Split(text, ",") {
		queue, after, _ := strings.Cut(strings.TrimSpace(part), "=")
		bound, err := time.ParseDuration(after)
		switch {
		case err != nil || bound <= 0 || queue == "":
			return nil, &check.FieldError{
				Field: "ageing", Value: check.Shorten(part), Problem: "is not a queue with a time",
				Remedy: "write queues with the time after which their jobs go first, separated by commas: default=10m,reports=1h",
			}
		case bounds[queue] != 0:
			return nil, &check.FieldError{Field: "ageing", Value: check.Shorten(queue), Problem: "is given twice", Remedy: "give each queue once"}
		}
		bounds[queue] = bound
	}
	return bounds, nil
}

// parseQueue reads one queue. The range of the number is checked later,
// together with the name.
func parseQueue(text string, least int) (name string, width int, err error) {
	const remedy = "write names separated by commas, each with how many jobs at once if you like: a,b=20"
	name, number, given := strings.Cut(text, "=")
	if name == "" {
		return "", 0, &check.FieldError{Field: "queues", Value: check.Shorten(text), Problem: "has an empty name", Remedy: remedy}
	}
	if !given {
		return name, max(4*runtime.GOMAXPROCS(0), 10), nil
	}
	if width, err = strconv.Atoi(number); err != nil || width < least {
		return "", 0, &check.FieldError{Field: "queues", Value: check.Shorten(text), Problem: "has no number of jobs after the =", Remedy: remedy}
	}
	return name, width, nil
}
