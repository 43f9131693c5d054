// Package page has what the Go blocks of the pages may use without declaring it. A page that needs more, or something else by
// the same name, has a file of its own here.
package page

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

var ctx context.Context

var client *hourbell.Client

var backend store.Backend

var workers *hourbell.Workers

var pool *pgxpool.Pool

var db *sql.DB

var email string
