package access

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"
)

// The bounds of sessions. A session ends at the latest after sessionTime, when the
// password or the role of its user changes, and when the server ends.
const (
	sessionTime  = 12 * time.Hour
	mostSessions = 10_000
)

// sessions are the log-ins of this process. The zero value is ready.
type sessions struct {
	mu   sync.Mutex
	byID map[string]session // by the digest of the cookie, so that a dump of memory has no cookies
}

// session is a user who has logged in.
type session struct {
	user User // as it was at the log-in
	ends time.Time
}

// begin makes a session and returns the value of its cookie.
func (s *sessions) begin(user User, now time.Time) string {
	id := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[string]session{}
	}
	if len(s.byID) >= mostSessions {
		s.makeRoom(now)
	}
	s.byID[digest(id)] = session{user, now.Add(sessionTime)}
	return id
}

// makeRoom deletes sessions that have ended, or else the oldest session.
func (s *sessions) makeRoom(now time.Time) {
	var oldest string
	for id, one := range s.byID {
		if !now.Before(one.ends) {
			delete(s.byID, id)
		} else if oldest == "" || one.ends.Before(s.byID[oldest].ends) {
			oldest = id
		}
	}
	if len(s.byID) >= mostSessions {
		delete(s.byID, oldest)
	}
}

// find returns the user of a session that has not ended.
func (s *sessions) find(id string, now time.Time) (User, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.byID[digest(id)]
	return one.user, ok && now.Before(one.ends)
}

// end ends a session.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, digest(id))
}

// cookieName returns the name of the cookie. With TLS its prefix makes browsers
// refuse a cookie that another host or an answer without TLS has set.
func (g *Guard) cookieName(r *http.Request) string {
	if g.secure(r) {
		return "__Host-hourbell"
	}
	return "hourbell"
}

// cookie returns the cookie of a session; an empty value deletes it.
func (g *Guard) cookie(r *http.Request, value string) *http.Cookie {
	//nolint:gosec // G124: without TLS, a browser would drop a Secure cookie
	c := &http.Cookie{
		Name: g.cookieName(r), Value: value, Path: "/", HttpOnly: true, Secure: g.secure(r),
		SameSite: http.SameSiteStrictMode, MaxAge: int(sessionTime / time.Second),
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// bySession returns the user who has logged in, with the user's present role.
func (g *Guard) bySession(r *http.Request) (Identity, bool) {
	sent, err := r.Cookie(g.cookieName(r))
	if err != nil {
		return Identity{}, false
	}
	then, ok := g.sessions.find(sent.Value, time.Now())
	if !ok {
		return Identity{}, false
	}
	users := g.current()
	i := users.find(then.Name)
	if i < 0 || users.Users[i] != then { // the user was removed, or has another password or role
		g.sessions.end(sent.Value)
		return Identity{}, false
	}
	return Identity{Name: then.Name, Role: then.Role, Source: SourceSession}, true
}
