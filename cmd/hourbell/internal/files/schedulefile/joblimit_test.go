package schedulefile

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

func TestLimitsAreReadAndWritten(t *testing.T) {
	set, err := Read("x.yaml", []byte(`owner: o
limits:
  exports: {kind: export, by_key: true, concurrency: 2, weights: {gold: 3, "a: b": 2}, strict: true}
  "the api": {queue: api, rate: 100/m, burst: 20}
schedules: []
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []hourbell.Limit{
		{Name: "exports", Kind: "export", ByKey: true, Concurrency: 2, Weights: map[string]int{"gold": 3, "a: b": 2}, Strict: true},
		{Name: "the api", Queue: "api", Rate: hourbell.Rate{Jobs: 100, Per: time.Minute}, Burst: 20},
	}
	if !reflect.DeepEqual(set.Limits, want) {
		t.Errorf("got %+v, want %+v", set.Limits, want)
	}
	if got := readBack(t, set); !reflect.DeepEqual(got.Limits, want) {
		t.Errorf("written and read again: %+v", got.Limits)
	}
	set, err = Read("x.yaml", []byte("schedules: []\n"))
	if err != nil || set.Limits == nil || len(set.Limits) > 0 {
		t.Errorf("a file without limits has the empty set of limits: %+v, %v", set.Limits, err)
	}
}

func TestMistakesInLimits(t *testing.T) {
	for text, want := range map[string]string{
		`[a]`:                             "limits is a list; write the name of each limit",
		`{a: 3}`:                          `limits "a" is a single value; write queue`,
		`{a: {concurrency: 1}}`:           `limits "a": queue is missing: the limit would concern all jobs`,
		`{a: {queue: q}}`:                 `limits "a": concurrency is missing: the limit would bound nothing`,
		`{a: {queue: q, concurrency: 0}}`: `limits "a": concurrency: "0" is not a number in the allowed range`,
		`{a: {queue: q, rate: often}}`:    `limits "a": rate "often" is not a rate`,
		`{a: {queue: q, concurrency: 5, by_key: yes please}}`:  `limits "a": by_key: "yes please" is neither true nor false`,
		`{a: {by_key: true, concurrency: 1, weights: {x: 0}}}`: `limits "a": weights: x: "0" is not a number in the allowed range`,
		`{a: {queue: q, concurrency: 1, weights: {x: 2}}}`:     `limits "a": weights are given for a limit without a concurrency of each key`,
		`{a: {queue: q, concurency: 1}}`:                       `did you mean "concurrency"`,
	} {
		_, err := Read("x.yaml", []byte("limits: "+text+"\nschedules: []\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s: %v, want one mistake with %q", text, err, want)
		}
	}
}
