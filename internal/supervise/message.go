//go:build unix

package supervise

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// The socket carries JSON values in both directions, one per line. After an
// upgrade of its node, a supervisor is of an earlier release than the node:
// releases only add fields, whose absence has no effect (or else change
// handover.Format).

// order is a message from the node to the supervisor. The first order has Start
// and Claim; each later order has one field.
type order struct {
	Start  *task          `json:"start,omitempty"`
	Claim  *Claim         `json:"claim,omitempty"`
	Stop   *time.Duration `json:"stop,omitempty"` // the grace
	Signal syscall.Signal `json:"signal,omitempty"`
	// TakeOver is the mark of the run that the node's next program believes to
	// be at the other end of the socket.
	TakeOver string `json:"take_over,omitempty"`
}

// task is a Spec as it is sent. Its texts need not be UTF-8, so they are sent
// as bytes.
type task struct {
	Path         []byte        `json:"path"`
	Argv         []byte        `json:"argv"` // packed
	Env          []byte        `json:"env"`  // packed
	Dir          []byte        `json:"dir,omitempty"`
	Stdin        []byte        `json:"stdin,omitempty"`
	User         *User         `json:"user,omitempty"`
	Inherit      bool          `json:"inherit,omitempty"`
	KeepDetached bool          `json:"keep_detached,omitempty"`
	Grace        time.Duration `json:"grace"`
	Node         int           `json:"node"` // the process number of the node
	Mark         string        `json:"mark"` // of the run, as in Env
}

// report is a message from the supervisor to the node; each report has one
// field, and Output may have Skipped.
type report struct {
	// Clock is the supervisor's uptime. It is the first report on systems where
	// processes do not share that clock.
	Clock   uptime.Instant `json:"clock,omitempty"`
	Started int            `json:"started,omitempty"` // the number of the command's first process
	Failed  syscall.Errno  `json:"failed,omitempty"`  // why the command could not be started
	Output  []byte         `json:"output,omitempty"`  // the next bytes of the output
	Skipped int64          `json:"skipped,omitempty"` // bytes of the output before Output that were displaced
	Ended   *Result        `json:"ended,omitempty"`   // the last report
}

// pack joins texts to one value. Each text ends with a NUL byte, so no text may
// contain a NUL byte.
func pack(field string, texts []string) ([]byte, error) {
	var packed []byte
	for _, text := range texts {
		if strings.ContainsRune(text, 0) {
			return nil, fmt.Errorf("%s of the command contains a NUL byte", field)
		}
		packed = append(append(packed, text...), 0)
	}
	return packed, nil
}

// unpack is the reverse of pack.
func unpack(packed []byte) []string {
	texts := []string{}
	for text := range bytes.SplitSeq(packed, []byte{0}) {
		texts = append(texts, string(text))
	}
	return texts[:len(texts)-1]
}
