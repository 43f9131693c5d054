package kinds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/store"
)

// Mailer mails what commands in cron's environment (BaseCron) print, as cron does: to the addresses
// in MAILTO of the command's Env, or, without a MAILTO, to the user who runs the command; an empty
// MAILTO ends the mails. It runs a program such as sendmail as the same user as the command. It is
// safe for concurrent use and must not be copied.
type Mailer struct {
	// Program is the path of a program that takes the arguments -i and -t and reads a message from its
	// standard input.
	Program string
	// Host is the name of this machine in the subject of the mails.
	Host string
	// Failed, if not nil, is called for each mail that was not sent, for a line in the log.
	Failed func(job *hourbell.JobRow, err error)

	mu   sync.Mutex
	sent map[string]*mailCount // by schedule
	all  mailCount
}

// The ration of mails: a line that prints something each minute must not fill a mailbox.
const (
	mailTime    = time.Hour // for which a ration lasts
	mailsOfLine = 10        // of one schedule
	mailsOfAll  = 200       // of a node
)

// mailLimit is how long the program may take to send a mail.
const mailLimit = 30 * time.Second

// mailCount counts the mails of a ration.
type mailCount struct {
	began time.Time
	sent  int
	held  int // mails that were not sent since the last mail
}

// renew begins a new ration if the time of the last is over.
func (c *mailCount) renew(now time.Time) {
	if now.Sub(c.began) >= mailTime {
		c.began, c.sent = now, 0
	}
}

// take reports whether the ration allows a mail of a schedule at now, and how many mails of it were
// held back before.
func (m *Mailer) take(schedule string, now time.Time) (held int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sent == nil || len(m.sent) > 10_000 {
		m.sent = map[string]*mailCount{}
	}
	line := m.sent[schedule]
	if line == nil {
		line = &mailCount{}
		m.sent[schedule] = line
	}
	line.renew(now)
	m.all.renew(now)
	if line.sent >= mailsOfLine || m.all.sent >= mailsOfAll {
		line.held++
		return 0, false
	}
	held, line.held = line.held, 0
	line.sent++
	m.all.sent++
	return held, true
}

// CheckMailTo refuses a value of MAILTO that is not a list of addresses. It accepts what Debian's
// cron accepts: letters, digits and the characters @!:%-.,_+ and blanks, with a letter, a digit or _ at
// the beginning of each address, so that no address is taken for an option. Empty is valid. The
// error is a *check.FieldError.
func CheckMailTo(text string) error {
	problem := mailToProblem(text)
	if problem == "" {
		return nil
	}
	return &check.FieldError{Field: "MAILTO", Problem: problem, Remedy: `write addresses of letters, digits and @!:%-._+ with commas between them, or MAILTO=""`}
}

// mailToProblem returns what is wrong with a value of MAILTO; see CheckMailTo.
func mailToProblem(text string) string {
	const marks = "@!:%-.,_+ "
	for _, r := range text {
		switch {
		case r < ' ' || r == 0x7f:
			return "has a control character"
		case !letter(r) && !strings.ContainsRune(marks, r):
			return fmt.Sprintf("has the character %q", r)
		}
	}
	for address := range strings.SplitSeq(text, ",") {
		if problem := addressProblem(strings.Trim(address, " ")); problem != "" && text != "" {
			return problem
		}
	}
	if len(text) > 1000 {
		return "is longer than 1000 bytes"
	}
	return ""
}

// addressProblem returns what is wrong with an address.
func addressProblem(address string) string {
	switch {
	case address == "":
		return "has an empty address"
	case address[0] == '-':
		return "has an address that begins with -, which mail programs take for an option"
	case !letter(rune(address[0])) && address[0] != '_':
		return "has an address that begins with neither a letter nor a digit"
	case strings.Contains(address, " "):
		return "has a blank within an address"
	}
	return ""
}

