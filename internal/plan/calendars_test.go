package plan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/hourbell/hourbell/recur"
)

var weekend = recur.CalendarSpec{Weekdays: []string{"sat", "sun"}}

// A definition contains only the name of a stored calendar, in a form that is refused by releases
// that know only calendars inside definitions.
func TestStoredCalendarsAreKeptByName(t *testing.T) {
	d := Definition{Kind: "k", Exclude: []Calendar{
		{Name: "holidays", Stored: true, CalendarSpec: weekend}, {Name: "nights", CalendarSpec: recur.CalendarSpec{Rules: []recur.Spec{{Cron: "* 0-6 * * *"}}}},
	}}
	text, err := d.Encode()
	if want := []byte(`"exclude":["holidays",{"name":"nights","rules":[{"cron":"* 0-6 * * *"}]}]`); err != nil || !bytes.Contains(text, want) {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	got, err := DecodeDefinition(text)
	d.Exclude[0].CalendarSpec = recur.CalendarSpec{}
	if err != nil || !reflect.DeepEqual(got.Exclude, d.Exclude) {
		t.Errorf("read as %+v, %v", got.Exclude, err)
	}
	var older struct {
		Exclude []struct {
			Name string `json:"name"`
			recur.CalendarSpec
		} `json:"exclude"`
	}
	if err := json.Unmarshal(text, &older); err == nil {
		t.Errorf("a release that knows no stored calendars reads %+v", older)
	}
}

// A calendar with fields that this release does not know is refused.
func TestCalendarsOfNewerReleasesAreRefused(t *testing.T) {
	text, err := EncodeCalendar(weekend)
	if got, decodeErr := DecodeCalendar(text); err != nil || decodeErr != nil || !reflect.DeepEqual(got, weekend) {
		t.Errorf("%s is read as %+v, %v", text, got, decodeErr)
	}
	if got, err := DecodeCalendar([]byte(`{"weekdays":["sat"],"moons":["full"]}`)); err == nil {
		t.Errorf("read as %+v", got)
	}
}
