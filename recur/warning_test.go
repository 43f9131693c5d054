package recur

import (
	"strings"
	"testing"
)

func TestWarningsOfStepsBeyondTheirField(t *testing.T) {
	for cron, want := range map[string][]string{
		"*/90 * * * *":                         {`minute "*/90" has a step beyond the field, which leaves the value 0 alone; write every: 90m `},
		"CRON_TZ=Europe/Prague  */90 * * * *":  {`write every: 90m `},
		"0 */36 * * *":                         {`hour "*/36"`},
		"*/120 */90 * * * *":                   {`second "*/120" has a step beyond the field, which leaves the value 0 alone; write every: 120s `, "every: 90m "},
		"5,10-20/61,7/99 0 * * *":              {`minute "10-20/61" has a step beyond the field, which leaves the value 10 alone`, `minute "7/99"`},
		"0 0 */45 */18 *":                      {"write every: 45 days ", "write every: 18 months "},
		"0 0 * * */8":                          {`day of week "*/8" has a step beyond the field, which leaves the value 0 alone; write the value without a step`},
		"*/59 */23 */31 */12 */7":              nil,
		"0 0 15W * FRI#3":                      nil,
		"0 0 L-30 * 5L":                        nil,
		"@daily":                               nil,
		"@every 90m":                           nil,
		"*/99999999999 * * * *":                nil, // refused
		"":                                     nil,
		"*/90 * * * * is no rule, but refused": nil,
	} {
		got := Spec{Cron: cron}.Warnings()
		if len(got) != len(want) {
			t.Errorf("%q: got %v, want %d", cron, got, len(want))
			continue
		}
		for i, warning := range got {
			if text := warning.Error(); !strings.HasPrefix(text, `cron "`) || !strings.Contains(text, want[i]) {
				t.Errorf("%q: got %q, want %q in it", cron, text, want[i])
			}
		}
	}
	if got := (Spec{Any: []Spec{{Cron: "@daily"}, {Cron: "*/90 * * * *"}}}).Warnings(); len(got) != 1 {
		t.Errorf("of a union: got %v", got)
	}
	if got := (Spec{Every: "90m"}).Warnings(); got != nil {
		t.Errorf("of an interval: got %v", got)
	}
	for _, every := range []string{"90s", "90m", "36h", "45 days", "18 months"} {
		if err := (Spec{Every: every}).Validate(); err != nil {
			t.Errorf("the remedy is none: %v", err)
		}
	}
}
