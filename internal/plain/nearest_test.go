package plain

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"jobs", "schedules", "slots", "nightly", "queues", "a", "übung"}
	for name, want := range map[string]string{
		"jobs": "", "jbos": "jobs", "job": "jobs", "schedule": "schedules", "sched": "schedules", "slot": "slots", "nightyl": "nightly", "NIGHTLY": "nightly",
		"unknown": "", "": "", "x": "", "qeues": "queues", "s": "", "ubung": "übung", "ab": "a", "nightlies and more": "",
	} {
		equal(t, name, Nearest(name, known), want)
	}
	equal(t, "the nearest of several", Nearest("mial", []string{"main", "mail", "mill"}), "mail")
	equal(t, "nothing known", Nearest("mail", nil), "")
}
