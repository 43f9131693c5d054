package page

import (
	"net/http"

	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/dashboard"
)

var mux *http.ServeMux

var authorize access.Authorize
