echo correct-horse-battery >password.txt
go run "$(go env GOROOT)/src/crypto/tls/generate_cert.go" --host localhost --ecdsa-curve P256
