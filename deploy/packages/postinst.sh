#!/bin/sh
# Runs after the files were installed: "configure" of a deb; of an rpm "1" for the first installation, and more for an upgrade.
set -e
case $1 in
configure | [1-9]*) ;;
*) exit 0 ;;
esac

if ! getent passwd hourbell >/dev/null; then
	useradd --system --user-group --no-create-home --home-dir /var/lib/hourbell --shell /usr/sbin/nologin hourbell
fi
command -v systemctl >/dev/null || exit 0
systemctl daemon-reload || true # fails in a container
if systemctl is-active --quiet hourbell.service; then
	# The node replaces its program in place: running commands go on.
	systemctl kill --kill-who=main --signal=SIGUSR2 hourbell.service || true
elif [ "$1" = 1 ] || [ -z "$2" ]; then
	echo "hourbell is installed, and not started. To start it now and at each boot: systemctl enable --now hourbell"
fi
