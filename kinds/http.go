package kinds

// HTTPKind is the kind of jobs that make an HTTP request.
const HTTPKind = "http"

// HTTP is the arguments of a job that makes an HTTP request.
type HTTP struct {
	// URL is where to: http or https.
	URL string `json:"url"`
	// Method is POST if it is empty.
	Method string `json:"method,omitempty"`
	// Header is added to the request.
	Header map[string]string `json:"header,omitempty"`
	// Body is sent as it is. For a hook without one it is the hook's event.
	Body string `json:"body,omitempty"`
}

// Kind returns HTTPKind.
func (HTTP) Kind() string { return HTTPKind }
