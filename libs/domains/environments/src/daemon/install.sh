#!/bin/sh
# Installs the daemon of a remote machine, for the user who runs this, and starts it:
#   curl -fsSL <this> | APS_DAEMON_TOKEN=aed_… sh
# To remove it: systemctl --user disable --now aps-daemon (or kill "$(cat ~/.aps-daemon/pid)"), then rm -r ~/.aps-daemon
set -eu

API_URL=@API_URL@
DIR="${APS_DAEMON_DIR:-$HOME/.aps-daemon}"

say() { printf '%s\n' "aps-daemon: $*"; }
fail() {
  say "$*" >&2
  exit 1
}

[ -n "${APS_DAEMON_TOKEN:-}" ] || fail 'APS_DAEMON_TOKEN is not set: it is the token of the environment.'
NODE=$(command -v node) || fail 'Node.js 18 or newer is needed, and there is no node in the PATH.'
[ "$("$NODE" -p 'process.versions.node.split(".")[0]')" -ge 18 ] || fail "Node.js 18 or newer is needed; $NODE is $("$NODE" -v)."

umask 077
mkdir -p "$DIR"
curl -fsSL "$API_URL/api/daemon/daemon.mjs" -o "$DIR/daemon.mjs.new" || fail "The daemon cannot be downloaded from $API_URL."
mv "$DIR/daemon.mjs.new" "$DIR/daemon.mjs"
printf '%s\n' "$APS_DAEMON_TOKEN" >"$DIR/token"
chmod 600 "$DIR/token"
printf '%s\n' "$API_URL" >"$DIR/url"
unset APS_DAEMON_TOKEN
say "Installed in $DIR."

if command -v systemctl >/dev/null 2>&1 && systemctl --user show-environment >/dev/null 2>&1; then
  UNITS="${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user"
  mkdir -p "$UNITS"
  cat >"$UNITS/aps-daemon.service" <<EOF
[Unit]
Description=Takes commands of agents
StartLimitIntervalSec=0

[Service]
ExecStart="$NODE" "$DIR/daemon.mjs"
Environment="APS_DAEMON_DIR=$DIR" "PATH=$PATH"
Restart=always
RestartSec=5
RestartPreventExitStatus=77

[Install]
WantedBy=default.target
EOF
  systemctl --user daemon-reload
  systemctl --user enable aps-daemon.service
  systemctl --user restart aps-daemon.service
  say 'Runs as the systemd user service aps-daemon; journalctl --user -u aps-daemon shows what it says.'
  loginctl enable-linger >/dev/null 2>&1 || say 'It ends when you log out: "loginctl enable-linger", as root for your user, keeps it running.'
else
  if [ -f "$DIR/pid" ]; then kill "$(cat "$DIR/pid")" 2>/dev/null || :; fi
  APS_DAEMON_DIR="$DIR" nohup "$NODE" "$DIR/daemon.mjs" >>"$DIR/daemon.log" 2>&1 </dev/null &
  echo $! >"$DIR/pid"
  say "Runs in the background as process $!; $DIR/daemon.log is what it says. It does not start again with the machine."
fi
