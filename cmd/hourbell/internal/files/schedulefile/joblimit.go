package schedulefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
)

// The greatest numbers of a limit.
const (
	mostOfLimit = 1_000_000
	mostWeight  = 1000
)

// limits reads the limits of the file's owner. The result is not nil: the file has all limits of its owner.
func (e *entry) limits() []hourbell.Limit {
	const remedy = "write the name of each limit and what it bounds, as in exports: {kind: export, by_key: true, concurrency: 1}"
	limits := []hourbell.Limit{}
	f := e.find("limits")
	switch {
	case f == nil:
		return limits
	case f.Value.Sort != yamltree.Mapping:
		e.add("limits", "is "+f.Value.Sort.String(), remedy)
		return limits
	}
	for _, l := range f.Value.Fields {
		one := &entry{reader: e.reader, node: l.Value, label: fmt.Sprintf("limits %q", declared.Label(l.Key, 60))}
		if one.isMapping("", "write queue, kind or by_key, and concurrency or rate as keys") {
			limits = append(limits, one.limit(l.Key))
		}
	}
	return limits
}

func (e *entry) limit(name string) hourbell.Limit {
	before := len(e.errs.List())
	e.checkKeys(limitKeys)
	l := hourbell.Limit{
		Name: name, Queue: e.properName("queue"), Kind: e.properName("kind"), ByKey: e.truth("by_key"), Concurrency: int(e.number("concurrency", 1, mostOfLimit)),
		Burst: int(e.number("burst", 1, mostOfLimit)), Weights: e.weights(), Strict: e.truth("strict"),
	}
	if text := e.properName("rate"); text != "" {
		rate, err := hourbell.ParseRate(text)
		e.addFields(err)
		l.Rate = rate
	}
	if len(e.errs.List()) == before { // else more mistakes would follow from the recorded mistakes
		e.addFields(l.Validate())
	}
	return l
}

// weights reads the weights of keys.
func (e *entry) weights() map[string]int {
	f := e.find("weights")
	switch {
	case f == nil:
		return nil
	case f.Value.Sort != yamltree.Mapping:
		e.add("weights", "is "+f.Value.Sort.String(), "write a weight for each key, as in {gold: 3, silver: 2}")
		return nil
	}
	weights := map[string]int{}
	one := &entry{reader: e.reader, node: f.Value, label: e.label + ": weights"}
	for _, w := range f.Value.Fields {
		if n := one.number(w.Key, 1, mostWeight); n > 0 {
			weights[w.Key] = int(n)
		}
	}
	return weights
}

// truth reads true or false.
func (e *entry) truth(key string) bool {
	f := e.find(key)
	if f == nil {
		return false
	}
	const remedy = "write true or false, without quotes"
	if f.Value.Sort != yamltree.Scalar {
		e.add(key, "is "+f.Value.Sort.String(), remedy)
		return false
	}
	is, err := strconv.ParseBool(f.Value.Text)
	if err != nil || !f.Value.Plain {
		e.add(key, fmt.Sprintf("%q is neither true nor false", declared.Label(f.Value.Text, 60)), remedy)
	}
	return is
}

// limits writes the limits of the file.
func (w *writer) limits(limits []hourbell.Limit) {
	if len(limits) == 0 {
		return
	}
	w.out.WriteString("limits:\n")
	for _, l := range limits {
		p := &pairs{}
		p.text("queue", l.Queue)
		p.text("kind", l.Kind)
		flag := func(key string, is bool) {
			if is {
				p.add(key, "true")
			}
		}
		number := func(key string, n int) {
			if n > 0 {
				p.add(key, strconv.Itoa(n))
			}
		}
		flag("by_key", l.ByKey)
		number("concurrency", l.Concurrency)
		p.text("rate", l.Rate.String())
		number("burst", l.Burst)
		if len(l.Weights) > 0 {
			weights := &pairs{}
			for _, key := range slices.Sorted(maps.Keys(l.Weights)) {
				weights.add(scalarText(key), strconv.Itoa(l.Weights[key]))
			}
			p.add("weights", weights.String())
		}
		flag("strict", l.Strict)
		fmt.Fprintf(&w.out, "  %s: %s\n", scalarText(l.Name), p.String())
	}
}
