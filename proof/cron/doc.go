// Package cron holds Hourbell beside Debian's cron. Both are given the same
// crontabs on machines of the same making; what each runs, as whom, in which
// environment, with what input, and in which minutes of a week whose clocks
// change twice must be the same.
//
// Neither is told about the other's work: the shell of both machines is a
// recorder (testdata/shell.c) that writes down how it was called. A machine is
// a mount namespace with users, homes, zone and crontabs of its own; nothing
// outside it is read or changed. For cron a preloaded clock (testdata/clock.c)
// makes the week pass in seconds.
//
// Left out is what cron refuses or does not know and Hourbell takes: lines that
// end in CR LF, a last line without its end, CRON_TZ, comments with settings.
package cron
