# go get takes the modules of this repository in place of published ones, and go run goes on in the background.
go() {
	case $1 in
	get) command go work init . "$REPOSITORY" "$REPOSITORY/drivers/sqlite" ;;
	mod) [ "$2" = tidy ] || command go "$@" ;;
	run) command go build -o ../greet . && background "everybody" ../greet ;;
	esac
}
