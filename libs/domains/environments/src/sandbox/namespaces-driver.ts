import { bounded, environment, ETC, first, GROUP, hidden, onOneCpu, PASSWD, PATH, started, SYSTEM, USER, withOnly } from './launch';
import { LIMITS } from './limits';
import { LocalDriver, type Launch } from './local-driver';
import { killTree } from './processes';
import { WORKSPACE, type CommandOutput, type SandboxCommand } from './sandbox-driver';

/**
 * Makes what a command sees, as root of a user namespace that nobody else is in: $1 … are folders that stay hidden, and what follows `--` is run there,
 * in a user namespace below, in which nobody is root and no further one can be made. It is started in the workspace, which it finds by that alone:
 * who we are by now may not be able to go there by its path.
 */
const MAKE = `
set -e
root=/tmp
mount -t tmpfs -o mode=755,size=16m,nosuid,nodev sandbox "$root"
for each in ${SYSTEM.join(' ')}; do
  if [ -L "$each" ]; then ln -s "$(readlink "$each")" "$root$each"
  elif [ -d "$each" ]; then mkdir "$root$each"; mount --rbind "$each" "$root$each"; fi
done
mounts=$(cat /proc/self/mountinfo)
while read -r _ _ _ _ point options _; do
  case "$point" in "$root"/*) ! [ -e "$point" ] || mount -o "remount,bind,$options,ro,nosuid,nodev" "$point" ;; esac
done <<MOUNTS
$mounts
MOUNTS
while [ "$1" != -- ]; do
  ! [ -d "$root$1" ] || mount -t tmpfs -o ro,size=4k hidden "$root$1"
  shift
done
shift
mkdir "$root/dev" "$root/dev/shm" "$root/etc" "$root/proc" "$root/tmp" "$root${WORKSPACE}" "$root/old"
mount -c --bind . "$root${WORKSPACE}"
mount -o remount,bind,nosuid,nodev "$root${WORKSPACE}"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o mode=1777,size=${LIMITS.temporaryBytes},nosuid,nodev temporary "$root/tmp"
mount -t tmpfs -o mode=1777,size=${LIMITS.sharedBytes},nosuid,nodev shared "$root/dev/shm"
for each in null zero full random urandom tty; do
  : >"$root/dev/$each"
  mount --bind "/dev/$each" "$root/dev/$each"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
for each in ${ETC.join(' ')}; do
  [ -e "$each" ] || continue
  mkdir -p "$root\${each%/*}"
  cp -dR "$each" "$root$each"
done
printf %s '${PASSWD}' >"$root/etc/passwd"
printf %s '${GROUP}' >"$root/etc/group"
echo 127.0.0.1 localhost >"$root/etc/hosts"
hostname sandbox 2>/dev/null || :
echo 1 >/proc/sys/user/max_user_namespaces
ip link set lo up 2>/dev/null || :
cd "$root"
pivot_root . old
umount -l /old
rmdir /old
mount -o remount,bind,ro /
exec unshare --user --map-user=${USER.uid} --map-group=${USER.gid} --keep-caps -- "$@"`;

const NAMESPACES = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child', '--net', '--uts', '--ipc', '--cgroup'];
const WITHOUT_PRIVILEGES = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all', '--'];

/** Namespaces of the kernel, by the programs of util-linux alone. */
export class NamespacesDriver extends LocalDriver {
  readonly name = 'namespaces';
  readonly isolation = 'namespaces';
  protected readonly failure =
    'Namespaces cannot be made here: the kernel does not let users have their own, or programs of util-linux are missing.';

  protected launch(
    command: SandboxCommand,
    key: string,
    _files: string,
    run: (launch: Launch) => Promise<CommandOutput>,
  ): Promise<CommandOutput> {
    const make = ['unshare', ...NAMESPACES, '--', 'sh', '-c', MAKE, 'sh', ...hidden(), '--'];
    const inside = [
      'setpriv',
      ...WITHOUT_PRIVILEGES,
      ...bounded(),
      ...first(key, command.workdir, [...withOnly(environment()), ...command.argv]),
    ];
    return onOneCpu((cpu) => run({ argv: [...started(cpu), ...make, ...inside], env: { PATH }, kill: killTree }));
  }
}
