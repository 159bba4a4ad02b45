import type { AccessLevel } from './tool';

/** Which calls of a connection's tools need a recorded decision. */
export const DECISION_MODES = ['off', 'destructive', 'write', 'all'] as const;
export type DecisionMode = (typeof DECISION_MODES)[number];

/** What a tool server says of a tool. Only what is declared counts; a server that says nothing has said neither. */
export interface ToolHints {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  /** A call that is made again with the same key does nothing more. */
  idempotentHint?: boolean;
}

/** What the mode looks at: the hints where a server gave some, else the level that the tool has here. */
export interface DecisionSubject {
  accessLevel: AccessLevel;
  hints?: ToolHints;
}

/** Whether a mode covers a tool: `destructive` what is declared so, `write` what is not declared read-only, `all` everything. */
export function isCovered(mode: DecisionMode, { accessLevel, hints }: DecisionSubject): boolean {
  switch (mode) {
    case 'off':
      return false;
    case 'destructive':
      return hints ? hints.destructiveHint === true : accessLevel === 'destructive';
    case 'write':
      return hints ? hints.readOnlyHint !== true : accessLevel !== 'read';
    case 'all':
      return true;
  }
}
