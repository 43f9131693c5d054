package crontab

import "testing"

func TestLocalZone(t *testing.T) {
	for tz, want := range map[string]string{
		"Europe/Prague": "Europe/Prague", ":America/New_York": "America/New_York",
		"": "UTC", "Local": "UTC", "CET-1CEST": "UTC", "../../etc/passwd": "UTC",
	} {
		t.Setenv("TZ", tz)
		if got := LocalZone(); got != want {
			t.Errorf("TZ=%s: %s, want %s", tz, got, want)
		}
	}
}

func TestLinesAreInTheMachinesZoneUnlessTheySayOtherwise(t *testing.T) {
	text := []byte("0 1 * * * first\nCRON_TZ=Asia/Tokyo\n0 1 * * * second\n")
	file, err := Reader{Zone: "Europe/Prague"}.Read("tab", text)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := file.Entries[0].Schedule.Rule.Zone, file.Entries[1].Schedule.Rule.Zone; a != "Europe/Prague" || b != "Asia/Tokyo" {
		t.Errorf("zones %s and %s", a, b)
	}
	other, err := Reader{Zone: "UTC"}.Read("tab", text)
	if err != nil {
		t.Fatal(err)
	}
	if file.Entries[0].Schedule.Name != other.Entries[0].Schedule.Name {
		t.Error("a line's name depends on the machine's zone")
	}
	if _, err := (Reader{Zone: "UTC"}).Read("tab", []byte("nonsense\n")); err == nil {
		t.Error("a bad line was accepted")
	}
}
