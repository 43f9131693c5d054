#!/bin/sh
# Runs before the files are removed: "remove" of a deb, "0" of an rpm. An upgrade stops nothing.
set -e
case $1 in
remove | 0) ;;
*) exit 0 ;;
esac

if command -v systemctl >/dev/null; then
	systemctl disable --now hourbell.service || true # fails in a container
fi
