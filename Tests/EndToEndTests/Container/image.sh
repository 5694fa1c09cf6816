#!/bin/bash
# Builds the image of the Dockerfile without a registry, and runs commands in it.
#
# usage: image.sh FOLDER build DOCKERFILE FERRY
#        image.sh FOLDER inspect
#        image.sh FOLDER run [BUILDAH_OPTION]… -- COMMAND…
#
# mmdebstrap makes the base of the last stage from Debian's packages. The first stage, which compiles ferry, is replaced by
# one that contains FERRY. Exits with 77 if Debian's packages cannot be downloaded.
set -euo pipefail

folder=$1 action=$2
shift 2
# The kernel does not put one overlay on another.
driver=overlay
[[ $(stat --file-system --format %T "$folder") != overlayfs ]] || driver=vfs
buildah=(buildah --root "$folder/images" --runroot "$folder/run" --storage-driver "$driver")
export BUILDAH_ISOLATION=chroot

case "$action" in
  build)
    # The names of both are those in the Dockerfile.
    base=$(sed -n 's/^FROM \([^ ]*\)$/\1/p' "$1")
    release=${base##*:}
    mmdebstrap --quiet --variant=minbase "${release%-slim}" "$folder/base.tar" >&2 || exit 77
    container=$("${buildah[@]}" from scratch)
    "${buildah[@]}" add --quiet "$container" "$folder/base.tar" / >&2
    "${buildah[@]}" commit --quiet "$container" "$base" >&2
    "${buildah[@]}" rm "$container" >&2
    rm "$folder/base.tar"
    mkdir "$folder/context"
    cp "$2" "$folder/context/ferry"
    {
      printf 'FROM scratch AS build\nCOPY ferry /usr/local/bin/ferry\n'
      sed -n "\\|^FROM $base\$|,\$p" "$1"
    } >"$folder/context/Dockerfile"
    "${buildah[@]}" build --pull-never --tag ferry:test "$folder/context" >&2
    "${buildah[@]}" from --quiet --name ferry-test ferry:test >&2
    ;;
  inspect) "${buildah[@]}" inspect --type image ferry:test ;;
  run)
    options=()
    while [[ $1 != -- ]]; do options+=("$1"); shift; done
    "${buildah[@]}" run "${options[@]}" ferry-test "$@"
    ;;
esac
