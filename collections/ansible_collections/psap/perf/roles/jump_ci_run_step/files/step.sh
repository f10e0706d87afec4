# Runs the step in its container. The secrets are read from standard input, a name and a value in base64 in each line,
# and written to files that only their user can read.
umask 077
while read -r name value; do
  echo "$value" | base64 -d > "$PERF_SECRETS_DIR/$name" || exit 125
done
umask 022
# all output goes to one log
exec "$@" 2>&1
