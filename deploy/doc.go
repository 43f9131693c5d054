// Package deploy checks what is needed to install Hourbell: its tests decode the manifests as Kubernetes does, try the
// flags in all files, and install, run, upgrade and remove the packages that scripts/release has built.
package deploy
