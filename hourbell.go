// Package hourbell runs scheduled and queued work exactly where and when it
// should on a cluster of ordinary servers. It needs only the database that the
// servers already share.
//
// A [Client] joins a store (a database accessed by a driver), [Workers] (your
// code, by kind) and, while it runs, a node of the cluster. It enqueues jobs,
// also inside your own transaction. A [Schedule] makes one job for each slot,
// whichever node comes first. The services of a client, such as client.Jobs,
// read and change everything else.
//
// Jobs run at least once: a job whose node died runs again on another node,
// unless its on-loss choice is [FailOnLoss]. Each attempt has a token that is
// greater than every earlier token of the same job or schedule. Pass it to the
// systems to which the job writes, and let them refuse smaller tokens. The
// words used here are defined in docs/glossary.md.
package hourbell

import "github.com/hourbell/hourbell/store"

// Version is the release of the library.
const Version = "0.1.0"

// build is Version, unless the linker sets another text (-X github.com/hourbell/hourbell.build=TEXT).
var build = Version

// Build returns the version of this program, which its nodes register: Version, or the text that the
// linker of a build between releases has set.
func Build() string { return build }

// The choices what happens to a job whose node died while it ran.
const (
	// RetryOnLoss runs the job again on another node (default).
	RetryOnLoss = store.OnLossRetry
	// FailOnLoss never starts the job twice: if its node dies, it fails with
	// the reason "lost".
	FailOnLoss = store.OnLossFail
)
