/** What the cluster tells every pod of itself, and is no business of commands. */
const TOLD = [
  'SERVICE_HOST',
  'SERVICE_PORT',
  'SERVICE_PORT_HTTPS',
  'PORT',
  'PORT_443_TCP',
  'PORT_443_TCP_PROTO',
  'PORT_443_TCP_PORT',
  'PORT_443_TCP_ADDR',
];

/**
 * What runs a command in a pod: it says the line $1 on both outputs, goes to the folder $2 and runs the rest, which reads $3 bytes: the way there
 * does not tell where what is written to a command ends. What the command has left in its session is ended with it: it would keep the outputs open.
 *
 * The number of processes is bounded only in a user namespace of the pod's own: elsewhere the kernel counts those of all pods of the node together,
 * as they have the same user.
 */
const FIRST = `
printf '%s\\n' "$1"; printf '%s\\n' "$1" >&2
cd -- "$2" || exit 1
bytes=$3; shift 3
unset ${TOLD.map((name) => `KUBERNETES_${name}`).join(' ')}
exec 3>&2 2>/dev/null
ulimit -c 0
read -r _ _ users </proc/self/uid_map
[ "\${users:-4294967295}" = 4294967295 ] || ulimit -u 256 || ulimit -p 256
if [ "$bytes" = 0 ]; then (exec "$@" 2>&3 3>&- </dev/null)
else head -c "$bytes" | (exec "$@" 2>&3 3>&-); fi
code=$?
for each in /proc/[0-9]*/stat; do
  read -r line <"$each" || continue
  set -- \${line##*) }
  pid=\${each#/proc/}; pid=\${pid%/stat}
  [ "$4" != $$ ] || [ "$pid" = $$ ] || kill -KILL "$pid"
done
exit $code`;

/**
 * @param key of this run alone
 * @param bytes that the command reads
 */
export const first = (key: string, workdir: string, bytes: number, argv: readonly string[]): string[] => [
  ...['sh', '-c', FIRST, 'sh', key, workdir, String(bytes)],
  ...argv,
];
