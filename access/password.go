package access

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"

	"github.com/hourbell/hourbell/check"
)

// The sizes of passwords in bytes, and the cost of a new hash: 19 MiB of memory, two
// passes, one thread.
const (
	minPassword  = 8
	maxPassword  = 1024
	argonMemory  = 19 << 10 // KiB
	argonPasses  = 2
	argonThreads = 1
	argonSalt    = 16
	argonKey     = 32
)

// hashPassword returns the argon2id hash of a password, in the usual text form.
func hashPassword(password string) (string, error) {
	remedy := ""
	switch {
	case len(password) < minPassword:
		remedy = fmt.Sprintf("use at least %d bytes", minPassword)
	case len(password) > maxPassword:
		remedy = fmt.Sprintf("use at most %d bytes", maxPassword)
	}
	if remedy != "" {
		return "", &check.FieldError{Field: "password", Problem: fmt.Sprintf("has a length of %d", len(password)), Remedy: remedy}
	}
	salt := make([]byte, argonSalt)
	rand.Read(salt)
	hash := argonHash{memory: argonMemory, passes: argonPasses, threads: argonThreads, salt: salt}
	hash.key = hash.of(password, argonKey)
	return hash.String(), nil
}

// checkHash reports what is wrong with a stored hash of a password, or nil.
func checkHash(text string) error {
	if isBcrypt(text) {
		_, err := bcrypt.Cost([]byte(text))
		return err
	}
	_, err := parseArgon(text)
	return err
}

// verifyPassword reports whether a password has the stored hash, argon2id or bcrypt.
func verifyPassword(text, password string) bool {
	if len(password) > maxPassword {
		return false
	}
	if isBcrypt(text) {
		return bcrypt.CompareHashAndPassword([]byte(text), []byte(password)) == nil
	}
	hash, err := parseArgon(text)
	if err != nil {
		return false
	}
	return subtle.ConstantTimeCompare(hash.of(password, uint32(len(hash.key))), hash.key) == 1
}

func isBcrypt(text string) bool { return strings.HasPrefix(text, "$2") }

// argonHash is a hash with its parameters; memory is in KiB.
type argonHash struct {
	memory, passes uint32
	threads        uint8
	salt, key      []byte
}

func (h argonHash) of(password string, size uint32) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.passes, h.memory, h.threads, size)
}

func (h argonHash) String() string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.passes, h.threads, encode(h.salt), encode(h.key))
}

// The greatest parameters that are accepted, so that a line of the file cannot use up
// the memory of the node.
const (
	mostMemory  = 256 << 10 // KiB
	mostPasses  = 20
	mostThreads = 16
)

var errHash = errors.New("is neither an argon2id nor a bcrypt hash")

func parseArgon(text string) (h argonHash, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || !slices.Equal(parts[:3], []string{"", "argon2id", fmt.Sprintf("v=%d", argon2.Version)}) {
		return h, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.passes, &h.threads); err != nil {
		return h, errHash
	}
	if !h.inRange() {
		return h, fmt.Errorf("has parameters out of range: %s", parts[3])
	}
	if h.salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil || len(h.salt) < 8 {
		return h, errHash
	}
	if h.key, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(h.key) < 16 || len(h.key) > 128 {
		return h, errHash
	}
	return h, nil
}

// inRange reports whether the parameters are in the range that is accepted.
func (h argonHash) inRange() bool {
	return h.memory >= 8 && h.memory <= mostMemory && h.passes >= 1 && h.passes <= mostPasses && h.threads >= 1 && h.threads <= mostThreads
}
