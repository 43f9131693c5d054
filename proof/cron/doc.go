// Package cron compares Hourbell with Debian's cron. Both get the same crontabs
// on identical machines; the commands that each runs, their user, environment,
// input, and the minutes in which they run must be the same, in a week whose
// clocks change twice.
//
// The shell of both machines is a recorder (testdata/shell.c) that writes down
// how it was called, so that neither program affects the other's runs. A
// machine is a mount namespace with its own users, homes, zone and crontabs;
// nothing outside it is read or changed. For cron a preloaded clock
// (testdata/clock.c) makes the week pass in seconds.
//
// The comparison leaves out syntax that cron refuses or does not know and
// Hourbell accepts: lines that end in CR LF, a last line without a newline,
// CRON_TZ, comments with settings.
package cron
