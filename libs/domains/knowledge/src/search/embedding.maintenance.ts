import { Injectable, Logger } from '@nestjs/common';
import { NIL_UUID } from '@aps/entities';
import { Places } from '@aps/platform/children';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { counter } from '@aps/platform/observability';
import { uuidv7 } from 'uuidv7';
import { Embedder, REFUSED, type EmbeddingModel } from './embedder';
import { OwnModel } from './own-model.policy';
import { OwnModels, textOf } from './own-models.repository';
import { VectorsRepository, type ClaimedSource, type OtherIndex, type Piece, type Target, type Waiting } from './vectors.repository';

/** Pieces that a call embeds. */
const AT_ONCE = 64;
/** A provider that takes longer for them does not answer. */
const CALL_MS = 30_000;
/** With less left of a claim no call is begun: somebody else could take the source up, and pay for the same texts, before it is stored what it has said. */
const LAST_CALL_MS = 2 * CALL_MS;
/** An organization that has had so long makes room for the next, and goes on when its turn comes again. */
const TURN_MS = 20_000;
/** Organizations that have their turn at once, and those that are looked for at once. */
const TURNS = 4;
const LOOKED_FOR = 100;
/** After so long it is tried again whether a gate is open, or the provider answers. */
const REST_MS = 60_000;
/** Indexes that are looked at together, of those that bases are not searched by. */
const INDEXES = 100;
/** Characters of a text for each token that a model has room for; most texts have more. */
const OF_A_TOKEN = 3;
/** Of a text that is refused, beginnings are tried down to so many characters. */
const SHORTEST = 100;
/** What no provider refuses that takes anything. */
const HARMLESS = 'text';

const without = counter(
  'knowledge_pieces_refused_total',
  'Pieces that no vector is made of, since the provider takes none of their text',
  [],
);

/**
 * Gives pieces the vectors that they have not: those of new sources, those that a closed gate or an absent provider has kept from it, and all
 * of them where another model is named. Organizations take turns. One that dies leaves what it has stored; the next goes on with the rest.
 */
@Injectable()
export class Embedding {
  private readonly logger = new Logger('Embedding');
  private readonly places = new Places<never>(TURNS);
  private readonly restMs = REST_MS;
  /** Organizations whose gate is closed, or whose provider does not answer, and until when nobody tries. */
  private readonly resting = new Map<string, number>();
  private readonly unlearnt = new Set<string>();

  constructor(
    private readonly db: Database,
    private readonly embedder: Embedder,
    private readonly vectors: VectorsRepository,
    private readonly own: OwnModels,
    maintenance: Maintenance,
  ) {
    maintenance.register({ name: 'knowledge_own_models', everyS: 60, batch: 1, run: () => this.learnNext() });
    maintenance.register({ name: 'knowledge_vectors', everyS: 5, batch: 1, run: () => this.embedNext() });
    maintenance.register({ name: 'knowledge_indexes', everyS: 60, batch: INDEXES, run: () => this.tidy() });
  }

  /** Gives each organization that has something to do its turn. @returns how many got on */
  async embedNext(): Promise<number> {
    const target = await this.target();
    for (const [orgId, until] of this.resting) if (until <= performance.now()) this.resting.delete(orgId);
    const waiting = await this.vectors.waiting(this.db, target, [...this.resting.keys()], LOOKED_FOR);
    const turns = await Promise.allSettled(waiting.map((next) => this.places.at(() => this.turnOf(next))));
    for (const turn of turns) if (turn.status === 'rejected') throw turn.reason;
    return turns.filter((turn) => turn.status === 'fulfilled' && turn.value).length;
  }

  /** Where no model is named, learns of the pieces of an organization whatever there is to learn by now. @returns how many models came or went */
  async learnNext(): Promise<number> {
    const isNamed = (await this.embedder.space()) !== null;
    const learner = isNamed ? null : await this.own.learner([...this.unlearnt]);
    if (learner) {
      // Whose pieces cannot be learnt from is left out until that is done, and keeps nobody else from it.
      this.unlearnt.add(learner.org_id);
      await this.own.learn(learner);
      this.unlearnt.delete(learner.org_id);
    }
    if (!learner) this.unlearnt.clear();
    return (await this.own.forget(isNamed)) + (learner ? 1 : 0);
  }

  /** Has bases use an index that nothing is missing of any more, and deletes what is left of those that they do not use. @returns how many there were */
  async tidy(): Promise<number> {
    let done = 0;
    for (let after = NIL_UUID, found: OtherIndex[] = []; ; after = found.at(-1)!.kb_id) {
      found = await this.vectors.others(this.db, after, INDEXES);
      for (const other of found) done += (await this.settle(other)) ? 1 : 0;
      if (found.length < INDEXES) return done;
    }
  }

