package schedulefile_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/schedulefile"
)

func TestAfter(t *testing.T) {
	const text = `
owner: test
schedules:
  - {name: export, cron: "0 2 * * *", shell: export}
  - {name: a, after: export, shell: a}
  - {name: b, after: "export:failure:5m", shell: b}
  - {name: c, after: {schedule: export, on: either, delay: 25h, cancelled: ignore}, shell: c, overlap: skip}
  - name: d
    shell: d
    count: 3
    after:
      - {schedule: a, on: success, delay: 0s}
      - b:failure
`
	want := map[string][]hourbell.ScheduleEdge{
		"a": {{Schedule: "export"}},
		"b": {{Schedule: "export", On: hourbell.OnFailure, Delay: 5 * time.Minute}},
		"c": {{Schedule: "export", On: hourbell.OnEither, Delay: 25 * time.Hour, IgnoreCancelled: true}},
		"d": {{Schedule: "a"}, {Schedule: "b", On: hourbell.OnFailure}},
	}
	file, err := schedulefile.Read("hours.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range file.Entries {
		if entry.Name == "c" && entry.Overlap != "skip" || entry.Name == "a" && entry.Overlap != "" {
			t.Errorf("schedule %s has the overlap %q", entry.Name, entry.Overlap)
		}
	}
	written, err := schedulefile.Write(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := schedulefile.Read("hours.yaml", written)
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	for i, entry := range file.Entries {
		if !reflect.DeepEqual(entry.After, want[entry.Name]) {
			t.Errorf("%s: %+v", entry.Name, entry.After)
		}
		if !reflect.DeepEqual(again.Entries[i].Schedule, entry.Schedule) {
			t.Errorf("%s is written as %+v", entry.Name, again.Entries[i].Schedule)
		}
	}
}

func TestAfterMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{name: a, after: exprot, shell: a}`:                                       `schedule "a": after: "exprot" is not a schedule of this file (did you mean "export"?)`,
		`{name: a, after: export, cron: "* * * * *", shell: a}`:                    `after is given besides cron`,
		`{name: a, after: {on: success}, shell: a}`:                                `schedule is missing`,
		`{name: a, after: {schedule: export, on: sucxess}, shell: a}`:              `on: "sucxess" is unknown (did you mean "success"?)`,
		`{name: a, after: {schedule: export, delay: soon}, shell: a}`:              `delay: "soon" is not a positive duration`,
		`{name: a, after: {schedule: export, cancelled: never}, shell: a}`:         `cancelled: "never"`,
		`{name: a, after: "export:failure:soon", shell: a}`:                        `has the delay "soon", which is not a duration`,
		`{name: a, after: [export, "export:failure"], shell: a}`:                   `is given twice`,
		`{name: a, after: [], shell: a}`:                                           `is an empty list`,
		`{name: a, after: export, shell: a, misfire: once}`:                        `misfire has no meaning for a schedule that starts after other schedules`,
		`{name: a, after: a, shell: a}`:                                            `"a → a" is a cycle`,
		`{name: a, after: b, shell: a}, {name: b, after: {schedule: a}, shell: b}`: `"a → b → a" is a cycle`,
	} {
		_, err := schedulefile.Read("hours.yaml", []byte(`{owner: test, schedules: [{name: export, cron: "0 2 * * *", shell: export}, `+text+`]}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}
