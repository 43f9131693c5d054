// Package crontab reads a user's crontab as cron does: five fields or a macro
// and a command in each line, comments, and environment lines that are in
// force for the lines below them.
//
// Lines run as under cron: one attempt, never again after a loss, and however
// many at a time (overlap allow). SHELL chooses the shell, HOME the working
// directory, CRON_TZ the zone (else it is the machine's, see InZone); all of
// them are in the command's environment too. What cannot be honoured yet is refused with its line: @reboot, an
// unescaped %, MAILTO with an address, RANDOM_DELAY, LOGNAME.
//
// Each line gets a name that its place in the file does not change: the file,
// the beginning of the command, and a hash of rule, zone and command. Equal
// lines are numbered.
package crontab
