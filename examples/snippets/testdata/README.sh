ln -s "$REPOSITORY/examples" examples
mkdir -p srv/cluster.d etc/cron.d
echo '30 2 * * *  root  /usr/local/bin/backup' >srv/cluster.d/backup
echo '17 * * * *  root  true' | tee etc/crontab >etc/cron.d/hourly
echo '*/5 * * * *  true' >tab
echo 'schedules: [{name: a, every: 1h, shell: "true"}]' >schedules.yaml

# go runs the program that is built already.
go() {
	[ "$1 $2" = "run ./cmd/hourbell" ]
	hourbell "${@:3}"
}
