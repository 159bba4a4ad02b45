/** Codes of features that the specification names and nobody has built yet. One that is thrown leaves this list. */
export const SPECIFIED_CODES: string[] = [];
