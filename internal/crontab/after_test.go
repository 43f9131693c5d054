package crontab_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/crontab"
)

func TestAfter(t *testing.T) {
	file, err := crontab.Read("night", []byte("#hourbell: name=export\n0 2 * * * export\n@after export   check\n#hourbell: name=tell\n@after export:failure:25h mail -s failed ops\n"), crontab.User)
	if err != nil {
		t.Fatal(err)
	}
	want := []hourbell.ScheduleEdge{{}, {Schedule: "export"}, {Schedule: "export", On: hourbell.OnFailure, Delay: 25 * time.Hour}}
	for i, entry := range file.Entries {
		if i > 0 && !reflect.DeepEqual(entry.After, want[i:i+1]) || entry.Overlap != hourbell.OverlapAllow {
			t.Errorf("line %d: %+v", entry.Line, entry.Schedule)
		}
	}
	if len(file.Entries) != 3 {
		t.Errorf("%d lines with jobs", len(file.Entries))
	}
	for text, want := range map[string]string{
		"@after":                                  "@after has no name",
		"@after export":                           "command is missing after @after export",
		"@after unknown run":                      `"unknown" is not a schedule of this file`,
		"@after export:failure:later run":         `has the delay "later", which is not a duration`,
		"#hourbell: jitter=5m\n@after export run": "jitter has no meaning for a schedule that starts after other schedules",
		"#hourbell: name=a\n@after a run":         `"a → a" is a cycle`,
	} {
		_, err := crontab.Read("night", []byte("#hourbell: name=export\n0 2 * * * export\n"+text+"\n"), crontab.User)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}
