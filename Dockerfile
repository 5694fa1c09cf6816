# An image with ferry, for example for the pods of `ferry shard --engine kubernetes` (docs/commands/shard.md):
#
#   docker build --tag registry.example.com/ferry:1 .

FROM docker.io/library/swift:6.2-bookworm AS build
WORKDIR /source
COPY . .
RUN scripts/setup build \
 && swift build --configuration release --static-swift-stdlib --product ferry \
 && install "$(swift build --configuration release --static-swift-stdlib --show-bin-path)/ferry" /usr/local/bin/ferry

FROM docker.io/library/debian:bookworm-slim
# The versions are those of the Debian release, which gets only security fixes.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
      ca-certificates libcurl4 libexpat1 libpcre2-8-0 libsqlite3-0 libssl3 libyaml-0-2 tzdata zlib1g \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=65532 --group=65532 /var/lib/ferry
COPY --from=build /usr/local/bin/ferry /usr/local/bin/ferry
ENV HOME=/var/lib/ferry
# As a number, so that Kubernetes can verify that it is not root.
USER 65532:65532
ENTRYPOINT ["ferry"]
