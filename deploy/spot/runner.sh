#!/usr/bin/env bash
# User data of a spot machine that runs one job and is gone; docs/runners.md says how it is filled in and started.
# The machine's image brings NVIDIA's driver. Runs as root, the job as a user who can't become it.
set -euo pipefail

jitconfig='@JITCONFIG@' # good for one registration and one job
version='@VERSION@'     # of the runner, 2.336.0
sha256='@SHA256@'       # of its archive, from the release's page
longest_min=45

# Whatever happens, and when nothing does: a machine that waits costs as much as one that works.
trap 'shutdown -h now' EXIT
shutdown -h "+$longest_min"

archive=actions-runner-linux-x64-$version.tar.gz
useradd --create-home --home-dir /srv/runner --shell /bin/bash runner
cd /srv/runner
curl --fail --silent --show-error --location --retry 3 --output "$archive" \
  "https://github.com/actions/runner/releases/download/v$version/$archive"
echo "$sha256  $archive" | sha256sum --check --quiet
tar --extract --gzip --file "$archive"
./bin/installdependencies.sh
chown --recursive runner: /srv/runner
nvidia-smi --persistence-mode=1
sudo --user=runner --login /srv/runner/run.sh --jitconfig "$jitconfig"
