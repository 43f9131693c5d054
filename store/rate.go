package store

import "time"

// Rate is how many jobs may start per interval: the generic cell rate algorithm. Its state is one instant, the theoretical
// arrival time: when the last start would have come if all starts were evenly spaced. The zero time means that nothing has
// started for long. A rest makes up for nothing but Burst starts. Its methods are pure; all instants are the store's.
type Rate struct {
	Every time.Duration // between starts that are evenly spaced
	Burst int           // how many start at once after a rest, at least 1
}

// Pace returns the rate of the limit, and whether it has one. It rounds the interval up, so that no more jobs start.
func (l *Limit) Pace() (Rate, bool) {
	if l.Rate == 0 {
		return Rate{}, false
	}
	every := (l.Per + time.Duration(l.Rate) - 1) / time.Duration(l.Rate)
	every = (every + time.Microsecond - 1).Truncate(time.Microsecond) // stores keep microseconds
	return Rate{Every: every, Burst: max(l.Burst, 1)}, true
}

// The least and the greatest Slack.
const (
	minSlack = 25 * time.Millisecond
	maxSlack = 100 * time.Millisecond
)

// Slack returns how long after ClaimResult.StartsFrom a job under the rate may start; later it is released. So starts come at most so much
// closer together than claims. A claim by a busy node, or from a busy store, takes long. Slack is a quarter of the time that the
// burst stands for, without its first start, or a twentieth of the interval, within bounds.
func (r Rate) Slack() time.Duration {
	spare := max(time.Duration(r.Burst-1)*r.Every/4, r.Every/20)
	return min(max(spare, minSlack), maxSlack)
}

// SlackWith returns the slack of a job that is under the rate and under other rates, whose least slack is others; zero: there are no
// other rates.
func (r Rate) SlackWith(others time.Duration) time.Duration { return LeastSlack(r.Slack(), others) }

// LeastSlack returns the lesser of two slacks; zero stands for no rate, so that the other slack counts.
func LeastSlack(a, b time.Duration) time.Duration {
	if a > 0 && b > 0 {
		return min(a, b)
	}
	return max(a, b)
}

// tolerance returns by how much the theoretical arrival time may be ahead of now after a start. It leaves room for Slack,
// unless that would prevent every start.
func (r Rate) tolerance() time.Duration {
	whole := time.Duration(r.Burst) * r.Every
	return max(whole-r.Slack(), min(whole, r.Every))
}

// Room returns how many jobs may start now, at most most.
func (r Rate) Room(tat, now time.Time, most int) int {
	room := int64((r.tolerance() - r.ahead(tat, now)) / r.Every)
	return int(min(max(room, 0), int64(max(most, 0))))
}

// ahead returns by how much the theoretical arrival time is ahead of now.
func (r Rate) ahead(tat, now time.Time) time.Duration {
	if tat.Before(now) {
		return 0
	}
	return tat.Sub(now)
}

// After returns the theoretical arrival time after n starts, at least 1, at now.
func (r Rate) After(tat, now time.Time, n int) time.Time {
	return now.Add(r.ahead(tat, now)).Add(time.Duration(n) * r.Every)
}

// Next returns when the next job may start, which is now or later.
func (r Rate) Next(tat, now time.Time) time.Time {
	next, _ := r.next(tat, now, 1)
	return next
}

// next returns when n jobs may start at once, which is now or later, and whether so many may ever start at once.
func (r Rate) next(tat, now time.Time, n int) (at time.Time, possible bool) {
	if time.Duration(n) > r.tolerance()/r.Every {
		return time.Time{}, false
	}
	return now.Add(max(r.ahead(tat, now)+time.Duration(n)*r.Every-r.tolerance(), 0)), true
}

// Greatest returns the latest theoretical arrival time that starts can lead to by now. When a rate has changed, what is later
// counts as this instant.
func (r Rate) Greatest(now time.Time) time.Time { return now.Add(time.Duration(r.Burst) * r.Every) }
