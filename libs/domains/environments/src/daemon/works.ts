import { readdir, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { Link } from './link';
import { Work, type Wanted } from './work';
import { Workspace } from './workspace';

/** As many as the other side hands out to one machine. */
const MOST = 8;
/** What a command came to may be lost with a connection; it is told again by the next one for so long, milliseconds. */
const TOLD_AGAIN_MS = 60_000;
const IDLE_MS = 7 * 86_400_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What is done here. It goes on while connections come and go. */
export class Works {
  private readonly all = new Map<string, Work>();
  private link: Link | undefined;

  /** @param folder where workspaces are */
  constructor(private readonly folder: string) {}

  get ids(): string[] {
    return [...this.all.keys()];
  }

  get hasRoom(): boolean {
    return [...this.all.values()].filter(({ end }) => !end).length < MOST;
  }

  /** It is being done. */
  isAt(id: string): boolean {
    const work = this.all.get(id);
    return work !== undefined && !work.end;
  }

  /** From now on it is told by this link, and all that is there from its beginning. */
  tellBy(link: Link): void {
    this.link = link;
    for (const work of this.all.values()) {
      work.stdout.rewind();
      work.stderr.rewind();
      link.tell(work);
    }
  }

  start(wanted: Wanted): void {
    if (this.all.has(wanted.id) || !UUID.test(wanted.workspace)) return;
    const place = path.join(this.folder, wanted.workspace);
    const work = new Work(wanted, new Workspace(place), (changed) => this.tell(changed));
    this.all.set(wanted.id, work);
    // When it was used last; one that is not there yet is made now.
    void utimes(place, new Date(), new Date()).catch(() => undefined);
    void work.run();
  }

  /** Removes the files of chats that have run nothing here for a week. */
  async removeIdle(): Promise<void> {
    const used = new Set([...this.all.values()].map(({ wanted }) => wanted.workspace));
    for (const name of await readdir(this.folder).catch(() => [])) {
      const place = path.join(this.folder, name);
      if (!UUID.test(name) || used.has(name)) continue;
      if (Date.now() - (await stat(place)).mtimeMs > IDLE_MS) await rm(place, { recursive: true, force: true });
    }
  }

  /** Nobody wants it any more. */
  cancel(id: string): void {
    this.all.get(id)?.cancel();
    this.all.delete(id);
  }

  cancelAll(): void {
    for (const id of this.ids) this.cancel(id);
  }

  private tell(work: Work): void {
    if (work.isCancelled) return;
    this.link?.tell(work);
    if (work.end) setTimeout(() => this.all.delete(work.wanted.id), TOLD_AGAIN_MS).unref();
  }
}
