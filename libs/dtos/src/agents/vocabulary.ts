/** Characters of an instruction, and of a skill's text. */
export const MAX_TEXT = 100_000;
