const KEPT_CALLS = 1_000;

export interface Note {
  id: string;
  text: string;
}

/** A call that has arrived, under the key that its caller gave it. */
export interface DemoCall {
  tool: string;
  args: unknown;
  key: string | undefined;
}

/** What the server knows, for as long as it runs. */
export class Notes {
  readonly calls: DemoCall[] = [];
  private readonly notes = new Map<string, Note>();
  private next = 1;

  constructor() {
    for (const text of ['Milk is out', 'The printer on the second floor wants paper', 'Call Ada back']) this.add(text);
  }

  all(): Note[] {
    return [...this.notes.values()];
  }

  get(id: string): Note | undefined {
    return this.notes.get(id);
  }

  add(text: string): Note {
    const note = { id: String(this.next++), text };
    this.notes.set(note.id, note);
    return note;
  }

  /** @returns whether there was one */
  delete(id: string): boolean {
    return this.notes.delete(id);
  }

  called(call: DemoCall): void {
    this.calls.push(call);
    if (this.calls.length > KEPT_CALLS) this.calls.shift();
  }
}
