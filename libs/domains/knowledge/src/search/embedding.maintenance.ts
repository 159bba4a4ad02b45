import { Injectable } from '@nestjs/common';
import { Database, NO_CALLER } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { uuidv7 } from 'uuidv7';
import { Embedder } from './embedder';
import { VectorsRepository, type Unembedded } from './vectors.repository';

/** Pieces that a call embeds. */
const AT_ONCE = 64;
/** After so long it is tried again whether a gate is open, or the provider answers. */
const RETRY_S = 60;
/** A source that takes longer is gone on with by whoever takes it up next. */
const WORK_MS = 4 * 60_000;

/**
 * Gives pieces the vectors that they have not: those of new sources, those that a closed gate or an absent provider has kept from it, and all
 * of them where another model is named. One that dies leaves what it has stored; the next goes on with the rest.
 */
@Injectable()
export class Embedding {
  constructor(
    private readonly db: Database,
    private readonly embedder: Embedder,
    private readonly vectors: VectorsRepository,
    maintenance: Maintenance,
  ) {
    maintenance.register({ name: 'knowledge_vectors', everyS: 5, batch: 1, run: () => this.embedNext() });
  }

  /** @returns how many sources were taken up */
  async embedNext(): Promise<number> {
    const named = await this.embedder.named();
    const source = named === null ? null : await this.vectors.claim(this.db, named);
    if (!source) return 0;
    const done = await this.embed(source, named!);
    if (!done) await this.vectors.putOff(this.db, source.id, RETRY_S);
    return 1;
  }

  /** @returns whether it has all its vectors now */
  private async embed(source: Unembedded, named: string): Promise<boolean> {
    const model = await this.embedder.model(source.org_id);
    if (!model) return false;
    const signal = AbortSignal.timeout(WORK_MS);
    for (;;) {
      const pieces = await this.vectors.lacking(this.db, source.id, model.space, AT_ONCE);
      if (!pieces.length) break;
      const texts = pieces.map(({ heading_path, content }) => [...heading_path, content].join('\n'));
      const work = { orgId: source.org_id, name: `embedding:${source.id}:${uuidv7()}` };
      if (!(await this.embedder.embed(work, model, texts, signal, (tx, found) => this.vectors.store(tx, model.space, pieces, found))))
        return false;
    }
    await this.db.transaction(NO_CALLER, (tx) => this.vectors.done(tx, source, model.space, named));
    return true;
  }
}
