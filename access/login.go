package access

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
)

//go:embed login.html login.css
var loginFiles embed.FS

var loginPage = template.Must(template.ParseFS(loginFiles, "login.html"))

// mostHashing is how many passwords are hashed at the same time: each takes memory
// and a core.
const mostHashing = 2

// unknownUser is the hash that is compared for a name that is no user, so that the
// time of the answer does not show which names exist.
const unknownUser = "$argon2id$v=19$m=19456,t=2,p=1$aG91cmJlbGwtbm8tdXNlcg$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// loginForm is what the page of the log-in shows.
type loginForm struct {
	Prefix, To, Problem string
}

// Handler answers /login, /login.css and /logout below prefix, which is empty or a
// path without a slash at its end. A log-in returns to the page that the query
// parameter to names, or to the prefix.
func (g *Guard) Handler(prefix string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix+"/login", func(w http.ResponseWriter, r *http.Request) {
		showLogin(w, http.StatusOK, loginForm{Prefix: prefix, To: local(r.URL.Query().Get("to"), prefix)})
	})
	mux.HandleFunc("GET "+prefix+"/login.css", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		http.ServeFileFS(w, r, loginFiles, "login.css")
	})
	mux.HandleFunc("POST "+prefix+"/login", func(w http.ResponseWriter, r *http.Request) { g.logIn(w, r, prefix) })
	mux.HandleFunc("POST "+prefix+"/logout", func(w http.ResponseWriter, r *http.Request) {
		if sent, err := r.Cookie(g.cookieName(r)); err == nil {
			g.sessions.end(sent.Value)
		}
		http.SetCookie(w, g.cookie(r, ""))
		http.Redirect(w, r, prefix+"/login", http.StatusSeeOther)
	})
	return Protect(mux, Options{Authorize: anyone, MaxBody: 8 << 10})
}

// anyone lets every caller reach the log-in.
func anyone(*http.Request) (Identity, error) { return Identity{Role: Viewer}, nil }

// logIn compares the password, and begins a session.
func (g *Guard) logIn(w http.ResponseWriter, r *http.Request, prefix string) {
	if err := r.ParseForm(); err != nil {
		showLogin(w, http.StatusBadRequest, loginForm{Prefix: prefix, To: prefix + "/", Problem: "The form could not be read. Try again."})
		return
	}
	name, password := r.PostForm.Get("name"), r.PostForm.Get("password")
	form := loginForm{Prefix: prefix, To: local(r.PostForm.Get("to"), prefix)}
	g.reportProxy(r)
	if !g.attempts.take(g.sender(r), time.Now()) {
		w.Header().Set("Retry-After", "60")
		form.Problem = "There were too many attempts from this address. Wait a minute, and try again."
		showLogin(w, http.StatusTooManyRequests, form)
		return
	}
	user, ok := g.verify(r, name, password)
	if !ok {
		form.Problem = "The name or the password is not right."
		showLogin(w, http.StatusUnauthorized, form)
		return
	}
	if sent, err := r.Cookie(g.cookieName(r)); err == nil {
		g.sessions.end(sent.Value)
	}
	http.SetCookie(w, g.cookie(r, g.sessions.begin(user, time.Now())))
	http.Redirect(w, r, form.To, http.StatusSeeOther)
}

// verify returns the user with that name and password.
func (g *Guard) verify(r *http.Request, name, password string) (User, bool) {
	select {
	case g.hashing <- struct{}{}:
		defer func() { <-g.hashing }()
	case <-r.Context().Done():
		return User{}, false
	}
	users := g.current()
	if i := users.find(name); i >= 0 {
		return users.Users[i], verifyPassword(users.Users[i].Password, password)
	}
	verifyPassword(unknownUser, password)
	return User{}, false
}

// local returns a path of this server to which a log-in may lead; anything else
// becomes the page at the prefix.
func local(to, prefix string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!strings.HasPrefix(to, prefix+"/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") || strings.HasPrefix(u.Path, "//") {
		return prefix + "/"
	}
	return to
}

func showLogin(w http.ResponseWriter, status int, form loginForm) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	loginPage.Execute(w, form) //nolint:errcheck // the reader has gone
}
