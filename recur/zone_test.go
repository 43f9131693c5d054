package recur

import (
	"testing"
	"time"
)

// TestStretchesAdvance visits every stretch of each zone and checks the
// assumptions of zone.go for the zone data of this machine: every stretch ends
// after it begins and has one offset, and no offset is greater than maxOffset.
func TestStretchesAdvance(t *testing.T) {
	for _, name := range changingZones {
		loc, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		z, lastYear := zone{loc}, year(2500).Unix()
		for at := int64(minSecond); at < lastYear; {
			offset, end := z.stretch(at)
			if end <= at {
				t.Fatalf("%s: the stretch at %s ends at %s", name, time.Unix(at, 0).UTC(), time.Unix(end, 0).UTC())
			}
			if offset < -reach/2 || offset > reach/2 {
				t.Fatalf("%s: offset %d at %s", name, offset, time.Unix(at, 0).UTC())
			}
			last := min(end-1, lastYear)
			for _, within := range []int64{at + (last-at)/3, last} {
				if _, got := time.Unix(within, 0).In(loc).Zone(); int64(got) != offset {
					t.Fatalf("%s: offset %d at %s, but %d at %s", name, offset, time.Unix(at, 0).UTC(), got, time.Unix(within, 0).UTC())
				}
			}
			at = end
		}
	}
}

func TestImpossibleDatesAreKnownAtOnce(t *testing.T) {
	for text, never := range map[string]bool{
		"0 0 30 2 *": true, "0 0 31 4,6,9,11 *": true, "* * 31 2 */2": true,
		"0 0 29 2 *": false, "0 0 29 2 */7": false, "0 0 30 2 1": false, "0 0 31 * *": false,
	} {
		if got := mustRule(t, text).(*cron).never; got != never {
			t.Errorf("%s: never is %v", text, got)
		}
	}
}
