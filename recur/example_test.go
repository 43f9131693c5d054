package recur_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/recur"
)

func ExampleParseCron() {
	prague, err := time.LoadLocation("Europe/Prague")
	if err != nil {
		fmt.Println(err)
		return
	}
	rule, err := recur.ParseCron("0 9 * * MON-FRI", prague)
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2026, 2, 27, 12, 0, 0, 0, time.UTC) // a Friday
	for range 3 {
		at = rule.Next(at)
		fmt.Println(at.Format(time.RFC3339))
	}
	// Output:
	// 2026-03-02T09:00:00+01:00
	// 2026-03-03T09:00:00+01:00
	// 2026-03-04T09:00:00+01:00
}

// A job at half past two, on the night when New York's clocks jump from two to
// three, runs at three.
func ExampleRule() {
	rule, err := recur.Parse("CRON_TZ=America/New_York 30 2 * * *")
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2024, 3, 9, 0, 0, 0, 0, time.UTC)
	for range 3 {
		at = rule.Next(at)
		fmt.Println(at.Format(time.RFC3339))
	}
	// Output:
	// 2024-03-09T02:30:00-05:00
	// 2024-03-10T03:00:00-04:00
	// 2024-03-11T02:30:00-04:00
}

func ExampleEvery() {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rule, err := recur.Every(90 * time.Second).From(start).Rule(time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rule)
	fmt.Println(rule.Next(start.Add(10 * time.Minute)).Format(time.RFC3339))
	// Output:
	// every 90s from 2026-01-01T00:00:00Z
	// 2026-01-01T00:10:30Z
}

func ExampleCron() {
	spec := recur.Cron("0 9 * * MON-FRI").In("Europe/Prague")
	rule, err := spec.Rule(time.Time{}) // only intervals need an anchor
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(spec)
	fmt.Println(rule.Next(time.Date(2026, 2, 27, 12, 0, 0, 0, time.UTC)).Format(time.RFC3339))
	// Output:
	// CRON_TZ=Europe/Prague 0 9 * * MON-FRI
	// 2026-03-02T09:00:00+01:00
}

func ExampleAt() {
	rule, err := recur.At(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)).Rule(time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	first := rule.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(first.Format(time.RFC3339), rule.Next(first).IsZero())
	// Output: 2026-03-01T09:00:00Z true
}

// Hourly, and also at a quarter past nine on working days, to the end of March.
func ExampleAny() {
	spec := recur.Any(recur.Cron("0 * * * *"), recur.Cron("15 9 * * 1-5")).
		In("Europe/Prague").Until(time.Date(2026, 3, 31, 23, 59, 0, 0, time.UTC))
	rule, err := spec.Rule(time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2026, 3, 2, 7, 30, 0, 0, time.UTC)
	for range 3 {
		at = rule.Next(at)
		fmt.Println(at.Format(time.TimeOnly))
	}
	// Output:
	// 09:00:00
	// 09:15:00
	// 10:00:00
}

// A rule for the end of every month: the day of the start is kept in each month
// that has it.
func ExampleMonths() {
	prague, err := time.LoadLocation("Europe/Prague")
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := recur.Months(1).In("Europe/Prague").From(time.Date(2027, 1, 31, 9, 0, 0, 0, prague))
	rule, err := spec.Rule(time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rule.Describe())
	at := time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)
	for range 3 {
		at = rule.Next(at)
		fmt.Println(at.Format(time.RFC3339))
	}
	// Output:
	// every month on the 31st (or the last day of the month) at 09:00, from 2027-01-31, Europe/Prague
	// 2027-02-28T09:00:00+01:00
	// 2027-03-31T09:00:00+02:00
	// 2027-04-30T09:00:00+02:00
}

func ExampleSpec() {
	spec := recur.Spec{At: "2026-07-01T09:00:00", Zone: "Europe/Prague"}
	rule, err := spec.Rule(time.Time{})
	fmt.Println(rule, err)

	err = recur.Spec{Cron: "0 22-2 * * *"}.Validate()
	fmt.Println(err)
	var wrong *recur.Error
	fmt.Println(errors.As(err, &wrong), wrong.Field)
	// Output:
	// at 2026-07-01T07:00:00Z <nil>
	// cron "0 22-2 * * *": hour "22-2" runs backwards; write 22-23,0-2
	// true cron
}

func ExampleSpec_quartz() {
	spec := recur.Spec{Cron: "0 15 10 ? * 6L 2027", Dialect: recur.Quartz}
	rule, err := spec.Rule(time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rule.Describe())
	end := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	fmt.Println(rule.Prev(end).Format(time.RFC3339))
	fmt.Println(recur.Count(rule, time.Time{}, end, 100_000))
	// Output:
	// at 10:15 on the last Friday of the month in 2027, UTC
	// 2027-12-31T10:15:00Z
	// 12 false
}

func ExampleCalendarSpec() {
	calendar, err := recur.CalendarSpec{
		Dates:    []string{"12-24..12-26 Christmas"},
		Weekdays: []string{"sat", "sun"},
	}.Calendar()
	if err != nil {
		fmt.Println(err)
		return
	}
	rule, err := recur.Parse("CRON_TZ=Europe/Prague 0 9 * * *")
	if err != nil {
		fmt.Println(err)
		return
	}
	slot := rule.Next(time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC))
	why, excluded := calendar.Excludes(slot)
	fmt.Println(slot.Format(time.DateOnly), excluded, why)
	open, found := recur.NextOpen(rule, slot, calendar)
	fmt.Println(open.Format(time.DateOnly), found)
	// Output:
	// 2026-12-24 true date 12-24..12-26 Christmas
	// 2026-12-28 true
}

func ExampleClockChanges() {
	rule, err := recur.Parse("CRON_TZ=America/New_York 30 2 * * * gap skip")
	if err != nil {
		fmt.Println(err)
		return
	}
	spring := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, change := range recur.ClockChanges(rule, spring, spring.AddDate(0, 1, 0), 10) {
		fmt.Println(change.At.Format(time.RFC3339), change.Text)
	}
	// Output:
	// 2027-03-14T03:00:00-04:00 the clock goes from 2027-03-14 02:00 to 03:00: 02:30 is skipped and does not ring
}
