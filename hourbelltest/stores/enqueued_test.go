package stores

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/store"
)

// TestEnqueued checks what is found of jobs, in transactions and after them.
func TestEnqueued(t *testing.T) {
	onEach(t, func(s target) {
		kit := s.kit(nil)
		tx, commit, _ := s.begin()
		_, err := kit.Client.Enqueue(s.t.Context(), mail{"ada"}, hourbell.InTx(tx), hourbell.Queue("mails"), hourbell.In(time.Hour), hourbell.NotifyInTx())
		must(s.t, err)
		job := kit.RequireEnqueued(mail{"ada"}, hourbell.InTx(tx), hourbell.Queue("mails"), hourbell.In(time.Hour))
		want(s.t, job.RunAt, january.Add(time.Hour), "when the job is due")
		kit.RequireNotEnqueued(mail{"ada"}, hourbell.InTx(tx), hourbell.Queue("default"))
		commit()
		want(s.t, kit.RequireEnqueued(mail{"ada"}).ID, job.ID, "the committed job")
		kit.RequireEnqueued(hourbelltest.Any("mail"), hourbell.Queue("mails"), hourbell.Priority(5), hourbell.At(january.Add(time.Hour)))
		kit.RequireNotEnqueued(mail{"ada"}, hourbell.Priority(1))
		kit.RequireNotEnqueued(mail{"eve"})

		tx, _, rollback := s.begin()
		_, err = kit.Client.Enqueue(s.t.Context(), mail{"eve"}, hourbell.InTx(tx))
		must(s.t, err)
		kit.RequireEnqueued(mail{"eve"}, hourbell.InTx(tx))
		rollback()
		kit.RequireNotEnqueued(mail{"eve"})

		jobs := hourbelltest.Jobs[mail](kit, hourbell.Queue("mails"))
		if len(jobs) != 1 || jobs[0].Args.To != "ada" || jobs[0].ID != job.ID {
			s.t.Errorf("jobs %+v", jobs)
		}
	})
}

// TestWork checks that Work runs one attempt at one job, and nothing else.
func TestWork(t *testing.T) {
	onEach(t, func(s target) {
		errBusy := errors.New("the mail server is busy")
		var ran []int64
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[mail]) error {
			ran = append(ran, job.ID)
			job.Log("to %s", job.Args.To)
			switch job.Args.To {
			case "busy":
				return hourbell.RetryIn(0, errBusy)
			case "never":
				return hourbell.Fail(errBusy)
			}
			return job.SetResult(map[string]int{"sent": 1})
		})
		kit := s.kit(workers)
		before, err := kit.Client.Enqueue(s.t.Context(), mail{"ada"})
		must(s.t, err)

		done := kit.Work(mail{"ada"})
		if done.Result != store.Completed || done.ID == before.ID || string(done.Output) != "to ada\n" || string(done.Value) != `{"sent":1}` {
			s.t.Errorf("%v, output %q, value %s", done, done.Output, done.Value)
		}
		want(s.t, len(ran), 1, "runs")
		job, err := kit.Client.Jobs.Get(s.t.Context(), before.ID)
		must(s.t, err)
		if job.State != store.StateReady || job.Attempt != 0 {
			s.t.Errorf("an equal job that was enqueued before: %+v", job)
		}
		retried := kit.Work(mail{"busy"})
		if retried.Result != store.Retry || !errors.Is(retried.Err, errBusy) {
			s.t.Errorf("%v", retried)
		}
		failed := kit.Work(mail{"never"})
		if failed.Result != store.Failed || !errors.Is(failed.Err, errBusy) {
			s.t.Errorf("%v", failed)
		}
		want(s.t, len(ran), 3, "runs")
	})
}
