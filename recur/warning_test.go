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

func TestWarningsOfOtherSchedulers(t *testing.T) {
	for _, test := range []struct{ cron, dialect, want string }{
		{"0 0 9 ? * 2-6", "", `day of week "2-6" is Tuesday to Saturday here; in Quartz it is Monday to Friday; choose the dialect of the rule, or write names of days`},
		{"0 9 ? * 2-6", "", "Tuesday to Saturday here"},
		{"0 0 9 ? * 6L", "", `"6L" is the last Saturday of the month here; in Quartz it is the last Friday of the month`},
		{"0 0 9 * * 6L", "", "the last Saturday"},
		{"0 0 9 ? * 6#3", "", "the third Saturday of the month here; in Quartz it is the third Friday of the month"},
		{"0 0 9 ? * 0-4", "", ""}, // not Quartz
		{"0 0 9 ? * MON-FRI", "", ""},
		{"0 0 9 ? * FRIL", "", ""},
		{"0 0 9 1 * ?", "", ""},
		{"0 0 9 * * 1-5", "", ""},
		{"0 9 * * 5L", "", ""},
		{"0 0 9 ? * 2-6", Quartz, ""},
		{"0 0 9 ? * 1-5", Spring, ""},
		{"0 0 9 31W * ?", Quartz, "Quartz 2.5 leaves that month out; write LW"},
		{"0 0 9 28W * ?", Quartz, ""},
		{"0 0 9 15W,20 * ?", Quartz, "Quartz up to 2.3 reads one day of it"},
		{"0 0 9 15,L * ?", Quartz, ""},
		{"0 0 9 ? * MON#1,FRI", Quartz, "one letter for the whole list"},
		{"0 0 9 ? * MON/2", Quartz, "write the days in a list"},
		{"0 0 9 L-30 * ?", Spring, "Spring does not ring on the right days"},
		{"0 0 9 30W * ?", Spring, "Spring leaves out some of them"},
		{"0 */90 * * * *", Spring, "write every: 90m"},
		{"cron(0/3 * * * ? *)", EventBridge, ""},
		{"rate(5 minutes)", EventBridge, ""},
		{"0 0 */40 * 1", Kubernetes, "write every: 40 days"},
	} {
		got := Spec{Cron: test.cron, Dialect: test.dialect}.Warnings()
		switch {
		case test.want == "" && len(got) == 0:
		case test.want == "" || len(got) != 1 || !strings.Contains(got[0].Error(), test.want):
			t.Errorf("%s %s: got %v, want %q", test.cron, test.dialect, got, test.want)
		}
	}
}
