import { Injectable } from '@nestjs/common';
import { engineConfig } from './engine.config';

/** So long a run computes on while others wait for its room. */
const TURN_MS = 2_000;

interface Waiter {
  orgId: string;
  bytes: number;
  enter: () => void;
}

/**
 * Memory for the journals of the runs that this process goes on with. A run holds its own only while it is looked at; who finds no room waits,
 * of the organization that holds least the one that came first, and nobody passes it by, however little he needs. One that is larger than
 * all there is goes alone. Calls are no part of that, as a journal is made room for that is to be written what they have come to; they have as much
 * of their own, which nobody fills. What goes beyond an organization's part of it, as the one call of each run that is made in any case, takes
 * nothing from others.
 */
@Injectable()
export class JournalRoom {
  private held = 0;
  private readonly ofOrgs = new Map<string, number>();
  private ofCalls = 0;
  private readonly callsOfOrgs = new Map<string, number>();
  /** What calls hold beyond their organization's part. */
  private readonly beyond = new Map<string, number>();
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

  /**
   * Counts what a call was given and may bring, or what it has come to that is in no journal yet.
   *
   * @param isBeyond it is made whatever is left, and counts for its organization alone, as does all that is more than that has left
   * @returns to be called once, when it holds that no more
   */
  holdCall(orgId: string, bytes: number, isBeyond: boolean): () => void {
    const within = isBeyond ? 0 : Math.min(bytes, this.leftForCalls(orgId));
    const count = (sign: 1 | -1) => {
      this.ofCalls += sign * within;
      add(this.callsOfOrgs, orgId, sign * within);
      add(this.beyond, orgId, sign * (bytes - within));
    };
    count(1);
    return () => count(-1);
  }

  /**
   * How many bytes more an organization may have calls hold: it never has more than it leaves to others, so that by itself it has a half, and
   * of many each has as much as the others.
   */
  leftForCalls(orgId: string): number {
    const [within, beyond] = [this.callsOfOrgs.get(orgId) ?? 0, this.beyond.get(orgId) ?? 0];
    // For itself, what is beyond is as if it were within.
    return Math.floor(Math.max(0, engineConfig.value.heldBytes - this.ofCalls - within - 2 * beyond) / 2);
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
