package page

import (
	"net/http"

	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/api"
)

var mux *http.ServeMux

var authorize access.Authorize
