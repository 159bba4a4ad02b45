import path from 'node:path/posix';
import type { Archive } from './archive';
import { readXml } from './xml';

export interface Relation {
  type: string;
  target: string;
}

/** What a part of an office document refers to within it, by id; what it refers to elsewhere is left alone. */
export async function relationsOf(archive: Archive, part: string): Promise<Map<string, Relation>> {
  const relations = new Map<string, Relation>();
  const { dir, base } = path.parse(part);
  await readXml(archive.read(`${dir}/_rels/${base}.rels`), {
    opened: (name, attribute) => {
      const [id, target] = [attribute('Id'), attribute('Target')];
      if (name !== 'Relationship' || !id || !target || attribute('TargetMode') === 'External') return;
      relations.set(id, { type: attribute('Type')?.split('/').at(-1) ?? '', target: path.join('/', dir, target).slice(1) });
      if (target.startsWith('/')) relations.get(id)!.target = target.slice(1);
    },
  });
  return relations;
}

/** As the properties of an office document say. */
export async function titleOf(archive: Archive): Promise<string | null> {
  let title = '';
  let within = false;
  await readXml(archive.read('docProps/core.xml'), {
    opened: (name) => (within = name === 'title'),
    closed: () => (within = false),
    text: (text) => {
      if (within) title += text;
    },
  });
  return title.trim() || null;
}
