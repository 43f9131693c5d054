module github.com/hourbell/hourbell/cmd/hourbell

go 1.26.0

require (
	github.com/creack/pty v1.1.24
	github.com/go-sql-driver/mysql v1.10.1
	github.com/goccy/go-yaml v1.19.2
	github.com/hourbell/hourbell v0.0.0
	github.com/hourbell/hourbell/access v0.0.0
	github.com/hourbell/hourbell/api v0.0.0
	github.com/hourbell/hourbell/dashboard v0.0.0
	github.com/hourbell/hourbell/drivers/mongodb v0.0.0
	github.com/hourbell/hourbell/drivers/mysql v0.0.0
	github.com/hourbell/hourbell/drivers/postgres v0.0.0
	github.com/hourbell/hourbell/drivers/redis v0.0.0
	github.com/hourbell/hourbell/drivers/sqlite v0.0.0
	github.com/hourbell/hourbell/observe/prometheus v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/jedib0t/go-pretty/v6 v6.8.3
	github.com/prometheus/client_golang v1.25.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.10
	golang.org/x/sys v0.48.0
	golang.org/x/term v0.46.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/danielgtaylor/huma/v2 v2.37.2 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-runewidth v0.0.20 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/redis/go-redis/v9 v9.23.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/xdg-go/pbkdf2 v1.0.0 // indirect
	github.com/xdg-go/scram v1.2.0 // indirect
	github.com/xdg-go/stringprep v1.0.4 // indirect
	github.com/youmark/pkcs8 v0.0.0-20240726163527-a2c0da244d78 // indirect
	go.mongodb.org/mongo-driver/v2 v2.9.3 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.53.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.60.1 // indirect
)

replace github.com/hourbell/hourbell => ../..

replace github.com/hourbell/hourbell/drivers/sqlite => ../../drivers/sqlite

replace github.com/hourbell/hourbell/drivers/postgres => ../../drivers/postgres

replace github.com/hourbell/hourbell/drivers/mysql => ../../drivers/mysql

replace github.com/hourbell/hourbell/drivers/redis => ../../drivers/redis

replace github.com/hourbell/hourbell/drivers/mongodb => ../../drivers/mongodb

replace github.com/hourbell/hourbell/access => ../../access

replace github.com/hourbell/hourbell/dashboard => ../../dashboard

replace github.com/hourbell/hourbell/api => ../../api

replace github.com/hourbell/hourbell/observe/prometheus => ../../observe/prometheus