func letter(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// recipients returns the addresses to which the output of a command is mailed; empty: the output
// is not mailed.
func recipients(command Command) (string, error) {
	to, given := command.Env["MAILTO"]
	if !given {
		if to = command.User; to == "" {
			to = self().Username
		}
	}
	return to, CheckMailTo(to)
}

// send mails the output of a command that has ended with failed, which may be nil. If it cannot, it
// adds the reason to the output of the job. It sends no mail if the claim of the job was lost,
// because the job may run again, or if the command goes on under the next program of the node.
func (m *Mailer) send(ctx context.Context, w CommandWorker, command Command, job *hourbell.JobRow, failed error) {
	if m == nil || command.Base != BaseCron || len(job.Output()) == 0 || mayGoOn(failed) {
		return
	}
	to, err := recipients(command)
	if err == nil && to == "" {
		return
	}
	if err == nil {
		err = m.mail(ctx, w, mail{to: to, login: command.User, job: job, failed: failed})
	}
	if err == nil {
		return
	}
	tell(job, "the output is not mailed: %v", err)
	if m.Failed != nil {
		m.Failed(job, err)
	}
}

// mayGoOn reports whether a command that ended with failed may run again or go on elsewhere as the same job.
func mayGoOn(failed error) bool {
	var left *handover.LeftError
	return errors.Is(failed, hourbell.ErrClaimLost) || errors.As(failed, &left)
}

// mail is a mail with the output of a job.
type mail struct {
	to     string
	login  string // the user of the command; empty: the node's own
	job    *hourbell.JobRow
	failed error // of the command; may be nil
	held   int   // mails before it that were held back
}

// errRationed is the reason for a mail that is held back.
var errRationed = fmt.Errorf("%d mails of this schedule, or %d mails of this node, were sent within %v", mailsOfLine, mailsOfAll, mailTime)

// mail sends a mail, if the ration allows it.
func (m *Mailer) mail(ctx context.Context, w CommandWorker, one mail) error {
	var ok bool
	if one.held, ok = m.take(one.job.Schedule, time.Now()); !ok {
		return errRationed
	}
	who, as := self(), (*identity)(nil)
	if one.login != "" {
		var err error
		if who, as, err = findUser(one.login); err != nil {
			return err
		}
	}
	limit := mailLimit
	if ctx.Err() != nil { // the node stops, or the job was stopped
		limit = w.grace()
	}
	// A mail is not handed over to the next program, so its context has nothing of the attempt's.
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var answer bytes.Buffer
	err := w.runTo(ctx, ready{
		path: m.Program, argv: []string{filepath.Base(m.Program), "-i", "-t"}, env: cronEnvironment(who, nil), dir: "/", user: as,
		stdin: one.text(fmt.Sprintf("Cron <%s@%s>", who.Username, m.Host)),
	}, one.job, &answer)
	if err != nil {
		return fmt.Errorf("%s: %w %s", m.Program, err, bytes.TrimSpace(answer.Bytes()[:min(answer.Len(), 500)]))
	}
	return nil
}

// text returns the message: headers that no text of a crontab can add to, and the output.
func (one mail) text(about string) []byte {
	about += " " + one.job.Schedule
	if one.job.Schedule == "" {
		about = strings.TrimSuffix(about, " ") + fmt.Sprintf(" job %d", one.job.ID)
	}
	var body bytes.Buffer
	if one.held > 0 {
		fmt.Fprintf(&body, "hourbell: held back before this mail, because they were too many: %d\n", one.held)
	}
	output := one.job.Output()
	if len(output) >= store.OutputLimit {
		fmt.Fprintf(&body, "hourbell: the last %d KiB of the output\n", store.OutputLimit>>10)
	}
	body.Write(output)
	if one.failed != nil {
		fmt.Fprintf(&body, "\nhourbell: %v\n", one.failed)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "To: %s\nSubject: %s\n", one.to, mime.QEncoding.Encode("utf-8", oneLine(about)))
	fmt.Fprintf(&text, "X-Hourbell-Job: %d\nAuto-Submitted: auto-generated\nPrecedence: bulk\nMIME-Version: 1.0\n", one.job.ID)
	text.WriteString("Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: quoted-printable\n\n")
	var encoded bytes.Buffer
	writer := quotedprintable.NewWriter(&encoded)
	_, _ = writer.Write(bytes.ToValidUTF8(body.Bytes(), []byte("\uFFFD"))) // a buffer never fails
	_ = writer.Close()
	text.Write(bytes.ReplaceAll(encoded.Bytes(), []byte("\r\n"), []byte("\n")))
	return text.Bytes()
}

// oneLine replaces control characters, which would end a header.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}
