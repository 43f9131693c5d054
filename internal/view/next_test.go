package view

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
)

// TestSlotsEnds checks that a search among excluded instants ends with an error,
// after the instants that were found.
func TestSlotsEnds(t *testing.T) {
	from := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	rule, err := recur.Spec{Every: "1s"}.Rule(from)
	if err != nil {
		t.Fatal(err)
	}
	closed, err := hourbell.ParseExclude("* * * * * *")
	if err != nil {
		t.Fatal(err)
	}
	calendar, err := closed[0].Calendar()
	if err != nil {
		t.Fatal(err)
	}
	var found []time.Time
	for slot, err := range Slots(rule, from, 2, "") {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, slot)
	}
	if len(found) != 2 || !found[0].Equal(from.Add(time.Second)) {
		t.Errorf("found %v", found)
	}
	n := 0
	for _, err := range Slots(rule, from, 2, "", calendar) {
		if n++; err == nil || !strings.Contains(err.Error(), "are excluded") {
			t.Errorf("got %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d results", n)
	}
}

func TestUpcoming(t *testing.T) {
	exclude, err := hourbell.ParseExclude("2027-03-03", "stored")
	if err != nil {
		t.Fatal(err)
	}
	entry := declared.Entry{Schedule: hourbell.Schedule{Rule: recur.Spec{Cron: "@daily"}, Exclude: exclude}}
	var days []string
	for _, slot := range Upcoming(entry, time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)) {
		days = append(days, slot.Format(time.DateOnly))
	}
	if got := strings.Join(days, " "); got != "2027-03-02 2027-03-04 2027-03-05" {
		t.Errorf("got %s", got)
	}
	if got := Upcoming(declared.Entry{}, time.Now()); got != nil {
		t.Errorf("an entry without a rule: %v", got)
	}
}
