module github.com/hourbell/hourbell/examples

go 1.26.0

require (
	github.com/hourbell/hourbell v0.0.0
	github.com/hourbell/hourbell/access v0.0.0
	github.com/hourbell/hourbell/api v0.0.0
	github.com/hourbell/hourbell/drivers/postgres v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
	gorm.io/driver/postgres v1.6.3
	gorm.io/gorm v1.31.2
)

require (
	github.com/danielgtaylor/huma/v2 v2.37.2 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/jinzhu/inflection v1.0.0 // indirect
	github.com/jinzhu/now v1.1.5 // indirect
	golang.org/x/crypto v0.53.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

replace (
	github.com/hourbell/hourbell => ..
	github.com/hourbell/hourbell/access => ../access
	github.com/hourbell/hourbell/api => ../api
	github.com/hourbell/hourbell/drivers/postgres => ../drivers/postgres
)
