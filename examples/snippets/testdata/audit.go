package page

import "net/http"

var user struct{ Email string }

var request *http.Request
