package hourbelltest

import "context"

// KillNode lets the node that runs a job die now, as if its process were killed: no outcome of the jobs that it runs is recorded, and
// the contexts of their workers end with the cause hourbell.ErrClaimLost, because no call can end a goroutine. The job runs at
// present, because its worker waits in Sleep. Until the node's lease has passed on the kit's clock (Config.Lease, 15 s by default), the
// store counts its jobs as running. Then they are as after every loss: due again 250 ms later and more after further losses in a
// row, or failed as lost if they have no attempt left or say FailOnLoss.
//
// The node's client goes on at once under a new number, as a program that is started again: it, or another client of the kit (Run),
// takes the jobs. KillNode returns when the workers have returned. The lost attempts are not among the attempts that the
// calls of the kit return.
func (k *Kit) KillNode(job int64) {
	k.t.Helper()
	ctx, cancel := context.WithTimeoutCause(k.context(), k.settings.patience, errImpatient)
	defer cancel()
	if err := k.clock.Kill(ctx, job); err != nil {
		k.t.Fatalf("hourbelltest: kill the node of job %d: %v", job, err)
	}
}

// Prune deletes the history that is older than the clients of the kit keep it (Config.Keep, KeepFor), as their nodes do
// once a minute where no kit keeps them from it.
func (k *Kit) Prune() {
	k.t.Helper()
	ctx, cancel := context.WithTimeoutCause(k.context(), k.settings.patience, errImpatient)
	defer cancel()
	k.fail("prune", k.clock.Prune(ctx))
}