  private async settle({ kb_id, org_id, space, is_whole }: OtherIndex): Promise<boolean> {
    if (is_whole) {
      await this.db.transaction(NO_CALLER, (tx) => this.vectors.swap(tx, kb_id, space));
      return true;
    }
    const wanted = await this.embedder.model(org_id);
    // It is begun, or nobody can say.
    if (!wanted || wanted.space === space) return false;
    while (await this.db.transaction(NO_CALLER, (tx) => this.vectors.clear(tx, kb_id, space)));
    return true;
  }

  /** @returns null where no model is named */
  private async target(): Promise<Target | null> {
    const space = await this.embedder.space();
    if (space === null) return null;
    const owners = await this.vectors.owners(this.db);
    const models = await Promise.all(owners.map((orgId) => this.embedder.model(orgId)));
    return { space, own: owners.map((org_id, i) => ({ org_id, space: models[i]?.space ?? null })) };
  }

  /** @returns whether the organization got on */
  private async turnOf(waiting: Waiting): Promise<boolean> {
    let answers = false;
    try {
      const model = await this.embedder.model(waiting.org_id);
      // By now its model may be that of the vectors that it has.
      const source = model && model.space !== waiting.embedded_as ? await this.vectors.claim(this.db, waiting) : null;
      answers = model !== null && (source === null || (await this.embed(source, model)));
      return answers && source !== null;
    } finally {
      if (!answers) this.resting.set(waiting.org_id, performance.now() + this.restMs);
    }
  }

  /** Gives a source what it lacks, or as much of it as there is time for. @returns whether the model answers */
  private async embed(source: ClaimedSource, model: EmbeddingModel): Promise<boolean> {
    const until = performance.now() + TURN_MS;
    const lacking = () => this.vectors.lacking(this.db, source, model.space, AT_ONCE);
    for (let pieces = await lacking(); pieces.length; pieces = await lacking()) {
      const answers = await this.give(source, model, pieces, until);
      if (answers && performance.now() < until) continue;
      await this.vectors.handBack(this.db, source);
      return answers;
    }
    await this.db.transaction(NO_CALLER, (tx) => this.vectors.done(tx, source, model.space));
    return true;
  }

  /** A provider that refuses several pieces is asked for fewer, while there is time; the rest is for the next turn. @returns whether it answers */
  private async give(source: ClaimedSource, model: EmbeddingModel, pieces: Piece[], until: number): Promise<boolean> {
    if (isLate(source)) return true;
    const window = model.model instanceof OwnModel ? null : model.model.entry.context_window;
    const texts = pieces.map((piece) => beginning(textOf(piece), OF_A_TOKEN * (window ?? Infinity)));
    const found = await this.asked(source, model, texts, pieces);
    if (found !== REFUSED) return found !== null;
    if (pieces.length === 1) return this.giveBeginning(source, model, texts[0], pieces);
    const half = pieces.length >> 1;
    if (!(await this.give(source, model, pieces.slice(0, half), until))) return false;
    return performance.now() >= until || this.give(source, model, pieces.slice(half), until);
  }

  /** A piece that is refused alone is found by its beginning; where none is taken, and other texts are, by its words alone. @returns as {@link give} */
  private async giveBeginning(source: ClaimedSource, model: EmbeddingModel, text: string, pieces: Piece[]): Promise<boolean> {
    for (let length = text.length >> 1; length >= SHORTEST; length >>= 1) {
      if (isLate(source)) return true;
      const found = await this.asked(source, model, [beginning(text, length)], pieces);
      if (found !== REFUSED) return found !== null;
    }
    if (isLate(source)) return true;
    const others = await this.asked(source, model, [HARMLESS]);
    if (others === REFUSED || others === null) return false;
    await this.db.transaction(NO_CALLER, (tx) => this.vectors.store(tx, source, model.space, pieces, [[]]));
    without.inc();
    this.logger.warn({
      msg: 'A piece gets no vector: its text is refused',
      source_id: source.id,
      chunk_id: pieces[0].id,
      space: model.space,
    });
    return true;
  }

  private asked(source: ClaimedSource, model: EmbeddingModel, texts: string[], pieces: Piece[] = []) {
    const work = { orgId: source.org_id, name: `embedding:${source.id}:${uuidv7()}` };
    const store = (tx: Tx, found: number[][]) => this.vectors.store(tx, source, model.space, pieces, found);
    return this.embedder.embed(work, model, texts, (call) => call(AbortSignal.timeout(CALL_MS)), store);
  }
}

const isLate = ({ lapses }: ClaimedSource): boolean => performance.now() > lapses - LAST_CALL_MS;
const beginning = (text: string, length: number): string => text.slice(0, length).toWellFormed();
