package schedulefile

import (
	"strings"
	"testing"
)

// TestAWrongCalendarEventIsRefused names the key of the file, and not cron, for which on_calendar is short.
func TestAWrongCalendarEventIsRefused(t *testing.T) {
	_, err := Read("s.yaml", []byte("schedules:\n- name: c\n  on_calendar: Mox *-*-* 09:00\n  command: [\"true\"]\n"))
	if err == nil || !strings.Contains(err.Error(), `s.yaml:3: schedules[0] "c": on_calendar "Mox *-*-* 09:00": "Mox" is not a day`) {
		t.Errorf("the file is read with the error %v", err)
	}
}
