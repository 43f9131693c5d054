package view

import (
	"cmp"
	"reflect"
)

// Describe returns what the tag of a field says about it in the API, and about its flag: the text of doc, or a longer text that
// about names.
func Describe(tag reflect.StructTag) string { return cmp.Or(tag.Get("doc"), abouts[tag.Get("about")]) }

// abouts are the texts that are too long for the tag of a field, by the values of about.
var abouts = map[string]string{
	"after-outcome": "all: all jobs completed (the default); failed: at least one failed or was cancelled; always: in any case.",
	"args": "Only jobs whose arguments have this value, such as customer=42 or order.items.0.sku=A7; an array has the " +
		"values of its elements. Hidden values are not found. May be repeated.",
	"events-of": "cluster: the feed, which has the events of all nodes and is stored. process: the events of the process that " +
		"answers, from now on; a slow reader misses events.",
	"exclude":          "Dates, days of the week, rules or names of calendars at which no slot fires.",
	"finished-since":   "Only jobs that ended at or after this instant, or this long ago.",
	"finished-until":   "Only jobs that ended before this instant, or longer ago than this.",
	"jobs-of-schedule": "Only jobs made for this schedule; if it is on every host, the jobs of all hosts.",
	"last-event-id": "As since, and before since: the id of the last event that the reader has got. Browsers send it when they " +
		"connect again.",
	"partial": "The search stopped after it had looked at more than 16,000 jobs, because few of very many jobs match and there " +
		"is no index for the conditions. next continues it; the page may have no items.",
	"place": "Where the jobs run: one (any node), every (each host), host=NAME, label=KEY=VALUE or every:label=KEY=VALUE.",
	"rule":  "The rule as one text, as the field rule of a schedule has it; also a union of rules.",
	"since": "Only jobs enqueued at or after this instant, such as 2027-03-01T09:00:00Z, or this long ago, such as 2h or 7d.",
	"states": "Only these states: waiting, ready, running, completed, failed, cancelled, not_started; or, of the ready jobs, " +
		"only scheduled, parked or retrying.",
	"until": "Only jobs enqueued before this instant, or longer ago than this.",
}
