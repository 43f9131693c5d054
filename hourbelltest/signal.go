package hourbelltest

import "github.com/hourbell/hourbell"

// Signal sends a signal to a job (hourbell.SignalService.Send), and lets everything happen that is due then, as by RunDue: a job
// that waits for the signal goes on. It returns the attempts that ended, in their order. The test fails if the signal is refused,
// because the job has ended or has had a signal of the name, or because its wait has timed out; a test of refused signals calls
// kit.Client.Signals.Send. With InTx the job goes on at the first RunDue after the commit.
func (k *Kit) Signal(jobID int64, name string, value any, options ...hourbell.Option) []Attempt {
	k.t.Helper()
	k.fail("signal", k.Client.Signals.Send(k.context(), jobID, name, value, options...))
	return k.RunDue()
}
