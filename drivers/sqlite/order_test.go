package sqlite

import (
	"testing"

	"github.com/hourbell/hourbell/internal/clienttest"
)

func TestFailingJobsDoNotHoldUpFreshJobs(t *testing.T) { clienttest.Order(t, openFile(t, newFile(t))) }
