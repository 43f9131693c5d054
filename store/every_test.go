package store_test

import (
	"testing"

	"github.com/hourbell/hourbell/store"
)

func TestSchedulesOfHosts(t *testing.T) {
	owner := store.EveryOwner("backup@night")
	if got := store.EveryOf(owner); got != "backup@night" || !store.IsEveryOwner(owner) {
		t.Errorf("%q is of %q", owner, got)
	}
	if name := store.HostSchedule("backup@night", "web1"); store.HostOf(name, owner) != "web1" {
		t.Errorf("%q is of host %q", name, store.HostOf(name, owner))
	}
	for name, owner := range map[string]string{"backup@web1": "", "backup@web2": "crontab@web2:backup", "other@web1": store.EveryOwner("backup")} {
		if host := store.HostOf(name, owner); host != "" {
			t.Errorf("%q of owner %q is of host %q", name, owner, host)
		}
	}
	row := store.Schedule{Name: "backup@web1", Owner: store.EveryOwner("backup")}
	if !row.IsOrIsMadeFrom("backup") || !row.IsOrIsMadeFrom("backup@web1") || row.IsOrIsMadeFrom("back") {
		t.Errorf("%+v is made from another schedule", row)
	}
}
