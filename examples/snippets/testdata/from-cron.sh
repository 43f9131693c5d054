mkdir etc
echo '17 3 * * 1  root  true' >etc/crontab
