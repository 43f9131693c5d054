package postgres

import (
	"testing"

	"github.com/hourbell/hourbell/internal/ordertest"
)

func TestFailingJobsDoNotHoldUpFreshJobs(t *testing.T) { ordertest.Run(t, fresh(t)) }
