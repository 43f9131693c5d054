#!/bin/sh
# Runs after the files were removed: "remove" and then "purge" of a deb, "0" of an rpm. Only "purge" removes the store, the
# settings and the user; after the removal of an rpm they stay.
set -e
case $1 in
remove | 0)
	if command -v systemctl >/dev/null; then
		systemctl daemon-reload || true # fails in a container
	fi
	;;
purge)
	rm -rf /var/lib/hourbell /etc/hourbell /etc/default/hourbell /etc/systemd/system/hourbell.service.d
	if getent passwd hourbell >/dev/null; then
		userdel hourbell
	fi
	if getent group hourbell >/dev/null; then
		groupdel hourbell
	fi
	;;
esac
