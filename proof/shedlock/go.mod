module github.com/hourbell/hourbell/proof/shedlock

go 1.26.0

require (
	github.com/hourbell/hourbell v0.0.0
	github.com/hourbell/hourbell/drivers/mongodb v0.0.0
	github.com/hourbell/hourbell/drivers/mysql v0.0.0
	github.com/hourbell/hourbell/drivers/postgres v0.0.0
	github.com/hourbell/hourbell/drivers/redis v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/go-sql-driver/mysql v1.10.1 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/redis/go-redis/v9 v9.23.0 // indirect
	github.com/xdg-go/pbkdf2 v1.0.0 // indirect
	github.com/xdg-go/scram v1.2.0 // indirect
	github.com/xdg-go/stringprep v1.0.4 // indirect
	github.com/youmark/pkcs8 v0.0.0-20240726163527-a2c0da244d78 // indirect
	go.mongodb.org/mongo-driver/v2 v2.9.3 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/crypto v0.53.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace (
	github.com/hourbell/hourbell => ../..
	github.com/hourbell/hourbell/drivers/mongodb => ../../drivers/mongodb
	github.com/hourbell/hourbell/drivers/mysql => ../../drivers/mysql
	github.com/hourbell/hourbell/drivers/postgres => ../../drivers/postgres
	github.com/hourbell/hourbell/drivers/redis => ../../drivers/redis
)
