import { Injectable } from '@nestjs/common';
import { engineConfig } from './engine.config';

/** So long a run computes on while others wait for its room. */
const TURN_MS = 2_000;
/** What a call is taken to bring, bytes, for as long as nobody knows. */
const OF_CALL = 256 * 1024;

interface Waiter {
  orgId: string;
  bytes: number;
  enter: () => void;
}

/**
 * Memory for the journals of the runs that this process goes on with. A run holds its own only while it is looked at; who finds no room waits,
 * of the organization that holds least the one that came first, and nobody passes it by, however little he needs. One that is larger than
 * all there is goes alone. Calls are no part of that, as a journal is made room for that is to be written what they have come to; they have as much
 * of their own, of which no organization keeps others from their parts.
 */
@Injectable()
export class JournalRoom {
  private held = 0;
  private readonly ofOrgs = new Map<string, number>();
  private ofCalls = 0;
  private readonly callsOfOrgs = new Map<string, number>();
  private waiting: Waiter[] = [];

  place(orgId: string): Place {
    return new Place(this, orgId);
  }

  /** Whether somebody waits for what others hold. */
  get isWanted(): boolean {
    return this.waiting.length > 0;
  }

  /** @throws the reason of the signal */
  enter(orgId: string, bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((done, reject) => {
      const leave = () => {
        this.waiting = this.waiting.filter((other) => other !== waiter);
        reject(signal.reason as Error);
        this.admit();
      };
      const enter = () => {
        signal.removeEventListener('abort', leave);
        done();
      };
      const waiter = { orgId, bytes, enter };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.push(waiter);
      this.admit();
    });
  }

  /** Counts what somebody holds who is in. */
  count(orgId: string, bytes: number): void {
    this.held += bytes;
    add(this.ofOrgs, orgId, bytes);
    if (bytes < 0) this.admit();
  }

  /** Counts a call that is being made, and what it was given, until it is over. @returns to be called then */
  countCall(orgId: string, given: number): () => void {
    this.countCame(orgId, OF_CALL + given);
    return () => this.countCame(orgId, -OF_CALL - given);
  }

  /** Counts what calls have come to that is in no journal yet. */
  countCame(orgId: string, bytes: number): void {
    this.ofCalls += bytes;
    add(this.callsOfOrgs, orgId, bytes);
  }

  /** How many more calls may be begun: as many as there is room for, or as the organization's part of it has where others have filled it. */
  callsLeft(orgId: string): number {
    const { heldBytes: all } = engineConfig.value;
    const own = this.callsOfOrgs.get(orgId) ?? 0;
    const part = all / (this.callsOfOrgs.size + (own ? 0 : 1));
    return Math.max(0, Math.floor(Math.max(all - this.ofCalls, part - own) / OF_CALL));
  }

  /** Whether all that is held has room. @param own of who asks: by itself it always has */
  isEnoughFor(own: number): boolean {
    return this.held <= own || this.held <= engineConfig.value.heldBytes;
  }

  private hasRoomFor(bytes: number): boolean {
    return this.held === 0 || this.held + bytes <= engineConfig.value.heldBytes;
  }

  private admit(): void {
    for (let next = this.first(); next && this.hasRoomFor(next.bytes); next = this.first()) {
      this.waiting.splice(this.waiting.indexOf(next), 1);
      this.count(next.orgId, next.bytes);
      next.enter();
    }
  }

  private first(): Waiter | undefined {
    const heldOf = ({ orgId }: Waiter) => this.ofOrgs.get(orgId) ?? 0;
    return this.waiting.reduce<Waiter | undefined>((first, next) => (first && heldOf(first) <= heldOf(next) ? first : next), undefined);
  }
}

function add(counts: Map<string, number>, key: string, bytes: number): void {
  const left = (counts.get(key) ?? 0) + bytes;
  if (left) counts.set(key, left);
  else counts.delete(key);
}

/** What one run holds. */
export class Place {
  private bytes = 0;
  private since = 0;

  constructor(
    private readonly room: JournalRoom,
    private readonly orgId: string,
  ) {}

  /** Waits its turn for so many bytes. @throws the reason of the signal */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    await this.room.enter(this.orgId, bytes, signal);
    this.bytes = bytes;
  }

  /** Its turn begins when its journal has been read. */
  begin(): void {
    this.since = performance.now();
  }

  /** Says how many bytes they are now. @returns whether there is room for them; else it is to be left */
  fits(bytes: number): boolean {
    const more = bytes - this.bytes;
    this.bytes = bytes;
    this.room.count(this.orgId, more);
    return more <= 0 || this.room.isEnoughFor(bytes);
  }

  /** Whether others are to have it now. @param rests nothing is done with what it holds */
  isDue(rests: boolean): boolean {
    return this.room.isWanted && (rests || performance.now() - this.since > TURN_MS);
  }

  leave(): void {
    this.room.count(this.orgId, -this.bytes);
    this.bytes = 0;
  }
}
