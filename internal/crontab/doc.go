// Package crontab reads crontabs as cron does: five fields or a macro and a
// command in each line, comments, and environment lines that apply to the lines
// below them. There are two forms: a user's crontab, and the system's
// (/etc/crontab, /etc/cron.d), where the user to run as stands before the
// command.
//
// Lines run as under cron: one attempt, never again after a loss, any number at
// a time (overlap allow), without a time limit (timeout hourbell.MaxDuration)
// and in the environment that cron gives (kinds.BaseCron) with the file's own
// settings. SHELL selects the shell, HOME the working directory, CRON_TZ the
// zone (otherwise Reader.Zone applies); TZ is an ordinary variable. A % ends
// the command and begins its input. @reboot runs once for each boot of a host,
// and @start once for each start of a node.
//
// Comments set the fields for which cron has no syntax. They take the keys of a
// schedule file, key=value with quotes as in a shell:
//
//	#hourbell-file: owner=backups on_failure="mail -s failed ops"
//
//	#hourbell: overlap=skip timeout=2h name=nightly
//	30 2 * * * backup --full
//
// The first comment applies to the whole file and stands before its first line,
// the second applies to the line right below it.
//
// A setting that cannot be honoured is a mistake, or a warning if the lines
// still run as written (MAILTO: nothing is mailed); no setting is ignored
// silently.
//
// Each line gets a name that does not depend on its line number: the file (or
// the owner that it names), the program, and a hash of rule, zone, command,
// input and, in the system form, user. Equal lines are numbered. Neither names
// nor messages contain arguments or values, because they may be secret.
package crontab
