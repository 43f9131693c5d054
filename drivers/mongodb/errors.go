package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/hourbell/hourbell/lock"
)

// explain adds the operation to an error and, for known causes, the remedy.
// Errors that the contract defines are returned unchanged.
func explain(what string, err error) error {
	var pool topology.WaitQueueTimeoutError
	var selection topology.ServerSelectionError
	var server mongo.ServerError
	switch {
	case errors.Is(err, lock.ErrHeld), errors.Is(err, lock.ErrNotDue):
		return err
	case errors.As(err, &pool):
		return fmt.Errorf("%s: %w: raise maxPoolSize in the URL: %w", what, lock.ErrBusy, err)
	case errors.As(err, &selection) && !errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: cannot reach a primary of MongoDB; see that it runs and that hosts, ports and replicaSet in the URL are right: %w", what, err)
	case errors.As(err, &server) && server.HasErrorCode(13):
		return fmt.Errorf("%s: the database user may not do this; grant it readWrite on the database: %w", what, err)
	case errors.As(err, &server) && (server.HasErrorCode(18) || server.HasErrorCode(8000)):
		return fmt.Errorf("%s: MongoDB refuses this user or password; check them, and authSource, in the URL: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
