package access

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
)

// Users are the users and the API tokens of a file. Passwords and tokens are stored
// as hashes. The zero value is empty and ready. Calls must not be concurrent.
type Users struct {
	Users  []User  `json:"users"`
	Tokens []Token `json:"tokens"`
}

// User is a person with a password.
type User struct {
	Name string `json:"name"` // as check.Name accepts it; users and tokens share the names
	Role Role   `json:"role"`
	// Password is a hash of the password, argon2id or bcrypt ($2…).
	Password string `json:"password"`
}

// Token is what a program sends instead of a password.
type Token struct {
	Name   string `json:"name"`
	Role   Role   `json:"role"`
	SHA256 string `json:"sha256"` // of the token, as 64 hexadecimal digits
	// Created and Expires are instants by the clock of the computer that made the
	// token and of the server that accepts it; zero Expires: never.
	Created time.Time `json:"created_at"`
	Expires time.Time `json:"expires_at,omitzero"`
}

// expired reports whether the token has expired.
func (t Token) expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// maxUsersFile is how many bytes a file of users may have.
const maxUsersFile = 4 << 20

// ReadUsers reads a file of users. A file that does not exist is an error that is
// fs.ErrNotExist; a file whose content is not valid, or that other users of the
// computer may write, is a *check.FieldError.
func ReadUsers(path string) (*Users, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the users: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the users: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, &check.FieldError{Field: "auth", Value: check.Shorten(path), Problem: "may be written by other users of this computer", Remedy: "chmod 600 it"}
	}
	text, err := io.ReadAll(io.LimitReader(file, maxUsersFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the users: %w", err)
	}
	u, err := parseUsers(text)
	if err != nil {
		return nil, &check.FieldError{Field: "auth", Value: check.Shorten(path), Problem: err.Error(), Remedy: "use `hourbell auth` to change it"}
	}
	return u, nil
}

func parseUsers(text []byte) (*Users, error) {
	if len(text) > maxUsersFile {
		return nil, fmt.Errorf("has more than %d bytes", maxUsersFile)
	}
	u := &Users{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(u); err != nil {
		return nil, fmt.Errorf("is not a file of users: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more text after the users")
	}
	return u, u.validate()
}

// validate returns what is wrong with the users, or nil.
func (u *Users) validate() error {
	seen := nameSet{}
	for _, user := range u.Users {
		if err := seen.add(user.Name, user.Role); err != nil {
			return err
		}
		if err := checkHash(user.Password); err != nil {
			return fmt.Errorf("has a bad password for %q: %w", check.Shorten(user.Name), err)
		}
	}
	for _, token := range u.Tokens {
		if err := seen.add(token.Name, token.Role); err != nil {
			return err
		}
		if sum, err := hex.DecodeString(token.SHA256); err != nil || len(sum) != sha256.Size {
			return fmt.Errorf("has a bad sha256 for the token %q", check.Shorten(token.Name))
		}
	}
	return nil
}

// nameSet has the names of users and tokens that were read.
type nameSet map[string]bool

// add adds a name, and checks it and its role.
func (s nameSet) add(name string, role Role) error {
	if err := check.Name("name", name); err != nil {
		return err
	}
	if s[name] {
		return fmt.Errorf("has the name %q twice", check.Shorten(name))
	}
	s[name] = true
	if role < Viewer || role > Admin {
		return fmt.Errorf("has no role for %q", check.Shorten(name))
	}
	return nil
}

// Write replaces the file of users in one step. Only its owner may read it.
func (u *Users) Write(path string) error {
	if u.Users == nil {
		u.Users = []User{}
	}
	if u.Tokens == nil {
		u.Tokens = []Token{}
	}
	text, err := json.MarshalIndent(u, "", "  ")
	if err != nil {
		return fmt.Errorf("write the users: %w", err)
	}
	if err := replaceFile(path, append(text, '\n')); err != nil {
		return fmt.Errorf("write the users: %w", err)
	}
	return nil
}

// replaceFile writes a file beside path and renames it, so that readers see the old
// content or the new content.
func replaceFile(path string, text []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	if _, err = file.Write(text); err != nil {
		return err
	}
	if err = file.Sync(); err != nil {
		return err
	}
	if err = file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Put adds a user, or replaces the password and the role of the user with that name.
// The error is a *check.FieldError.
func (u *Users) Put(name string, role Role, password string) error {
	if err := check.Name("NAME", name); err != nil {
		return err
	}
	if slices.ContainsFunc(u.Tokens, func(t Token) bool { return t.Name == name }) {
		return taken(name, "a token")
	}
	hash, err := hashPassword(password)
	if err != nil {
		return err
	}
	put := User{Name: name, Role: role, Password: hash}
	if i := u.find(name); i >= 0 {
		u.Users[i] = put
	} else {
		u.Users = append(u.Users, put)
	}
	return nil
}

// find returns the index of a user; -1: there is none.
func (u *Users) find(name string) int {
	return slices.IndexFunc(u.Users, func(user User) bool { return user.Name == name })
}

func taken(name, by string) error {
	return &check.FieldError{Field: "NAME", Value: check.Shorten(name), Problem: "is the name of " + by, Remedy: "use another name, or remove " + by}
}

// tokenPrefix lets people and scanners recognise a token.
const tokenPrefix = "hourbell_"

// AddToken adds a token and returns its text, which is not stored. expires is zero
// for a token that does not expire. The error is a *check.FieldError.
func (u *Users) AddToken(name string, role Role, now, expires time.Time) (text string, err error) {
	if err := check.Name("NAME", name); err != nil {
		return "", err
	}
	if u.find(name) >= 0 {
		return "", taken(name, "a user")
	}
	if slices.ContainsFunc(u.Tokens, func(t Token) bool { return t.Name == name }) {
		return "", taken(name, "a token")
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	text = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	u.Tokens = append(u.Tokens, Token{
		Name: name, Role: role, SHA256: digest(text),
		Created: now.UTC().Truncate(time.Second), Expires: expires.UTC().Truncate(time.Second),
	})
	return text, nil
}

// digest returns the SHA-256 of a text in hexadecimal digits. Tokens have 256 random
// bits, so a slow hash would not make them safer.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Remove removes the user or the token with that name; found reports whether there
// was any.
func (u *Users) Remove(name string) (found bool) {
	before := len(u.Users) + len(u.Tokens)
	u.Users = slices.DeleteFunc(u.Users, func(user User) bool { return user.Name == name })
	u.Tokens = slices.DeleteFunc(u.Tokens, func(t Token) bool { return t.Name == name })
	return len(u.Users)+len(u.Tokens) < before
}

// Entry is a user or a token as it is listed, without its hash.
type Entry struct {
	Name    string
	Type    string // user or token
	Role    Role
	Created time.Time // zero for users
	Expires time.Time // zero: never
}

// Entries returns all users and tokens by name.
func (u *Users) Entries() []Entry {
	var entries []Entry
	for _, user := range u.Users {
		entries = append(entries, Entry{Name: user.Name, Type: "user", Role: user.Role})
	}
	for _, t := range u.Tokens {
		entries = append(entries, Entry{Name: t.Name, Type: "token", Role: t.Role, Created: t.Created, Expires: t.Expires})
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries
}

// EditUsers reads the file of users, which need not exist, changes it, and writes it,
// unless change returns an error.
func EditUsers(path string, change func(*Users) error) error {
	u, err := ReadUsers(path)
	if errors.Is(err, fs.ErrNotExist) {
		u, err = &Users{}, nil
	}
	if err != nil {
		return err
	}
	if err := change(u); err != nil {
		return err
	}
	return u.Write(path)
}
