package kinds

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// shadowFile has the ages of passwords and accounts. Only root can read it.
const shadowFile = "/etc/shadow"

// CheckUser returns why commands do not run as a user on this machine: the
// machine does not know the user, this process cannot become the user, or the
// account or its password has expired. The error does not repeat the name. CheckUser
// reads the machine's files each time. Concurrent calls are allowed.
func CheckUser(name string) error {
	_, _, err := lookUpUser(name)
	return err
}

// checkAccount returns why an account may not be used: what PAM's account check
// (pam_unix) reads in the shadow file, by the machine's clock. A locked password is
// no reason, because service users have locked passwords. A process that cannot
// read the file is not root, and runs commands only as its own user, who is in.
func checkAccount(file, name string, now time.Time) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), ":")
		if fields[0] == name {
			return accountProblem(fields, now)
		}
	}
	return nil // the account is not kept in this file
}

// The fields of a line of the shadow file, counted from 0. All but the limits are
// days since 1970.
const (
	passwordChanged  = 2
	passwordDays     = 4 // how many days a password may be used
	passwordInactive = 6 // how many days more it may be changed by its user
	accountExpires   = 7
)

// accountProblem decides about the fields of a line. As in PAM, a password that
// may only be changed counts as expired, because no command can change it.
func accountProblem(fields []string, now time.Time) error {
	const secondsOfDay = 24 * 60 * 60
	today := now.Unix() / secondsOfDay
	date := func(day int64) string { return time.Unix(day*secondsOfDay, 0).UTC().Format(time.DateOnly) }
	changed, most, expires := dayOf(fields, passwordChanged), dayOf(fields, passwordDays), dayOf(fields, accountExpires)
	inactive := dayOf(fields, passwordInactive)
	switch {
	case expires >= 0 && today >= expires:
		return fmt.Errorf("the account expired on %s; extend it with chage -E", date(expires))
	case changed == 0:
		return fmt.Errorf("the password must be changed before the account is used; change it with passwd")
	case changed < 0 || changed > today || most < 0 || today-changed <= most:
		return nil
	case inactive >= 0 && today-changed > most+inactive:
		return fmt.Errorf("the password expired on %s, and the account with it; change the password with passwd", date(changed+most))
	}
	return fmt.Errorf("the password expired on %s; change it with passwd, or its age with chage -M", date(changed+most))
}

// dayOf returns a field that is a number of days; -1: it is not given.
func dayOf(fields []string, i int) int64 {
	if i < len(fields) {
		if n, err := strconv.ParseInt(fields[i], 10, 64); err == nil {
			return n
		}
	}
	return -1
}
