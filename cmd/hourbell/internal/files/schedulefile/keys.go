package schedulefile

import (
	"math"
	"slices"

	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/store"
)

// keys are the keys of a mapping in a file, in the order of messages and of Schema.
type keys []key

type key struct {
	name  string
	about string  // what it means, with its default: a sentence without its full stop
	value *schema // the form of its value, as the reader reads it
}

// names returns the names of the keys.
func (k keys) names() []string {
	names := make([]string, len(k))
	for i, one := range k {
		names[i] = one.name
	}
	return names
}

// only returns the keys with the given names.
func (k keys) only(names ...string) keys {
	return slices.DeleteFunc(slices.Clone(k), func(one key) bool { return !slices.Contains(names, one.name) })
}

// schema returns the schema of a mapping with these keys.
func (k keys) schema(about string, required ...string) *schema {
	s := &schema{Description: about, Type: []string{"object"}, Additional: false, Required: required}
	for _, one := range k {
		value := *one.value
		if value.Ref != "" { // draft 7 reads nothing else beside a reference
			value = schema{AllOf: []*schema{one.value}}
		}
		value.Description = one.about
		s.Properties = append(s.Properties, property{one.name, &value})
	}
	return s
}

// The keys of each mapping in a schedule file.
var (
	ruleNames = []string{"cron", "on_calendar", "every", "at", "after"}
	workNames = []string{"command", "shell", "http", "sql", "kind"}

	fileKeys = slices.Concat(keys{
		{"owner", "The owner of the set: applying a file with the same owner replaces the set; default file: and the file's name", aText()},
		{"revision", "A greater revision outranks a smaller revision, whichever file is newer; default 0", aNumber(0, math.MaxInt64)},
		{"schedules", "The schedules of the owner; [] for none", aList(aSchedule())},
		{"groups", "By the name of a group, the hooks of its schedules", named(hookEvents().schema("The hooks of the schedules of the group"))},
		{"calendars", "By name, calendars that the schedules of this file can exclude", named(ref("calendar"))},
		{"limits", "By name, limits of how many jobs run, or start per interval; applying the file replaces the owner's " +
			"limits", named(limitKeys.schema("What the limit concerns, and its bounds"))},
		{"kinds", "By kind, how long the nodes that have the file keep finished jobs", named(kindKeys.schema("How long finished jobs of the kind are kept"))},
	}, hookEvents())

	entryKeys = slices.Concat(keys{
		{"name", "The name of the schedule, unique in the store", aText()},
		{"cron", "When it rings: a cron rule with 5 fields, or 6 with seconds first; @reboot and @start run once for each " +
			"boot of a host, or start of a node", aText()},
		{"on_calendar", "When it rings: a calendar event of systemd, such as Mon..Fri *-*-* 09:30; short for cron with dialect: systemd", aText()},
		{"every", "When it rings: an interval such as 90s, 1 day or 2 weeks, counted from start", aText()},
		{"at", "When it rings: one instant, such as 2027-03-01T09:00:00Z", aText()},
		{"after", "When it rings: at the ends of jobs of other schedules of this file", following()},
		{"tz", "The time zone of the rule, such as Europe/Prague; default UTC", aText()},
	}, workKeys, declaredKeys(declared.KeyNames()...), hookEvents())

	// workKeys are the keys that describe what a job runs.
	workKeys = slices.Concat(keys{
		{"command", "What it runs: a program and its arguments, without a shell", aList(aText())},
		{"shell", "What it runs: a line for /bin/sh", aText()},
		{"shell_options", "With pipefail, bash runs the line of shell, which fails if any command of a pipe in it fails", aChoice(pipefail)},
		{"http", "What it runs: an HTTP request", ref("request")},
		{"sql", "What it runs: an SQL statement on a connection of the node", sqlKeys.schema("An SQL statement", "connection", "statement")},
		{"kind", "What it runs: the kind of a worker in a program of yours", aText()},
		{"args", "The arguments of the kind", anything()},
	}, commandKeys)

	// commandKeys belong to command and shell.
	commandKeys = keys{
		{"env", "Variables of the environment of the command", named(aText())},
		{"dir", "The folder in which the command starts", aText()},
		{"user", "The user that the command runs as; default the node's user", aText()},
		{"base", "The environment that env is added to: the node's, or the environment that cron gives; default node", aChoice("node", "cron")},
		{"stdin", "The input of the command; default none", aText()},
		{"detached", "What becomes of processes that the command leaves behind; default end", aChoice("end", "keep")},
	}

	// httpKeys are the keys of an HTTP request.
	httpKeys = keys{
		{"url", "The address, http or https", aText()},
		{"method", "The method; default POST", aText()},
		{"header", "The header of the request", named(aText())},
		{"body", "The body of the request; a body without Content-Type is sent as JSON", aText()},
		{"timeout", "How long the request and its answer may take", aDuration()},
		{"retry", "The statuses after which the request is tried again, such as 429, 5xx or 500-504, or none; default 408, 425, 429 and 5xx", oneOrMore()},
		{"redirects", "How many redirects are followed; default 0", aNumber(0, 10)},
	}

	// sqlKeys are the keys of an SQL statement.
	sqlKeys = keys{
		{"connection", "The name of a connection of the node (serve --sql)", aText()},
		{"statement", "One statement, with its parameters as the database writes them", aText()},
		{"args", "The values of the parameters", orNothing(aList(anything()))},
		{"timeout", "How long the statement and the commit may take", aDuration()},
	}

	// hookKeys are the keys of a hook written as a mapping.
	hookKeys = slices.Concat(workKeys.only("command", "shell", "shell_options"), httpKeys.only("url"),
		commandKeys.only("env", "dir", "user", "base", "detached"), httpKeys[1:])

	// kindKeys are the keys of a kind, and keepKeys the keys of how long its jobs are kept.
	kindKeys = keys{{"keep", "How long finished jobs are kept", keepKeys.schema("How long finished jobs are kept")}}
	keepKeys = keys{
		{"completed", "Completed and cancelled jobs: a duration, also in days as in 30d, or none", aText()},
		{"failed", "Failed jobs: a duration, also in days as in 30d", aText()},
	}

	// afterKeys are the keys of an edge between schedules.
	afterKeys = keys{
		{"schedule", "The name of the schedule that this schedule follows", aText()},
		{"on", "The outcome that starts it; default success", aChoice(store.OnSuccess.String(), store.OnFailure.String(), store.OnEither.String())},
		{"delay", "How long after the end of the job it starts; default 0s", delay()},
		{"cancelled", "What a cancelled job is: a failure, or no end; default failure", aChoice("failure", "ignore")},
	}

	// placeKeys are the keys of a place that is a mapping.
	placeKeys = keys{
		{"host", "The name of the host", aText()},
		{"label", "A label of nodes, KEY=VALUE", aText()},
		{everyKey, "Each host with a label, as a mapping with the key `label`; `on: every` is each host", everyKeys.schema("Which hosts", "label")},
	}

	// everyKeys are the keys of every in a place.
	everyKeys = keys{
		{"label", "A label of nodes, KEY=VALUE", aText()},
	}

	calendarKeys = keys{
		{"dates", "Dates and ranges of dates, each with a name behind it if you like, such as 12-24..12-26 Christmas", oneOrMore()},
		{"weekdays", "Days of the week, such as sat", oneOrMore()},
		{"rules", "Rules whose instants are excluded", aList(ref("rule"))},
		{"tz", "The time zone of the calendar; default the zone of the schedule", aText()},
	}

	limitKeys = keys{
		{"queue", "Only jobs of this queue", aText()},
		{"kind", "Only jobs of this kind", aText()},
		{"by_key", "Only jobs with a key, each key for itself; default false", aTruth()},
		{"concurrency", "How many jobs run at a time in the cluster; default no bound", aNumber(1, mostOfLimit)},
		{"rate", "How many start per interval, of each key if `by_key`, such as 10/s, 100/m or 5000/24h; default no bound", aText()},
		{"burst", "How many jobs start at once after a rest; default 1", aNumber(1, mostOfLimit)},
		{"weights", "By key, a factor of the concurrency from 1 to 1000; default 1", named(aNumber(1, mostWeight))},
		{"strict", "Whether a job whose attempt failed keeps its permit until its next attempt; default false", aTruth()},
	}

	exclusionRuleKeys = slices.Concat(entryKeys.only("cron", "on_calendar", "every", "at", "tz"), declaredKeys("dialect", "start", "stop", "gap", "fold"))
)

// delay is a duration, or 0s.
func delay() *schema { return &schema{AnyOf: []*schema{aDuration(), aChoice("0s")}} }

// declaredKeys are keys that schedule files share with crontabs.
func declaredKeys(names ...string) keys {
	shared := make(keys, len(names))
	for i, name := range names {
		k, _ := declared.FindKey(name)
		shared[i] = key{k.Name, k.About, sharedValue(k)}
	}
	return shared
}

// hookEvents are the keys of hooks.
func hookEvents() keys {
	var events keys
	for _, name := range declared.HookKeys() {
		events = append(events, key{name, declared.HookAbout(name), hooks()})
	}
	return events
}

// orNothing also accepts an empty value.
func orNothing(s *schema) *schema {
	s.Type = append(s.Type, "null")
	return s
}
