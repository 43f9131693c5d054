package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// LimitListing shows limits.
func LimitListing() Listing[hourbell.LimitInfo] {
	return Listing[hourbell.LimitInfo]{
		Columns: []string{"NAME", "JOBS", "AT A TIME", "RATE", "IN USE", "WAITING", "KEYS", "FULLEST"},
		Minor:   []string{"KEYS", "FULLEST"},
		Row: func(l hourbell.LimitInfo) []string {
			keys, fullest := "-", "-"
			if l.ByKey {
				keys = fmt.Sprint(l.Keys)
				if len(l.Fullest) > 0 {
					fullest = l.Fullest[0].Key + " " + keyUse(l.Fullest[0])
				}
			}
			return []string{
				l.Name, limited(l.Limit), plain.Dash(atATime(l.Limit)), plain.Dash(rateText(l.Limit)),
				fmt.Sprint(l.InUse), Counted(l.Waiting), keys, fullest,
			}
		},
		Record: func(l hourbell.LimitInfo) any { return NewLimitRecord(l) },
	}
}

// Counted returns a number of waiting jobs, which are counted up to store.MostCounted.
func Counted(n int64) string {
	if n >= store.MostCounted {
		return fmt.Sprint(n) + "+"
	}
	return fmt.Sprint(n)
}

// limited describes which jobs a limit concerns.
func limited(l hourbell.Limit) string {
	return (&store.Limit{Queue: l.Queue, Kind: l.Kind, ByKey: l.ByKey}).ScopeWords()
}

// LimitText describes a limit in one line.
func LimitText(l hourbell.Limit) string {
	text := limited(l)
	if l.Concurrency > 0 {
		text += ": " + atATime(l) + " at a time"
	}
	if rate := rateText(l); rate != "" {
		text += ": " + rate
	}
	return text
}

// atATime describes the concurrency of a limit; empty: no bound.
func atATime(l hourbell.Limit) string {
	if l.Concurrency == 0 {
		return ""
	}
	text := fmt.Sprint(l.Concurrency)
	if l.Strict {
		text += " strict"
	}
	return text
}

// rateText describes the rate of a limit; empty: no bound.
func rateText(l hourbell.Limit) string {
	if l.Burst > 1 {
		return fmt.Sprintf("%s burst %d", l.Rate, l.Burst)
	}
	return l.Rate.String()
}

// keyUse describes what a key has in use, of how many permits, and how many of its jobs wait.
func keyUse(k hourbell.KeyUse) string {
	text := fmt.Sprint(k.InUse)
	if k.Most > 0 {
		text += fmt.Sprintf("/%d", k.Most)
	}
	if k.Waiting > 0 {
		text += " +" + Counted(k.Waiting)
	}
	return text
}

// LimitFacts returns the facts about a limit.
func LimitFacts(l hourbell.LimitInfo) []Fact {
	var weights, keys []string
	for _, key := range slices.Sorted(maps.Keys(l.Weights)) {
		weights = append(weights, fmt.Sprintf("%s=%d", key, l.Weights[key]))
	}
	if l.ByKey {
		keys = append(keys, fmt.Sprint(l.Keys))
	}
	return []Fact{
		{"limit", l.Name},
		{"owner", l.Owner},
		{"jobs", limited(l.Limit)},
		{"concurrency", atATime(l.Limit)},
		{"rate", rateText(l.Limit)},
		{"weights", strings.Join(weights, ", ")},
		{"in_use", fmt.Sprint(l.InUse)},
		{"waiting", Counted(l.Waiting)},
		{"keys", strings.Join(keys, "")},
		{"revision", fmt.Sprint(l.Revision)},
		{"created_at", plain.Stamp(l.CreatedAt)},
		{"updated_at", plain.Stamp(l.UpdatedAt)},
	}
}

// KeyUseListing shows what a limit holds for its keys.
func KeyUseListing() Listing[hourbell.KeyUse] {
	return Listing[hourbell.KeyUse]{
		Columns: []string{"KEY", "IN USE", "OF", "WAITING", "NOT BEFORE"},
		Row: func(k hourbell.KeyUse) []string {
			most := "-"
			if k.Most > 0 {
				most = fmt.Sprint(k.Most)
			}
			return []string{plain.Dash(k.Key), fmt.Sprint(k.InUse), most, Counted(k.Waiting), plain.Dash(plain.Stamp(k.Until))}
		},
		Record: func(k hourbell.KeyUse) any { return newKeyUseRecord(k) },
	}
}

// LimitRecord is a limit in machine-readable output. Fields are only ever added.
type LimitRecord struct {
	Name        string         `json:"name"`
	Owner       *string        `json:"owner"`
	Revision    int64          `json:"revision"`
	Queue       *string        `json:"queue"` // null: jobs of any queue
	Kind        *string        `json:"kind"`  // null: jobs of any kind
	ByKey       bool           `json:"by_key"`
	Concurrency *int           `json:"concurrency"` // at a time, of each key if by_key; null: no bound
	Rate        *string        `json:"rate"`        // such as 10/s; null: no bound
	Burst       *int           `json:"burst"`
	Weights     map[string]int `json:"weights"`
	Strict      bool           `json:"strict"`
	InUse       int64          `json:"in_use"`
	Waiting     int64          `json:"waiting"` // at most 10,000
	Keys        *int64         `json:"keys"`    // with permits in use or waiting jobs; null: not by key
	// Fullest are the keys in which most jobs wait, then the keys with most permits in use.
	Fullest   []KeyUseRecord `json:"fullest"`
	CreatedAt *time.Time     `json:"created_at"`
	UpdatedAt *time.Time     `json:"updated_at"`
}

// KeyUseRecord is what a limit holds for a key.
type KeyUseRecord struct {
	Key       string     `json:"key"`
	InUse     int64      `json:"in_use"`
	Most      *int       `json:"most"` // the concurrency of the key; null: no bound
	Waiting   int64      `json:"waiting"`
	NotBefore *time.Time `json:"not_before"` // no job of the key starts before
}

func newKeyUseRecord(k hourbell.KeyUse) KeyUseRecord {
	return KeyUseRecord{Key: k.Key, InUse: k.InUse, Most: orNull(k.Most), Waiting: k.Waiting, NotBefore: timeOrNull(k.Until)}
}

// NewLimitRecord returns the record of a limit.
func NewLimitRecord(l hourbell.LimitInfo) LimitRecord {
	r := LimitRecord{
		Name: l.Name, Owner: orNull(l.Owner), Revision: l.Revision, Queue: orNull(l.Queue), Kind: orNull(l.Kind), ByKey: l.ByKey,
		Concurrency: orNull(l.Concurrency), Rate: orNull(l.Rate.String()), Burst: orNull(l.Burst), Weights: l.Weights, Strict: l.Strict,
		InUse: l.InUse, Waiting: l.Waiting, Fullest: []KeyUseRecord{}, CreatedAt: timeOrNull(l.CreatedAt), UpdatedAt: timeOrNull(l.UpdatedAt),
	}
	if r.Weights == nil {
		r.Weights = map[string]int{}
	}
	if l.ByKey {
		r.Keys = &l.Keys
	}
	for _, k := range l.Fullest {
		r.Fullest = append(r.Fullest, newKeyUseRecord(k))
	}
	return r
}
